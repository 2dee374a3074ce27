"""Building and running the C++ rivals."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.workload import Workload, write_files

SOURCES = Path(__file__).parent / "cpp"
BUILD = Path(__file__).parent / "build"
# Numba compiles for the machine it runs on, a distribution's C++ for any: both are shown.
# libkdl is built without AVX: with EIGEN_MAX_ALIGN_BYTES both sides agree how arrays are aligned.
NATIVE = ("-march=native", "-DEIGEN_MAX_ALIGN_BYTES=16")
COMMON = ("-std=c++17", "-O3")


@dataclass(frozen=True)
class Program:
    """One C++ row."""

    name: str
    source: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...] = ()

    @property
    def binary(self) -> Path:
        return BUILD / (Path(self.source).stem + ("-native" if self.flags else ""))


PROGRAMS = tuple(
    Program(f"{name}, {' '.join(['-O3', *flags[:1]])}", source, flags, libraries)
    for name, source, libraries in (
        ("C++ by hand", "floor.cpp", ()),
        ("C++ Eigen + KDL", "kdl.cpp", ("-lorocos-kdl",)),
    )
    for flags in ((), NATIVE)
)


def missing(program: Program) -> str:
    """Why a program cannot be built here; empty if it can."""
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        return f"no C++ compiler ({compiler})"
    if program.libraries and not _compiles("#include <Eigen/Dense>\n#include <kdl/chain.hpp>\n"):
        return "no Eigen or KDL headers (apt install libeigen3-dev liborocos-kdl-dev)"
    return ""


def build(program: Program) -> Path:
    """The binary, made anew if a source is newer."""
    newest = max(file.stat().st_mtime for file in SOURCES.iterdir())
    if not program.binary.exists() or program.binary.stat().st_mtime < newest:
        _compile(
            *COMMON, *program.flags, *_includes(), str(SOURCES / program.source), "-o",
            str(program.binary), *program.libraries,
        )  # fmt: skip
    return program.binary


def build_counter() -> Path:
    """The library that counts the allocations of a Python process."""
    library = BUILD / "count_allocations.so"
    _compile(
        *COMMON, "-shared", "-fPIC", str(SOURCES / "count_allocations.cpp"), "-o", str(library)
    )
    return library


def run(program: Program, workload: Workload, passes: int) -> tuple[dict[str, float], np.ndarray]:
    """Statistics in ns, and the joint rates (n, 6) of every tick."""
    with tempfile.TemporaryDirectory() as folder:
        parameters, inputs = write_files(workload, Path(folder))
        commands = Path(folder) / "commands.bin"
        done = subprocess.run(
            [program.binary, parameters, inputs, str(passes), commands],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return json.loads(done.stdout), np.fromfile(commands).reshape(-1, 6)


def _includes() -> list[str]:
    return ["-I/usr/include/eigen3", "-I/usr/local/include/eigen3"]


def _compile(*arguments: str) -> None:
    BUILD.mkdir(exist_ok=True)
    command = [os.environ.get("CXX", "g++"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")


def _compiles(code: str) -> bool:
    command = [os.environ.get("CXX", "g++"), *_includes(), "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True).returncode == 0
