"""How typed functions are translated to LLVM's language: later than typed, and by two processes.

Typing goes from a function to those it calls and back, in that order and no other. Translating a
function needs nothing of another but its name. So typed functions wait here, and a copy of this
process (`fork`) translates the first of them on another core, while this one goes on typing. Once
all are typed, this one translates, too, from the other end, until they meet.

Nobody waits for the copy: what has not come from it is translated here. If it fails, hangs or may
not be made, that costs time and nothing else.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from numba.core.lowering import Lower
from numba.core.targetconfig import ConfigStack

_WORTH_A_COPY = 12  # functions that wait
_HEAD = 8  # bytes that say how long a record is


class Typed:
    """A function with the types of all its variables, and the library its code will be in."""

    def __init__(self, state: Any, fndesc: Any, library: Any) -> None:
        self.function: Callable = state.func_id.func
        self.library = library
        self._state, self._fndesc = state, fndesc

    def definitions(self) -> dict[Any, Any]:
        """All that Numba knows how to call."""
        return self._state.targetctx._defns

    def translate(self) -> None:
        state = self._state
        flags = ConfigStack().enter(state.flags.copy())
        with flags, state.targetctx.push_code_library(self.library):
            Lower(state.targetctx, self.library, self._fndesc, state.func_ir, {}).lower()


class Translation:
    """What waits, in the order in which it was typed.

    Attributes:
        step: called with each function twice, once it is typed and once it is translated.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, Typed] = {}
        self._copy: _Translator | None = None
        self.step: Callable[[Callable], None] | None = None

    def add(self, typed: Typed) -> None:
        """One more is typed; it is translated by the next `finish`."""
        self._waiting[id(typed.library)] = typed
        self._share()
        self._tell(typed)

    def finish(self) -> None:
        """Translate all that wait."""
        try:
            while self._waiting:
                self._share()
                if self._waiting:
                    name, typed = self._waiting.popitem()
                    try:
                        typed.translate()
                    except BaseException as error:
                        if not isinstance(error, Exception):  # interrupted: not its own fault
                            self._waiting[name] = typed
                        raise
                    self._tell(typed)
        finally:
            self.end_copy()

    def end_copy(self) -> None:
        """Leave no copy behind."""
        if self._copy is not None:
            self._copy.end()
            self._copy = None

    def _tell(self, typed: Typed) -> None:
        if self.step is not None:
            self.step(typed.function)

    def _share(self) -> None:
        """Take what the copy has done, and make another if there is work for it."""
        if self._copy is not None:
            ended = self._copy.has_ended()  # asked first: then nothing comes any more
            for name, needs, code in self._copy.results():
                typed = self._waiting.pop(name, None)
                if typed is not None:
                    typed.library.receive(code, needs)
                    self._tell(typed)
            if ended:
                self.end_copy()
        if self._copy is None and len(self._waiting) >= _WORTH_A_COPY and may_fork():
            with suppress(OSError):  # no memory, no process, no disk
                self._copy = _Translator(self._waiting)


class Copy:
    """A copy of this process that does one thing, and ends."""

    def __init__(self, work: Callable[[], None]) -> None:
        """
        Raises:
            OSError: no memory, no process.
        """
        with warnings.catch_warnings():
            # Threads of other libraries are not in the copy, which asks nothing of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                gc.disable()  # it looks at all memory, of which this would become a second copy
                work()
            finally:
                os._exit(0)  # nothing of this process is the copy's to end

    def has_ended(self) -> bool:
        try:
            return os.waitpid(self._pid, os.WNOHANG)[0] != 0
        except ChildProcessError:  # somebody else waits for children
            return True

    def end(self) -> None:
        """At once."""
        with suppress(ProcessLookupError, ChildProcessError):
            if not self.has_ended():
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)


class _Translator(Copy):
    """A copy of this process that translates what waits at its birth, the first first."""

    def __init__(self, waiting: dict[int, Typed]) -> None:
        self._libraries = _known(next(iter(waiting.values())))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (closed by end)
        self._read = 0
        parent = os.getpid()

        def translate() -> None:
            for name, typed in waiting.items():
                if os.getppid() != parent:
                    break
                typed.translate()
                needs = [id(library) for library in typed.library.needs()]
                if self._libraries.keys() >= set(needs):  # else: what was made here only
                    self._write((name, needs, typed.library.code()))

        super().__init__(translate)

    def _write(self, record: tuple[int, list[int], bytes]) -> None:
        data = pickle.dumps(record)
        data = len(data).to_bytes(_HEAD, "little") + data
        while data:
            data = data[os.write(self._file.fileno(), data) :]

    def results(self) -> Iterator[tuple[int, list[Any], bytes]]:
        """What is finished since the last call: a library's id, those it needs, its code."""
        file = self._file.fileno()
        while True:
            head = os.pread(file, _HEAD, self._read)
            size = int.from_bytes(head, "little")
            data = os.pread(file, size, self._read + _HEAD)
            if len(head) < _HEAD or len(data) < size:
                return
            self._read += _HEAD + size
            name, needs, code = pickle.loads(data)
            yield name, [self._libraries[one] for one in needs], code

    def end(self) -> None:
        super().end()
        self._file.close()


def _known(typed: Typed) -> dict[int, Any]:
    """The libraries that calls can lead to, of our functions and of Numba's own, by id."""
    found = {}
    for selector in typed.definitions().values():
        for _, implementation in selector.versions:
            for library in getattr(implementation, "libs", ()):
                found[id(library)] = library
    return found


def may_fork() -> bool:
    """Another core is there, and no thread of this process that the copy would miss."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return len(os.sched_getaffinity(0)) > 1
