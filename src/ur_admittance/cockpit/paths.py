"""What pages do with paths: teach one by leading the arm, and have it played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path as File
from typing import Any

from ur_admittance.blackboard import Reader
from ur_admittance.cockpit.acts import Folder
from ur_admittance.errors import AdmittanceError, ConfigError, RobotError
from ur_admittance.motion.lesson import Lesson
from ur_admittance.motion.taught import Path


class Paths:
    """The taught paths of a folder, one of which may be taught now."""

    def __init__(self, folder: Folder, tell_all: Callable[..., None]) -> None:
        """`folder`: where they lie; `tell_all` sends news to every page."""
        self._folder, self._tell_all = folder, tell_all
        self._lesson: Lesson | None = None
        self._file = File()

    @property
    def teaching(self) -> str:
        """The name of the path that is taught now; "" if none is."""
        return self._folder.path_name(self._file) if self._lesson is not None else ""

    def told(self) -> dict[str, Any]:
        """All that a page shows of them."""
        listed = [
            {"name": self._folder.path_name(file), **size}
            for file in self._folder.paths()
            if (size := _size(file, file.stat().st_mtime_ns))
        ]
        return {"kind": "paths", "list": listed, "teaching": self.teaching}

    def begin(self, reader: Reader, message: Mapping[str, Any]) -> None:
        """Keep the way of the tool from now on."""
        if self._lesson is not None:
            raise RobotError(f"teach: {self.teaching!r} is being taught; end it first")
        if reader.state in ("ended", "gone"):
            raise RobotError("teach: the controller has ended; nobody can lead the arm")
        file = self._folder.new_path(message.get("name"))
        self._lesson, self._file = Lesson(reader), file
        self._tell_all(**self.told())

    def end(self) -> None:
        """Keep what was taught."""
        lesson, self._lesson = self._lesson, None
        if lesson is None:
            raise RobotError("teach: no path is being taught")
        try:
            path = lesson.path()
            path.save(self._file)
        except OSError as error:
            raise RobotError(f"teach: cannot write {self._file}: {error.strerror}") from None
        finally:
            self._tell_all(**self.told())
        words = f"{self._folder.path_name(self._file)}: {path.seconds:.1f} s, {path.metres:.2f} m"
        self._tell_all(kind="done", do="teach", words=words)

    def look(self) -> None:
        """See what the arm has done; called ten times a second."""
        if self._lesson is None:
            return
        self._lesson.look()
        if self._lesson.over:  # the arm was stopped, say: what there is is kept
            try:
                self.end()
            except AdmittanceError as error:
                self._tell_all(kind="refused", do="teach", why=str(error))

    def wanted(self, message: Mapping[str, Any]) -> tuple[dict[str, Any], Path]:
        """What a simulated arm is told for a request to play a path, and that path."""
        if self._lesson is not None:
            raise RobotError(f"play: {self.teaching!r} is being taught; end it first")
        file = self._folder.path_file(message.get("name"))
        if not file.exists():
            raise RobotError(f"play: there is no path {self._folder.path_name(file)!r}")
        speed, back = message.get("speed", 1.0), message.get("back", False)
        if isinstance(speed, bool) or not isinstance(speed, int | float):
            raise ConfigError(f"play: speed must be a number, got {speed!r:.40}")
        path = Path.load(file)
        name = self._folder.path_name(file)
        play = {"file": str(file), "name": name, "speed": float(speed), "back": back is True}
        return {"play": play}, path


@lru_cache(maxsize=200)
def _size(file: File, changed: int) -> dict[str, float] | None:
    """How long and far a path is, s and m; None if it is none. `changed`: when it was."""
    try:
        path = Path.load(file)
    except (AdmittanceError, OSError):
        return None
    return {"seconds": round(path.seconds, 1), "metres": round(path.metres, 3)}
