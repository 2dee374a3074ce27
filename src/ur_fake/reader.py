"""Compiles scripts in a process of its own: a thousand lines take longer than many cycles.

`python -m ur_fake.reader SECONDS` is that process: texts in, compiled programs
out, each as eight bytes of size and a pickle, until its input ends. The first thing it says is
None: it is ready. A script that costs more than SECONDS of processor time ends it.
"""

from __future__ import annotations

import functools
import gc
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
from collections import deque
from typing import Any

from ur_admittance.errors import RobotError
from ur_fake.urscript import ScriptError, compile_script

QUEUE = 16  # scripts that wait; one more is refused
KEPT = 16  # compiled scripts: clients send the same one whenever they connect
PATIENCE = 10.0  # s of processor time that one script may take
_SIZE = struct.Struct(">Q")


class Reader:
    """Hands scripts to the process and gets programs back, without ever waiting for one."""

    def __init__(self, patience: float = PATIENCE) -> None:
        """
        Args:
            patience: s of processor time that one script may take.
        """
        self._patience = patience
        self._queue: deque[str] = deque()
        self._came = bytearray()
        self._start()

    def wait(self) -> None:
        """Until the process is ready: it imports for a second or two, on a busy machine for ten.

        Raises:
            RobotError: if it ended instead.
        """
        while self._busy:
            select.select([self._out], [], [])
            if isinstance(error := self.poll(), ScriptError):
                raise RobotError(f"fake robot: the process that reads scripts: {error}")

    def submit(self, text: str) -> bool:
        """Compile a script, after those before it. False if too many wait already."""
        if len(self._queue) >= QUEUE:
            return False
        self._queue.append(text)
        return True

    def poll(self) -> Any:
        """A program or a `ScriptError`, if one is ready; else None."""
        if self._busy:
            self._write()
            return self._read()
        if self._queue:
            text = self._queue.popleft().encode()
            self._unsent = _SIZE.pack(len(text)) + text
            self._busy = True
            self._write()
        return None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _start(self) -> None:
        self._came.clear()
        self._unsent = b""
        self._busy = True  # until it says that it is ready
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ur_fake.reader", str(self._patience)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C in a terminal is for the controller, which ends it
        )
        self._in = self._process.stdin.fileno()  # pyright: ignore[reportOptionalMemberAccess]
        self._out = self._process.stdout.fileno()  # pyright: ignore[reportOptionalMemberAccess]
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def _write(self) -> None:
        if not self._unsent:
            return
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = b""

    def _read(self) -> Any:
        try:
            part = os.read(self._out, 1 << 20)
        except BlockingIOError:
            return None
        if not part:
            self.close()
            late = self._process.returncode == -signal.SIGPROF
            self._start()
            words = f"takes longer than {self._patience:g} s to read" if late else "cannot be read"
            return ScriptError(f"the script {words}")
        self._came += part
        if len(self._came) < _SIZE.size:
            return None
        size = _SIZE.unpack_from(self._came)[0]
        if len(self._came) < _SIZE.size + size:
            return None
        whole = bytes(self._came[_SIZE.size :])
        self._came.clear()
        self._busy = False
        return pickle.loads(whole)


@functools.lru_cache(KEPT)
def compiled(text: str) -> bytes:
    """The program or what is wrong with it, as a pickle."""
    try:
        return pickle.dumps(compile_script(text))
    except ScriptError as error:
        return pickle.dumps(error)
    except RecursionError:
        return pickle.dumps(ScriptError("it is nested too deeply"))


def main() -> None:
    """The process: compile what comes, one text at a time."""
    patience = float(sys.argv[1])
    compiled("def first():\n  sync()\nend\n")  # reads the grammar, while nobody waits for it
    gc.freeze()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    whole = pickle.dumps(None)
    while True:
        sink.write(_SIZE.pack(len(whole)) + whole)
        sink.flush()
        head = source.read(_SIZE.size)
        if len(head) < _SIZE.size:
            return
        text = source.read(_SIZE.unpack(head)[0]).decode("utf-8", "replace")
        signal.setitimer(signal.ITIMER_PROF, patience)  # SIGPROF ends the process
        gc.disable()  # the tree of a script is garbage at its end, not before
        whole = compiled(text)
        gc.enable()
        signal.setitimer(signal.ITIMER_PROF, 0.0)


if __name__ == "__main__":
    main()
