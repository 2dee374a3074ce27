"""One robot in the cockpit: its frames, its parameters, its recordings, and its simulated arm."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.cockpit import drawing
from ur_admittance.cockpit.acts import (
    MERGE_SECONDS,
    Folder,
    Tuning,
    for_station,
    tared,
    words_in,
)
from ur_admittance.cockpit.form import form
from ur_admittance.cockpit.frames import RATE, Feed, lamps
from ur_admittance.cockpit.scenes import FEEL, NAMES
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError, RobotError
from ur_admittance.telemetry.recorder import Recorder

_AGAIN = 1.0  # s between two looks for a controller that has gone
_MARKS = 1000


class Session:
    """What all pages of one robot share.

    Attributes:
        folder: of the recordings.
        tell_all: sends news to every page; set by whoever serves them.
    """

    def __init__(self, reader: Reader, folder: Path, station: Any = None) -> None:
        """
        Args:
            reader: of the robot's blackboard.
            folder: of the recordings.
            station: process of a simulated arm, see `station`; None for any other robot.
        """
        self.folder = Folder(folder)
        self.tell_all: Callable[..., None] = lambda **_: None
        self._station = station
        self._life: dict[str, Any] = {"state": "running", "why": "", "scene": []}
        self._hand: list[float] = [0.0] * 6
        self._dragging: object = None
        self._recorder: Recorder | None = None
        self._recording: dict[str, Any] = {}
        self._asker: Any = None
        self._looks = b""
        self._told = -1  # the generation of parameters that pages know of
        self._marks: list[dict[str, Any]] = []
        self._beginning: Any = None  # the start of a recording, which takes seconds
        self._tasks: set[asyncio.Task[Any]] = set()
        self._attach(reader)

    def _attach(self, reader: Reader) -> None:
        self.reader = reader
        self._feed, self._tuning = Feed(reader), Tuning(reader)

    # --- what pages see ---

    def hello(self) -> list[dict[str, Any]]:
        """What a page is told first."""
        params = self.reader.params()
        name = drawing.name_of(params)
        robot = {
            "kind": "hello",
            "robot": self.reader.robot,
            "arm": name,
            "looks": len(self._looks),
            "rate": self.reader.rate,
            "chain": drawing.chain_of(params),
            "simulated": self._station is not None,
            "lamps": lamps(),
            "form": form(),
            "presets": list(Config.presets()),
            "scenes": list(NAMES),
            "feels": list(FEEL),
        }
        return [robot, self._tuning.told(), self._recordings(), {"kind": "life", **self._life}]

    def looks(self) -> bytes:
        """The meshes of the arm, or b"" as long as they are being read; see `drawing.looks`."""
        return self._looks

    async def _dress(self) -> None:
        """Read the meshes, which takes seconds, and say so when they are there."""
        self._looks = await asyncio.to_thread(drawing.looks, drawing.name_of(self.reader.params()))
        self.tell_all(kind="looks", bytes=len(self._looks))

    async def live(self, show: Callable[[str], None]) -> None:
        """Make frames, send merged changes, and follow the controller when it ends and returns."""
        if self._station is not None:
            self._start(self._hear())
        self._start(self._dress())
        loop, looked = asyncio.get_running_loop(), 0.0
        due = merge = loop.time()
        while True:
            show(self._feed.frame(hand=self._hand, recording=self._recording.get("name", "")))
            now = loop.time()
            if now >= merge:
                merge = now + MERGE_SECONDS
                self._send()
                self._follow()
            if now - looked > _AGAIN and self.reader.state in ("ended", "gone"):
                looked = now
                self._return()
            due = max(due + 1.0 / RATE, now)
            await asyncio.sleep(due - now)

    def _follow(self) -> None:
        """Tell of parameters that were changed elsewhere, in another terminal say."""
        generation = int(self.reader.params()["generation"])
        if generation != self._told:
            self._tell(self._tuning.told())

    def _tell(self, told: dict[str, Any]) -> None:
        """Tell every page of the configuration."""
        self._told = told["generation"]
        self.tell_all(**told)

    def _return(self) -> None:
        with suppress(AdmittanceError):
            self._attach(Blackboard.attach(self.reader.robot))
            for words in self.hello():
                self.tell_all(**words)

    # --- what pages ask for ---

    def act(self, page: Any, message: Mapping[str, Any]) -> None:
        """Do what a trusted page asks for.

        Raises:
            AdmittanceError: it cannot be done; nothing has changed.
        """
        act = _ACTS.get(message["do"])
        if act is None:
            raise ConfigError(f"{message['do']!r:.40}: there is no such request")
        act(self, page, message)

    def left(self, page: Any) -> None:
        """A page has gone: what it held is let go."""
        if self._dragging is page:
            self._dragging = None
            self._tell_station({"release": True})

    def _stop(self, page: Any, message: Mapping[str, Any]) -> None:
        self.reader.stop("asked in the cockpit")

    def _set(self, page: Any, message: Mapping[str, Any]) -> None:
        self._tuning.want(message.get("changes"))
        self._asker = page

    def _undo(self, page: Any, message: Mapping[str, Any]) -> None:
        self._send()
        self._tell(self._tuning.undo())

    def _preset(self, page: Any, message: Mapping[str, Any]) -> None:
        self._tell(self._tuning.preset(message.get("name")))

    def _save(self, page: Any, message: Mapping[str, Any]) -> None:
        page.tell(kind="yaml", text=self.reader.config().to_yaml())

    def _tare(self, page: Any, message: Mapping[str, Any]) -> None:
        self._tuning.want(tared(self.reader))
        self._tell(self._tuning.send() or self._tuning.told())
        page.tell(kind="done", do="tare", words="the sensor reads zero from now on")

    def _reset(self, page: Any, message: Mapping[str, Any]) -> None:
        if self._station is None:
            raise RobotError(
                "reset: after a stop the controller of this arm has ended; look at the arm, then "
                "start it again where it stands: ur-admittance run"
            )
        if self._life["state"] != "stopped":
            raise RobotError("reset: the arm is not stopped")
        if message.get("confirmed") is not True:
            raise RobotError("reset: has to be confirmed")
        self._tell_station({"reset": True})

    def _pushed(self, page: Any, message: Mapping[str, Any]) -> None:
        if self._station is None:
            raise RobotError(f"{message['do']}: this arm is not simulated; push it by hand")
        told = for_station(message)
        if "drag" in told:
            if self._dragging not in (None, page):
                raise RobotError("drag: somebody else holds the tool")
            self._dragging = page
        elif "release" in told:
            self._dragging = None
        self._tell_station(told)

    def _send(self) -> None:
        try:
            told = self._tuning.send()
        except AdmittanceError as error:
            self._asker.tell(kind="refused", do="set", why=str(error))
            told = self._tuning.told()
        if told is not None:
            self._tell(told)

    # --- recordings ---

    def _recordings(self) -> dict[str, Any]:
        return {
            "kind": "recordings",
            "list": self.folder.listed(),
            "recording": self._recording,
            "folder": str(self.folder.path),
        }

    def _record(self, page: Any, message: Mapping[str, Any]) -> None:
        if self._recorder is not None:
            raise RobotError(f"record: {self._recording['name']!r} is being recorded; end it first")
        file = self.folder.new(message.get("name"))
        model = drawing.model_of(self.reader.params())
        self._recorder = recorder = Recorder(self.reader.robot, file, model)
        self._recording = {"name": file.stem, "since": time.time()}
        self._marks = []
        self._beginning = self._start(self._begin(recorder, page))
        self.tell_all(**self._recordings())

    async def _begin(self, recorder: Recorder, page: Any) -> None:
        try:
            await asyncio.to_thread(recorder.__enter__)
        except AdmittanceError as error:
            self._recorder, self._recording = None, {}
            page.tell(kind="refused", do="record", why=str(error))
        self.tell_all(**self._recordings())

    def _record_end(self, page: Any, message: Mapping[str, Any]) -> None:
        recorder = self._recorder
        if recorder is None:
            raise RobotError("record: nothing is being recorded")
        self._recorder = None
        self._start(self._finish(recorder, page))

    async def _finish(self, recorder: Recorder, page: Any) -> None:
        await self._beginning
        recorded = await asyncio.to_thread(recorder.close, {"marks": self._marks})
        self._recording = {}
        words = f"{recorded.path.stem}: {recorded.written} ticks"
        words += f", {recorded.lost} LOST" if recorded.lost else ""
        page.tell(kind="done", do="record", words=words + f"; {recorded.problem}".rstrip("; "))
        self.tell_all(**self._recordings())

    def _mark(self, page: Any, message: Mapping[str, Any]) -> None:
        if self._recorder is None:
            raise RobotError("mark: nothing is being recorded")
        newest = self.reader.latest()
        at = float(newest["time"]) if newest is not None else 0.0
        if len(self._marks) < _MARKS:
            self._marks.append({"time": at, "text": words_in(message, "text")})
        page.tell(kind="done", do="mark", words=f"marked at {at:.2f} s")

    def _report(self, page: Any, message: Mapping[str, Any]) -> None:
        file = self.folder.existing(message.get("name"), "report")
        out, path = self.folder.report(file.stem), f"/reports/{file.stem}/index.html"
        self._start(self._write_report(page, out, path, file))

    def _compare(self, page: Any, message: Mapping[str, Any]) -> None:
        one, other = (self.folder.existing(message.get(key), "compare") for key in ("one", "other"))
        out = self.folder.comparison(one.stem, other.stem)
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
        self.tell_all(**self._recordings())

    # --- the simulated arm ---

    def _tell_station(self, words: Mapping[str, Any]) -> None:
        if self._station is not None and self._station.returncode is None:
            self._station.stdin.write(json.dumps(words).encode() + b"\n")

    async def _hear(self) -> None:
        """What the simulated arm says of itself."""
        while line := await self._station.stdout.readline():
            words = json.loads(line)
            if "hand" in words:
                self._hand = words["hand"]
            if words.keys() & self._life.keys():
                self._life |= {key: words[key] for key in words if key in self._life}
                self.tell_all(kind="life", **self._life)
            if "problem" in words:
                self.tell_all(kind="refused", do="scene", why=words["problem"])
        self._life |= {"state": "ended", "why": "the simulated arm has ended"}
        self.tell_all(kind="life", **self._life)

    def _start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End what was begun here: a recording is finished, the simulated arm comes to rest."""
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            await self._beginning
            await asyncio.to_thread(recorder.close, {"marks": self._marks})
        if self._station is not None:
            self._station.stdin.close()
            try:
                await asyncio.wait_for(self._station.wait(), 10.0)
            except TimeoutError:
                self._station.kill()


_ACTS: dict[str, Callable[..., None]] = {
    "stop": Session._stop,
    "set": Session._set,
    "undo": Session._undo,
    "preset": Session._preset,
    "save": Session._save,
    "tare": Session._tare,
    "reset": Session._reset,
    "drag": Session._pushed,
    "release": Session._pushed,
    "push": Session._pushed,
    "scene": Session._pushed,
    "record": Session._record,
    "record_end": Session._record_end,
    "mark": Session._mark,
    "report": Session._report,
    "compare": Session._compare,
}
