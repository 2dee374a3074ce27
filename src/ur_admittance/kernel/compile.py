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
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher

from ur_admittance.kernel.inner import TRANSLATION, Inner
from ur_admittance.kernel.shortcuts import shortcuts
from ur_admittance.kernel.translation import Copy, may_fork

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}
_GARBAGE = 100_000  # objects between two looks for garbage, instead of 700
_QUIET_SECONDS = 1.0  # what takes no longer is not spoken of
_REDRAW_SECONDS = 0.2
_STEPS = 2  # that a function takes: see `translation`
_LAST_STEP = 0.15  # share of the time for what comes after the last function
_needed_soon: list[tuple[Any, Callable[[], Any]]] = []
_not_kept: list[str] = []  # why, if compiled code could not be written to disk


def jit(function: Callable | None = None, *, entry: bool = False, parallel: bool = False) -> Any:
    """Compile a kernel function.

    Args:
        entry: callable from Python; compiled code is kept on disk. Functions called only by other
            kernel functions are compiled into these (see `inner`) and need no file of their own.
        parallel: `numba.prange` loops run on several threads.
    """

    def decorate(f: Callable) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return f
        if not entry:
            return Inner(f, targetoptions=_OPTIONS)
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


def needed_soon(entry: Any, call: Callable[[], Any]) -> None:
    """An entry that a process with a controller needs as well.

    Args:
        entry: that is compiled by
        call: which calls it.
    """
    _needed_soon.append((entry, call))


@contextmanager
def compiled_beside() -> Iterator[None]:
    """Meanwhile a copy of this process compiles what is needed soon, on a core of its own.

    Both find it on disk then. What is there already, or cannot be kept, is not compiled so. Nobody
    waits for the copy: what it has not finished by then is compiled here, when it is needed.
    """
    missing = [call for entry, call in _needed_soon if not _is_kept(entry)]
    copy = None
    if missing and may_fork():
        with suppress(OSError):  # no memory, no process
            copy = Copy(functools.partial(_unheard, missing))
    try:
        yield
    finally:
        if copy is not None:
            copy.end()


def _is_kept(entry: Any) -> bool:
    """Whether its code, of whatever types, is on disk, or cannot be put there."""
    cache = getattr(entry, "_cache", None)  # none: NUMBA_DISABLE_JIT=1
    return not isinstance(cache, _Cache) or cache.is_there()


def _unheard(calls: list[Callable[[], Any]]) -> None:
    with open(os.devnull, "w") as sys.stderr:
        for call in calls:
            call()


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
        with (
            _noticed_interrupt() as interrupted,
            _seldom_collected(),
            shortcuts(self.typingctx),
        ):
            try:
                compiled = super().compile(sig)
            except Exception:
                if interrupted:  # what was not finished is missed later on
                    raise KeyboardInterrupt from None
                raise
            finally:
                TRANSLATION.end_copy()
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
        progress = _Progress(what, functions)

        def step(function: Callable) -> None:
            if interrupted:
                raise KeyboardInterrupt
            progress.add(function)

        _not_kept.clear()
        TRANSLATION.step, before = step, TRANSLATION.step
        try:
            yield
        except BaseException:
            progress.break_off()
            raise
        finally:
            TRANSLATION.step = before
        if interrupted:
            progress.break_off()
            raise KeyboardInterrupt
        progress.end()


class _Progress:
    """A line about how much of the source is compiled, function by function."""

    def __init__(self, what: str, functions: tuple[Any, ...]) -> None:
        self._what, self._started = what, time.monotonic()
        left = [f.py_func for f in _called_by(functions) if not f.overloads]
        self._left = Counter(_STEPS * left)
        self._size, self._done = _STEPS * sum(map(_size_of, left)), 0
        self._drawn = 0.0
        self._redraws = sys.stderr.isatty()

    def add(self, function: Callable) -> None:
        """A function has been typed, or translated."""
        if self._left[function]:
            self._left[function] -= 1
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


def _called_by(functions: tuple[Any, ...]) -> set[Inner]:
    """All functions that these call, directly or not."""
    found: set[Inner] = set()
    waiting = [f.py_func for f in functions if hasattr(f, "py_func")]
    while waiting:
        f = waiting.pop()
        for name in f.__code__.co_names:
            callee = f.__globals__.get(name)
            if isinstance(callee, Inner) and callee not in found:
                found.add(callee)
                waiting.append(callee.py_func)
    return found


def _size_of(function: Callable) -> int:
    return len(function.__code__.co_code)


def _kept() -> str:
    if _not_kept or cache_directory() is None:
        why = _not_kept[0] if _not_kept else f"{_cache_root_words()} cannot be written to"
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

    def is_there(self) -> bool:
        return os.path.exists(self._cache_file._index_path)

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
    `NUMBA_CACHE_DIR` choose another place. None where it cannot be written to: then the code is
    kept in memory, as long as the process lives.

    Numba's own key within that folder is the path of the installation, the time stamp of the
    function's file, the version of Python, and the processor.
    """
    try:
        folder = _cache_root() / f"kernel-{source_digest()}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return None
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
