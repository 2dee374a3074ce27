"""The ROS package: its files agree with the sources, it builds, and what it installs runs."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ur_admittance
from tests.cli.support import invoke
from tests.ros2.domain import domain
from ur_admittance import Config
from ur_admittance.cli import without_ros_arguments

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ros" / "ur_admittance_ros"
NAME = PACKAGE.name
LAUNCH_FILES = sorted((PACKAGE / "launch").glob("*.launch.py"))
PRESETS = Config.presets()

needs_ros = pytest.mark.skipif(
    importlib.util.find_spec("rclpy") is None, reason="needs ROS 2: rclpy cannot be imported"
)
needs_colcon = pytest.mark.skipif(
    importlib.util.find_spec("colcon_ros") is None, reason="needs colcon: pip install colcon-ros"
)


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A graph that no one else sees, for this process and those it starts."""
    number, held = domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with held:
        yield


def run(*command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_parameter_files_are_fresh():
    result = run(sys.executable, "ros/generate.py", "--check", folder=ROOT)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("preset", PRESETS)
def test_a_parameter_file_is_its_preset(preset: str):
    assert Config.load(PACKAGE / "config" / f"{preset}.yaml").flat() == Config.preset(preset).flat()


@needs_ros
@pytest.mark.usefixtures("private")
@pytest.mark.parametrize("preset", PRESETS)
def test_ros_reads_a_parameter_file_as_we_do(preset: str):
    """ROS tells 5 from 5.0, and takes no list of both."""
    import rclpy

    file = PACKAGE / "config" / f"{preset}.yaml"
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", "--params-file", str(file)], context=context)
    node = rclpy.create_node(
        "any_name", context=context, automatically_declare_parameters_from_overrides=True
    )
    written = node.get_parameters_by_prefix("")
    node.destroy_node()
    rclpy.shutdown(context=context)
    ours = Config.preset(preset)
    names = [name for name in written if name in ours.flat()]
    assert len(names) >= 5
    for name in names:
        value, expected = written[name].value, ours.get(name)
        assert (tuple(value) if isinstance(expected, tuple) else value) == expected, name
        kinds = {type(each) for each in (value if hasattr(value, "__len__") else [value])}
        assert int not in kinds, f"{name}: ROS takes it for a whole number"


def test_version_and_names_agree():
    manifest = ElementTree.parse(PACKAGE / "package.xml").getroot()
    assert manifest.findtext("name") == NAME
    assert manifest.findtext("version") == ur_admittance.__version__
    assert f'version="{ur_admittance.__version__}"' in (PACKAGE / "setup.py").read_text("utf-8")
    assert (PACKAGE / "resource" / NAME).exists()


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_a_launch_file_starts_what_is_there(file: Path):
    """Where `launch` is missing, its syntax and its names are all that can be looked at."""
    text = file.read_text("utf-8")
    functions = [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    assert "generate_launch_description" in functions
    executables = (PACKAGE / NAME / "executables.py").read_text("utf-8")
    started = set(re.findall(r'"(\w+_node)"[,)]', text))
    assert started, "it starts nothing"
    for executable in started:
        assert f"def {executable}()" in executables
    for name in re.findall(r'"([\w-]+\.yaml)"', text):
        assert (PACKAGE / "config" / name).exists()
    if importlib.util.find_spec("launch_ros") is not None:
        spec = importlib.util.spec_from_file_location("launch_file", file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.generate_launch_description().entities


@pytest.mark.skipif(importlib.util.find_spec("rclpy") is not None, reason="ROS 2 is here")
@pytest.mark.parametrize("verb", [["sim-ros2"], ["wrench-ros2", "--config", "preset:pose-law"]])
def test_without_ros_the_commands_say_how_to_get_it(verb: list[str]):
    result = invoke(*verb)
    assert result.exit_code == 1
    assert "source your ROS 2" in result.output and "ur-admittance[ros2]" in result.output


def test_ros_arguments_are_left_to_ros():
    assert without_ros_arguments(["run", "--seconds", "1"]) == ["run", "--seconds", "1"]
    remap = ["--ros-args", "-r", "a:=b", "--params-file", "c.yaml"]
    assert without_ros_arguments(["run", *remap]) == ["run"]
    assert without_ros_arguments([*remap, "--", "run", *remap]) == ["run"]


@pytest.mark.slow
@needs_colcon
@needs_ros
@pytest.mark.usefixtures("private")
def test_colcon_builds_it_and_what_it_installs_runs(tmp_path: Path):
    shutil.copytree(PACKAGE, tmp_path / "src" / NAME)
    python = str(Path(sys.executable).parent)
    path = f"{python}:{os.environ['PATH']}"
    built = run(sys.executable, "-m", "colcon", "build", folder=tmp_path, PATH=path)
    assert built.returncode == 0, built.stderr
    share = tmp_path / "install" / NAME / "share"
    assert (share / "ament_index/resource_index/packages" / NAME).exists()
    assert {f.name for f in (share / NAME / "launch").iterdir()} == {f.name for f in LAUNCH_FILES}
    assert {f.stem for f in (share / NAME / "config").iterdir()} == set(PRESETS)

    # as `ros2 launch` would start it: in the built environment, with arguments of ROS
    start = f". install/local_setup.sh; exec install/{NAME}/lib/{NAME}/sim_node "
    start += "--seconds 0.1 --json --ros-args -r __node:=renamed"
    ran = run("sh", "-c", start, folder=tmp_path, PATH=path, ROS_LOG_DIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["cycles"] > 0
