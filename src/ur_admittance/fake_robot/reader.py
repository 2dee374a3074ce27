"""Compiles scripts in a process of its own: a thousand lines take longer than many cycles.

`python -m ur_admittance.fake_robot.reader` is that process: texts in, compiled programs out, each
as eight bytes of size and a pickle, until its input ends.
"""

from __future__ import annotations

import functools
import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from typing import Any

from ur_admittance.fake_robot.urscript import ScriptError, compile_script

QUEUE = 16  # scripts that wait; one more is refused
KEPT = 16  # compiled scripts: clients send the same one whenever they connect
PATIENCE = 10.0  # s that one script may take
_SIZE = struct.Struct(">Q")


class Reader:
    """Hands scripts to the process and gets programs back, without ever waiting."""

    def __init__(self) -> None:
        self._queue: deque[str] = deque()
        self._since: float | None = None  # when the script under way was handed over
        self._came = bytearray()
        self._unsent = b""
        self._start()

    def submit(self, text: str) -> bool:
        """Compile a script, after those before it. False if too many wait already."""
        if len(self._queue) >= QUEUE:
            return False
        self._queue.append(text)
        return True

    def poll(self, time: float) -> Any:
        """A program or a `ScriptError`, if one is ready; else None.

        Args:
            time: of the controller, s.
        """
        if self._since is None:
            if self._queue:
                text = self._queue.popleft().encode()
                self._unsent = _SIZE.pack(len(text)) + text
                self._since = time
                self._write()
            return None
        self._write()
        done = self._read()
        if done is None and time - self._since > PATIENCE:
            self.close()
            self._start()
            done = ScriptError(f"it took longer than {PATIENCE:g} s to read")
        if done is not None:
            self._since = None
        return done

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
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ur_admittance.fake_robot.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
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
            self._start()
            return ScriptError("it could not be read")
        self._came += part
        if len(self._came) < _SIZE.size:
            return None
        size = _SIZE.unpack_from(self._came)[0]
        if len(self._came) < _SIZE.size + size:
            return None
        whole = bytes(self._came[_SIZE.size :])
        self._came.clear()
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
    compiled("def first():\n  sync()\nend\n")  # reads the grammar, while nobody waits for it
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while len(head := source.read(_SIZE.size)) == _SIZE.size:
        whole = compiled(source.read(_SIZE.unpack(head)[0]).decode("utf-8", "replace"))
        sink.write(_SIZE.pack(len(whole)) + whole)
        sink.flush()


if __name__ == "__main__":
    main()
