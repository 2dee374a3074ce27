"""One robot in the cockpit: its frames, its parameters, its recordings, and its simulated arm."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.cockpit import drawing
from ur_admittance.cockpit.acts import MERGE_SECONDS, Folder, Tuning, for_station, tared
from ur_admittance.cockpit.form import form
from ur_admittance.cockpit.frames import RATE, Feed, lamps
from ur_admittance.cockpit.paths import Paths
from ur_admittance.cockpit.recordings import Recordings
from ur_admittance.cockpit.scenes import FEEL, NAMES
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, ConfigError, RobotError
from ur_admittance.faults import StopReason
from ur_admittance.motion.taught import check

_AGAIN = 1.0  # s between two looks for a controller that has gone


class Session:
    """What all pages of one robot share.

    Attributes:
        folder: of recordings and taught paths.
        tell_all: sends news to every page; set by whoever serves them.
    """

    def __init__(self, reader: Reader, folder: Path, station: Any = None) -> None:
        """
        Args:
            reader: of the robot's blackboard.
            folder: of recordings and taught paths.
            station: process of a simulated arm, see `station`; None for any other robot.
        """
        self.folder = Folder(folder)
        self.tell_all: Callable[..., None] = lambda **_: None
        self._station = station
        self._life: dict[str, Any] = {"state": "running", "scene": []}
        self._hand: list[float] = [0.0] * 6
        self._playing: dict[str, Any] = {}  # of the path that is played: name, begun, done
        self._dragging: object = None
        self._asker: Any = None
        self._looks = b""
        self._told = -1  # the generation of parameters that pages know of
        self._reason: StopReason | None = None  # of a stop that pages know of
        self._tasks: set[asyncio.Task[Any]] = set()

        def tell_all(**words: Any) -> None:
            self.tell_all(**words)

        self.recordings = Recordings(self.folder, tell_all, self._start)
        self.paths = Paths(self.folder, tell_all)
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
        told = (self._tuning.told(), self.recordings.told(), self.paths.told())
        return [robot, *told, self._lives()]

    def _lives(self) -> dict[str, Any]:
        """Whether the arm runs, and why not, in the words of its own terminal."""
        self._reason = self.reader.reason
        reason = self._reason and self._reason.as_dict()
        return {"kind": "life", **self._life, "reason": reason}

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
            name = self.recordings.name
            show(self._feed.frame(hand=self._hand, recording=name, playing=self._playing))
            now = loop.time()
            if now >= merge:
                merge = now + MERGE_SECONDS
                self._send()
                self._follow()
                self.paths.look()
            if now - looked > _AGAIN and self.reader.state in ("ended", "gone"):
                looked = now
                self._return()
            due = max(due + 1.0 / RATE, now)
            await asyncio.sleep(due - now)

    def _follow(self) -> None:
        """Tell of parameters that were changed elsewhere, say in a terminal, and of a stop."""
        generation = int(self.reader.params()["generation"])
        if generation != self._told:
            self._tell(self._tuning.told())
        if self.reader.reason != self._reason:
            self.tell_all(**self._lives())

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

    # --- paths ---

    def _teach(self, page: Any, message: Mapping[str, Any]) -> None:
        if self._life["state"] != "running":
            raise RobotError("teach: the arm is stopped; reset it first")
        if self._playing:
            raise RobotError("teach: a path is being played; end it first")
        self.paths.begin(self.reader, message)

    def _play(self, page: Any, message: Mapping[str, Any]) -> None:
        told, path = self.paths.wanted(message)
        if self._station is None:
            file = shlex.quote(told["play"]["file"])
            raise RobotError(
                "play: a page sets no arm in motion that another process controls; end that run, "
                f"then: ur-admittance play {file} --robot ..."
            )
        if self._life["state"] != "running":
            raise RobotError("play: the arm is stopped; reset it first")
        changes: dict[str, Any] = {}
        if preset := message.get("preset"):
            changes, _ = self._tuning.of_preset(preset)
        check(path, told["play"]["speed"], self.reader.config().replace(changes))
        if preset:
            self._tell(self._tuning.preset(preset))
        self._tell_station(told)

    def _play_end(self, page: Any, message: Mapping[str, Any]) -> None:
        if not self._playing:
            raise RobotError("play: no path is being played")
        self._tell_station({"play": None})

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
                self.tell_all(**self._lives())
            if "playing" in words:
                self._playing = words["playing"]
            if "done" in words:
                self.tell_all(kind="done", do="play", words=words["done"])
            if "problem" in words:
                self.tell_all(kind="refused", do="arm", why=words["problem"])
        self._life |= {"state": "ended"}
        self.tell_all(**self._lives())

    def _start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End what was begun here: a recording is finished, the simulated arm comes to rest."""
        await self.recordings.close()
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
    "record": lambda self, page, message: self.recordings.begin(self.reader, page, message),
    "record_end": lambda self, page, message: self.recordings.end(page),
    "mark": lambda self, page, message: self.recordings.mark(self.reader, page, message),
    "report": lambda self, page, message: self.recordings.report(page, message),
    "compare": lambda self, page, message: self.recordings.compare(page, message),
    "teach": Session._teach,
    "teach_end": lambda self, page, message: self.paths.end(),
    "play": Session._play,
    "play_end": Session._play_end,
}
