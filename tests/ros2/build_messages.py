"""Real `tf2_msgs` and `control_msgs`, for a ROS without them, such as the wheels of PyPI.

They are made as ROS makes its own: by ROS's generators from the fields, and the machine's compiler.
Names, type hashes and bytes on the wire are those of every other such message.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy


class Package(NamedTuple):
    """What a package is made of."""

    fields: dict[str, str]  # by file
    uses: tuple[str, ...]  # packages; the first has all that ours are made of


_TOLERANCE = "float64 position\nfloat64 velocity\nfloat64 acceleration\n"
_GOAL = """trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
JointTolerance[] path_tolerance
JointComponentTolerance[] component_path_tolerance
JointTolerance[] goal_tolerance
JointComponentTolerance[] component_goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
"""
_RESULT = """int32 error_code
int32 SUCCESSFUL = 0
int32 INVALID_GOAL = -1
int32 INVALID_JOINTS = -2
int32 OLD_HEADER_TIMESTAMP = -3
int32 PATH_TOLERANCE_VIOLATED = -4
int32 GOAL_TOLERANCE_VIOLATED = -5
string error_string
"""
_FEEDBACK = """std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
string[] multi_dof_joint_names
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_desired
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_actual
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error
"""
PACKAGES = {
    "tf2_msgs": Package(
        {"msg/TFMessage.msg": "geometry_msgs/TransformStamped[] transforms\n"},
        ("geometry_msgs", "std_msgs", "builtin_interfaces"),
    ),
    "control_msgs": Package(
        {
            "msg/JointTolerance.msg": f"string name\n{_TOLERANCE}",
            "msg/JointComponentTolerance.msg": "".join(
                f"uint16 {name}={k}\n"
                for k, name in enumerate(
                    ("X_AXIS", "Y_AXIS", "Z_AXIS", "TRANSLATION", "ROTATION"), 1
                )
            )
            + f"string joint_name\nuint16 component\n{_TOLERANCE}",
            "action/FollowJointTrajectory.action": "---\n".join((_GOAL, _RESULT, _FEEDBACK)),
        },
        (
            "trajectory_msgs",
            "action_msgs",
            "unique_identifier_msgs",
            "service_msgs",
            "geometry_msgs",
            "std_msgs",
            "builtin_interfaces",
        ),
    ),
}
_ROS = Path(sys.prefix)  # the wheels put there what is not Python
_SUPPORTS = ("rosidl_typesupport_fastrtps_c",)
_GENERATORS = {  # package: its function, and more arguments of it
    "rosidl_generator_type_description": ("generate_type_hash",),
    "rosidl_generator_c": ("generate_c",),
    "rosidl_typesupport_c": ("generate_c", _SUPPORTS),
    "rosidl_typesupport_fastrtps_c": ("generate_typesupport_fastrtps_c",),
    "rosidl_generator_py": ("generate_py", ["rosidl_typesupport_c"]),
}


def lacking(name: str) -> str:
    """What stands against building a package here, in words; "" if nothing does."""
    missing = [needed for needed in ("rosidl_adapter", *_GENERATORS) if find_spec(needed) is None]
    missing += [used for used in PACKAGES[name].uses if not (_ROS / "include" / used).is_dir()]
    if missing:
        return f"this ROS has no {', '.join(missing)} to make it with"
    missing = [tool for tool in ("gcc", "g++") if shutil.which(tool) is None]
    if missing:
        return f"this machine has no {', '.join(missing)} to make it with"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "this Python has no Python.h to make it with"
    return ""


def build(name: str, folder: Path) -> None:
    """Make a package in `folder`, which is then one for PYTHONPATH."""
    sources = folder / "sources"
    _generate(name, sources)
    package = shutil.copytree(sources / "rosidl_generator_py" / name, folder / name)
    (package / "__init__.py").touch()
    _compile(name, sources, package)


def _generate(name: str, sources: Path) -> None:
    """Each generator writes into a folder of its own."""
    from rosidl_adapter.action import convert_action_to_idl
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_cli.command.helpers import generate_visibility_control_file

    fields, used = PACKAGES[name]
    files = [Path(file) for file in fields]
    for file in files:
        (sources / file.parent).mkdir(parents=True, exist_ok=True)
        (sources / file).write_text(fields[str(file)], "utf-8")
        convert = convert_msg_to_idl if file.suffix == ".msg" else convert_action_to_idl
        convert(sources, name, file, sources / file.parent)
    idls = [file.with_suffix(".idl") for file in files]
    described = sources / "rosidl_generator_type_description" / name
    uses = {package: _ROS / "share" / package for package in used}
    for generator, (function, *more) in _GENERATORS.items():
        templates, output = _ROS / "share" / generator / "resource", sources / generator / name
        arguments = {
            "package_name": name,
            "output_dir": str(output),
            "template_dir": str(templates),
            "idl_tuples": [f"{sources}:{idl}" for idl in idls],
            "ros_interface_files": [str(sources / file) for file in files],
            "ros_interface_dependencies": [
                f"{package}:{file}"
                for package, share in uses.items()
                for file in share.rglob("*.idl")
            ],
            "target_dependencies": [],
            "include_paths": [f"{package}:{share}" for package, share in uses.items()],
            "type_description_tuples": [
                f"{idl}:{described / idl.with_suffix('.json')}" for idl in idls
            ],
        }
        file = sources / f"{generator}.json"
        file.write_text(json.dumps(arguments), "utf-8")
        getattr(import_module(generator), function)(str(file), *more)
        control = f"{generator}__visibility_control.h"
        if (templates / f"{control}.in").is_file():
            generate_visibility_control_file(
                package_name=name,
                template_path=str(templates / f"{control}.in"),
                output_path=str(output / "msg" / control),
            )


def _compile(name: str, sources: Path, package: Path) -> None:
    """A library for each support, which ROS looks for by name, and the Python module, which brings
    them along.
    """
    headers = [sysconfig.get_path("include"), numpy.get_include(), _ROS / "include"]
    headers += [*(_ROS / "include").iterdir(), *(sources / made for made in _GENERATORS)]
    includes = [f"-I{path}" for path in headers]
    objects: dict[str, list[str]] = {made: [] for made in _GENERATORS}
    for generator, made in objects.items():
        whole = sources / f"{generator}.cpp"  # all in one go: headers take the most time
        parts = sorted((sources / generator).rglob("*.cpp"))
        whole.write_text("".join(f'#include "{part}"\n' for part in parts), "utf-8")
        for source in (*sorted((sources / generator).rglob("*.c")), whole):
            compiler = ["gcc"] if source.suffix == ".c" else ["g++", "-std=c++17"]
            made.append(f"{source}.o")
            _run(*compiler, "-fPIC", "-w", *includes, "-c", str(source), "-o", made[-1])
    search = [f"-L{package}", f"-L{_ROS / 'lib'}", f"-Wl,-rpath,$ORIGIN:{_ROS / 'lib'}"]
    others = PACKAGES[name].uses
    for support in _SUPPORTS:
        library = f"lib{name}__{support}.so"
        uses = [f"-l{used}__{support}" for used in others] + [f"-l{support}", "-lfastcdr"]
        out = ["-o", str(package / library), f"-Wl,-soname,{library}"]
        _run("g++", "-shared", *objects.pop(support), *out, *search, *uses)
    uses = [f"-l{name}__{support}" for support in _SUPPORTS]
    kinds = ("rosidl_generator_c", "rosidl_generator_py", "rosidl_typesupport_c")
    uses += [f"-l{used}__{kind}" for used in others for kind in kinds]
    uses += ["-lrosidl_typesupport_c", "-lrosidl_runtime_c", "-lrcutils"]
    out = ["-o", str(package / f"{name}_s__rosidl_typesupport_c.so"), "-Wl,--no-as-needed"]
    rest = itertools.chain.from_iterable(objects.values())
    _run("g++", "-shared", *rest, *out, *search, *uses)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-3000:]}")
