"""What pages do with recordings: begin, mark and end one, and have reports drawn."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ur_admittance.blackboard import Reader
from ur_admittance.cockpit import drawing
from ur_admittance.cockpit.acts import Folder, words_in
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.telemetry.recorder import Recorder

_MARKS = 1000


class Recordings:
    """The recordings of a folder, one of which may be under way."""

    def __init__(
        self, folder: Folder, tell_all: Callable[..., None], start: Callable[[Any], Any]
    ) -> None:
        """`folder`: where they lie; `tell_all` sends news to every page; `start` has a
        coroutine done beside all else.
        """
        self._folder, self._tell_all, self._start = folder, tell_all, start
        self._recorder: Recorder | None = None
        self._now: dict[str, Any] = {}
        self._marks: list[dict[str, Any]] = []
        self._beginning: Any = None  # the start of a recording, which takes seconds

    @property
    def name(self) -> str:
        """Of the recording that is under way; "" if none is."""
        return self._now.get("name", "")

    def told(self) -> dict[str, Any]:
        """All that a page shows of them."""
        return {
            "kind": "recordings",
            "list": self._folder.listed(),
            "recording": self._now,
            "folder": str(self._folder.path),
        }

    def begin(self, reader: Reader, page: Any, message: Mapping[str, Any]) -> None:
        """Record every tick from now on."""
        if self._recorder is not None:
            raise RobotError(f"record: {self.name!r} is being recorded; end it first")
        file = self._folder.new(message.get("name"))
        model = drawing.model_of(reader.params())
        self._recorder = recorder = Recorder(reader.robot, file, model, reader.index)
        self._now = {"name": file.stem, "since": time.time()}
        self._marks = []
        self._beginning = self._start(self._begin(recorder, page))
        self._tell_all(**self.told())

    async def _begin(self, recorder: Recorder, page: Any) -> None:
        try:
            await asyncio.to_thread(recorder.__enter__)
        except AdmittanceError as error:
            self._recorder, self._now = None, {}
            page.tell(kind="refused", do="record", why=str(error))
        else:
            self._now["ready"] = True
        self._tell_all(**self.told())

    def end(self, page: Any) -> None:
        """End the recording."""
        recorder = self._recorder
        if recorder is None:
            raise RobotError("record: nothing is being recorded")
        self._recorder = None
        self._start(self._finish(recorder, page))

    async def _finish(self, recorder: Recorder, page: Any) -> None:
        await self._beginning
        recorded = await asyncio.to_thread(recorder.close, {"marks": self._marks})
        self._now = {}
        words = f"{recorded.path.stem}: {recorded.written} ticks"
        words += f", {recorded.lost} LOST" if recorded.lost else ""
        page.tell(kind="done", do="record", words=words + f"; {recorded.problem}".rstrip("; "))
        self._tell_all(**self.told())

    def mark(self, reader: Reader, page: Any, message: Mapping[str, Any]) -> None:
        """Note a moment in the recording."""
        if self._recorder is None:
            raise RobotError("mark: nothing is being recorded")
        newest = reader.latest()
        at = float(newest["time"]) if newest is not None else 0.0
        if len(self._marks) < _MARKS:
            self._marks.append({"time": at, "text": words_in(message, "text")})
        page.tell(kind="done", do="mark", words=f"marked at {at:.2f} s")

    def report(self, page: Any, message: Mapping[str, Any]) -> None:
        """Have the report of a recording drawn."""
        file = self._folder.existing(message.get("name"), "report")
        out, path = self._folder.report(file.stem), f"/reports/{file.stem}/index.html"
        self._start(self._write_report(page, out, path, file))

    def compare(self, page: Any, message: Mapping[str, Any]) -> None:
        """Have a page written that holds two recordings against each other."""
        folder = self._folder
        one, other = (folder.existing(message.get(key), "compare") for key in ("one", "other"))
        out = folder.comparison(one.stem, other.stem)
        path = f"/comparisons/{one.stem}/{other.stem}/index.html"
        self._start(self._write_report(page, out, path, one, "--against", other))

    async def _write_report(self, page: Any, out: Path, path: str, *words: Path | str) -> None:
        """Have a page written by a process of its own, and tell where it is."""
        command = [sys.executable, "-P", "-m", "ur_admittance_command", "report"]
        process = await asyncio.create_subprocess_exec(
            *command,
            *(str(word) for word in words),
            "--out",
            str(out),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate()
        if (out / "index.html").exists() and process.returncode == 0:
            page.tell(kind="report", path=path)
        else:
            why = said.decode(errors="replace").strip()[-300:]
            page.tell(kind="refused", do="report", why=why or "the report could not be written")
        self._tell_all(**self.told())

    async def close(self) -> None:
        """Finish a recording that is under way."""
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            await self._beginning
            await asyncio.to_thread(recorder.close, {"marks": self._marks})
