"""A real `tf2_msgs` package with TFMessage, for a ROS without it, such as the wheels of PyPI.

It is made as ROS makes its own: by ROS's generators from the text of the message, and the machine's
compiler. Its name, type hash and bytes on the wire are those of every other TFMessage.
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

import numpy

NAME = "tf2_msgs"
TEXT = "geometry_msgs/TransformStamped[] transforms\n"
_ROS = Path(sys.prefix)  # the wheels put there what is not Python
_USED = ("geometry_msgs", "std_msgs", "builtin_interfaces")
_SUPPORTS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")
_GENERATORS = {  # package: its function, and more arguments of it
    "rosidl_generator_type_description": ("generate_type_hash",),
    "rosidl_generator_c": ("generate_c",),
    "rosidl_typesupport_c": ("generate_c", _SUPPORTS),
    "rosidl_typesupport_fastrtps_c": ("generate_typesupport_fastrtps_c",),
    "rosidl_typesupport_introspection_c": ("generate_c",),
    "rosidl_generator_py": ("generate_py", ["rosidl_typesupport_c"]),
}


def lacking() -> str:
    """What stands against building it here, in words; "" if nothing does."""
    missing = [name for name in ("rosidl_adapter", *_GENERATORS) if find_spec(name) is None]
    missing += [name for name in _USED if not (_ROS / "include" / name).is_dir()]
    if missing:
        return f"this ROS has no {', '.join(missing)} to make it with"
    missing = [name for name in ("gcc", "g++") if shutil.which(name) is None]
    if missing:
        return f"this machine has no {', '.join(missing)} to make it with"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "this Python has no Python.h to make it with"
    return ""


def build(folder: Path) -> None:
    """Make the package in `folder`, which is then one for PYTHONPATH."""
    sources = folder / "sources"
    _generate(sources)
    package = shutil.copytree(sources / "rosidl_generator_py" / NAME, folder / NAME)
    (package / "__init__.py").touch()
    _compile(sources, package)


def _generate(sources: Path) -> None:
    """Each generator writes into a folder of its own."""
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_cli.command.helpers import generate_visibility_control_file

    message, idl = Path("msg", "TFMessage.msg"), Path("msg", "TFMessage.idl")
    (sources / "msg").mkdir(parents=True)
    (sources / message).write_text(TEXT, "utf-8")
    convert_msg_to_idl(sources, NAME, message, sources / "msg")
    description = sources / "rosidl_generator_type_description" / NAME / "msg" / "TFMessage.json"
    uses = {name: _ROS / "share" / name for name in _USED}
    for generator, (function, *more) in _GENERATORS.items():
        templates, output = _ROS / "share" / generator / "resource", sources / generator / NAME
        arguments = {
            "package_name": NAME,
            "output_dir": str(output),
            "template_dir": str(templates),
            "idl_tuples": [f"{sources}:{idl}"],
            "ros_interface_files": [str(sources / message)],
            "ros_interface_dependencies": [
                f"{name}:{file}" for name, share in uses.items() for file in share.rglob("*.idl")
            ],
            "target_dependencies": [],
            "include_paths": [f"{name}:{share}" for name, share in uses.items()],
            "type_description_tuples": [f"{idl}:{description}"],
        }
        file = sources / f"{generator}.json"
        file.write_text(json.dumps(arguments), "utf-8")
        getattr(import_module(generator), function)(str(file), *more)
        control = f"{generator}__visibility_control.h"
        if (templates / f"{control}.in").is_file():
            generate_visibility_control_file(
                package_name=NAME,
                template_path=str(templates / f"{control}.in"),
                output_path=str(output / "msg" / control),
            )


def _compile(sources: Path, package: Path) -> None:
    """A library for each support, which ROS looks for by name, and the Python module, which brings
    them along.
    """
    headers = [sysconfig.get_path("include"), numpy.get_include(), _ROS / "include"]
    headers += [*(_ROS / "include").iterdir(), *(sources / name for name in _GENERATORS)]
    includes = [f"-I{path}" for path in headers]
    objects: dict[str, list[str]] = {name: [] for name in _GENERATORS}
    for generator, made in objects.items():
        for source in sorted((sources / generator).rglob("*.c*")):
            compiler = ["gcc"] if source.suffix == ".c" else ["g++", "-std=c++17"]
            made.append(f"{source}.o")
            _run(*compiler, "-fPIC", "-w", *includes, "-c", str(source), "-o", made[-1])
    search = [f"-L{package}", f"-L{_ROS / 'lib'}", f"-Wl,-rpath,$ORIGIN:{_ROS / 'lib'}"]
    for support in _SUPPORTS:
        name = f"lib{NAME}__{support}.so"
        uses = [f"-lgeometry_msgs__{support}", f"-l{support}", "-lfastcdr"]
        out = ["-o", str(package / name), f"-Wl,-soname,{name}"]
        _run("g++", "-shared", *objects.pop(support), *out, *search, *uses)
    uses = [f"-l{NAME}__{support}" for support in _SUPPORTS]
    uses += [f"-lgeometry_msgs__{kind}" for kind in ("rosidl_generator_c", "rosidl_generator_py")]
    uses += ["-lrosidl_typesupport_c", "-lrosidl_runtime_c", "-lrcutils"]
    out = ["-o", str(package / f"{NAME}_s__rosidl_typesupport_c.so"), "-Wl,--no-as-needed"]
    rest = itertools.chain.from_iterable(objects.values())
    _run("g++", "-shared", *rest, *out, *search, *uses)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-3000:]}")
