"""How the kernel is compiled: one decorator, one cache, and a word to the user while the compiler
works.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba import njit

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def jit(function: Callable | None = None, *, entry: bool = False, parallel: bool = False) -> Any:
    """Compile a kernel function.

    Args:
        entry: callable from Python; compiled code is kept on disk. Functions called only by other
            kernel functions are compiled into these and need no file of their own.
        parallel: `numba.prange` loops run on several threads.
    """

    def decorate(f: Callable) -> Any:
        if not entry:
            return njit(**_OPTIONS)(f)
        with _cache_directory():
            return njit(cache=True, parallel=parallel, **_OPTIONS)(f)

    return decorate if function is None else decorate(function)


def entry_point(function: Any) -> Callable:
    """The compiled code of a function that was called once, and never compiled again.

    Calling it skips the dispatcher's look at ten arguments, which takes longer than the tick. In
    return the caller vouches for array types: they must be those of the first call.
    """
    if not hasattr(function, "overloads"):  # NUMBA_DISABLE_JIT=1
        return function
    function.disable_compile()
    (compiled,) = function.overloads.values()
    return compiled.entry_point


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say on the standard error that compilation is under way, if it takes more than a second."""
    started = time.monotonic()
    spoken = threading.Event()

    def speak() -> None:
        spoken.set()
        sys.stderr.write(
            f"ur-admittance: compiling {what}, once on this machine; about a minute ...\n"
        )
        sys.stderr.flush()

    timer = threading.Timer(1.5, speak)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if spoken.is_set():
            seconds = time.monotonic() - started
            sys.stderr.write(
                f"ur-admittance: compiled in {seconds:.1f} s, kept in {cache_directory()}\n"
            )
            sys.stderr.flush()


@functools.cache
def cache_directory() -> Path:
    """Where compiled code is kept: a folder of the user's, named after the kernel's source.

    Numba looks only at the file of the function it compiles, so a change in a sibling would go
    unnoticed; and the package itself may be installed read-only. `UR_ADMITTANCE_CACHE` or
    `NUMBA_CACHE_DIR` choose another place. Where none can be written, a temporary folder that
    nobody else can write to serves until the process ends.
    """
    try:
        folder = _cache_root() / f"kernel-{source_digest()}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        temporary = tempfile.TemporaryDirectory(prefix="ur-admittance-")
        atexit.register(temporary.cleanup)
        return Path(temporary.name)
    return folder


def _cache_root() -> Path:
    chosen = os.environ.get("UR_ADMITTANCE_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ur-admittance"


def source_digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _cache_directory() -> Iterator[None]:
    """Point Numba at our folder while one of our functions is decorated."""
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
