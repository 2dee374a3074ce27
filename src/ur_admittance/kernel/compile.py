"""How the kernel is compiled: one decorator, one cache, and a word to the user while the compiler
works.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import pickle
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}
_GARBAGE = 100_000  # objects between two looks for garbage, instead of 700
_QUIET_SECONDS = 1.0  # what takes no longer is not spoken of
_REDRAW_SECONDS = 0.2
_LAST_STEP = 0.15  # share of the time for what comes after the last function
_TESTED = "0.68."  # the Numba whose insides `inner` leans on
PLAIN = not numba.__version__.startswith(_TESTED) or (
    os.environ.get("UR_ADMITTANCE_PLAIN_NUMBA", "0") not in ("", "0")
)
"""All is compiled by plain `numba.njit`, which takes twice as long."""
_not_kept: list[str] = []  # why, if compiled code could not be written to disk


def jit(function: Callable | None = None, *, entry: bool = False, parallel: bool = False) -> Any:
    """Compile a kernel function.

    Args:
        entry: callable from Python; compiled code is kept on disk. Functions called only by other
            kernel functions are compiled into these (see `inner`) and need no file of their own;
            one that would have to allocate does not compile.
        parallel: `numba.prange` loops run on several threads.
    """

    def decorate(f: Callable) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return f
        if not entry:
            inner = {"_nrt": False, **_OPTIONS}
            if PLAIN:
                return numba.njit(**inner)(f)
            from ur_admittance.kernel.inner import Inner

            return Inner(f, targetoptions=inner)
        options = {"nopython": True, "parallel": parallel, "no_cfunc_wrapper": True, **_OPTIONS}
        dispatcher = _Entry(f, targetoptions=options)
        dispatcher.enable_caching()
        return dispatcher

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


class _Entry(CPUDispatcher):
    """A function that Python calls.

    Ctrl-C ends its compilation. The compiler calls Python back from C, where an exception is
    printed and forgotten; so an interrupt that came is raised again at the end.
    """

    def enable_caching(self) -> None:
        if (folder := cache_directory()) is not None:
            with _numba_caches_in(folder):
                self._cache = _Cache(self.py_func)

    def compile(self, sig: Any) -> Any:
        with _noticed_interrupt() as interrupted, _seldom_collected():
            try:
                compiled = super().compile(sig)
            except Exception:
                if interrupted:  # what was not finished is missed later on
                    raise KeyboardInterrupt from None
                raise
        if interrupted:
            raise KeyboardInterrupt
        return compiled


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Python looks for garbage less often: while it compiles, a quarter of the time is spent so."""
    before = gc.get_threshold()
    gc.set_threshold(_GARBAGE, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


# --- what the user hears ---


@contextmanager
def announced(what: str, *functions: Any) -> Iterator[None]:
    """Say on the standard error how far compilation is, if it takes more than a second.

    Ctrl-C ends it, at the latest with the next function, whatever the compiler made of it.

    Args:
        what: is compiled.
        functions: that are called meanwhile.

    Raises:
        KeyboardInterrupt: SIGINT came, at whatever moment.
    """
    with _noticed_interrupt() as interrupted:
        progress = _Progress(what, functions, interrupted)
        _not_kept.clear()
        try:
            with event.install_listener("numba:compile", progress):
                yield
        except BaseException:
            progress.break_off()
            raise
        if interrupted:
            progress.break_off()
            raise KeyboardInterrupt
        progress.end()


class _Progress(event.Listener):
    """A line about how much of the source is compiled, function by function."""

    def __init__(self, what: str, functions: tuple[Any, ...], interrupted: list[int]) -> None:
        self._what, self._started, self._interrupted = what, time.monotonic(), interrupted
        self._left = {f.py_func for f in _called_by(functions) if not f.overloads}
        self._size, self._done = sum(map(_size_of, self._left)), 0
        self._drawn = 0.0
        self._redraws = sys.stderr.isatty()

    def on_start(self, event: Any) -> None:
        """A function is begun with: by those that call it, which are not done yet."""

    def on_end(self, event: Any) -> None:
        """A function is done."""
        if self._interrupted:
            raise KeyboardInterrupt
        function = event.data["dispatcher"].py_func
        if function in self._left:
            self._left.remove(function)
            self._done += _size_of(function)
        now = time.monotonic()
        if now - self._started < _QUIET_SECONDS or now - self._drawn < _REDRAW_SECONDS:
            return
        if self._redraws:
            share = (1.0 - _LAST_STEP) * self._done / max(self._size, 1)
            self._write(f"\r{self._head()}: {100 * share:.0f} % ")
        elif self._drawn == 0.0:
            self._write(f"{self._head()} ...\n")
        self._drawn = now

    def end(self) -> None:
        """All is compiled, and kept or not."""
        if self._drawn:
            start, end = ("\r", "\033[K\n") if self._redraws else ("", "\n")
            seconds = time.monotonic() - self._started
            self._write(
                f"{start}ur-admittance: compiled {self._what} in {seconds:.1f} s, {_kept()}{end}"
            )
        elif _not_kept:
            self._write(f"ur-admittance: compiled {self._what}, {_kept()}\n")

    def break_off(self) -> None:
        """Leave the line."""
        if self._drawn and self._redraws:
            self._write("\n")

    def _head(self) -> str:
        return (
            f"ur-admittance: compiling {self._what}, once for this installation, version and "
            "processor"
        )

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _called_by(functions: tuple[Any, ...]) -> set[Any]:
    """All functions of ours that these call, directly or not."""
    found: set[Any] = set()
    waiting = [f.py_func for f in functions if hasattr(f, "py_func")]
    while waiting:
        f = waiting.pop()
        for name in f.__code__.co_names:
            callee = f.__globals__.get(name)
            if hasattr(callee, "overloads") and callee not in found:
                found.add(callee)
                waiting.append(callee.py_func)
    return found


def _size_of(function: Callable) -> int:
    return len(function.__code__.co_code)


def _kept() -> str:
    if _not_kept or cache_directory() is None:
        why = _not_kept[0] if _not_kept else _folder()
        return f"not kept ({why}): the next start compiles again"
    return f"kept in {cache_directory()}"


@contextmanager
def _noticed_interrupt() -> Iterator[list[int]]:
    """A list that is not empty once SIGINT has come, whatever became of its KeyboardInterrupt."""
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield came  # signals are not for this thread, or ignored
        return

    def handle(number: int, frame: Any) -> None:
        came.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


# --- where compiled code is kept ---


class _Cache(FunctionCache):
    """Numba's, for which a disk that is full or a damaged file is no reason not to run."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _not_kept.append(f"{self.cache_path}: {error.strerror}")

    def _forget(self) -> None:
        try:
            self.flush()
        except OSError as error:
            _not_kept.append(f"{self.cache_path}: {error.strerror}")
            self.disable()


@functools.cache
def cache_directory() -> Path | None:
    """Where compiled code is kept: a folder of the user's, named after the kernel's source.

    Numba looks only at the file of the function it compiles, so a change in a sibling would go
    unnoticed; and the package itself may be installed read-only. `UR_ADMITTANCE_CACHE` or
    `NUMBA_CACHE_DIR` choose another place. None where it cannot be written to, or others could
    write: whoever can, runs code as this user. Then the code is kept in memory, as long as the
    process lives.

    Numba's own key within that folder is the path of the installation, the time stamp of the
    function's file, the version of Python, and the processor.
    """
    folder = _folder()
    return folder if isinstance(folder, Path) else None


def _folder() -> Path | str:
    """The folder, or in words why there is none."""
    try:
        root = _cache_root()
        folder = root / f"kernel-{source_digest()}{'-plain' if PLAIN else ''}"
        for place, closed in (
            (root, stat.S_IWGRP | stat.S_IWOTH),
            (folder, stat.S_IRWXG | stat.S_IRWXO),
        ):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = place.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if not ours or found.st_mode & closed:
                return (
                    f"{place} is not a folder of user {os.geteuid()} alone; `chmod 700` it, or set "
                    "UR_ADMITTANCE_CACHE to another"
                )
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return f"{_cache_root_words()} cannot be written to"
    return folder


def _cache_root() -> Path:
    chosen = os.environ.get("UR_ADMITTANCE_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ur-admittance"


def _cache_root_words() -> str:
    try:
        return str(_cache_root())
    except RuntimeError:
        return "this user's home"


def source_digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _numba_caches_in(folder: Path) -> Iterator[None]:
    """Point Numba at our folder while one of our functions is decorated."""
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
