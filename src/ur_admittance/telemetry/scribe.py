"""From the blackboard to the file: takes what is new, and writes it a second at a time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance._version import __version__
from ur_admittance.blackboard import Reader
from ur_admittance.config import Config
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import source_digest
from ur_admittance.model import RobotModel
from ur_admittance.telemetry import messages
from ur_admittance.telemetry.mcap_file import Extra, McapFile
from ur_admittance.telemetry.recording import ABOUT, END, model_to_json
from ur_admittance.telemetry.salvage import sealed

_CHUNK = 1.0  # s of ticks, at most: what is lost if the process is killed
_SAME_CLOCK = 60.0  # s; a robot's clock further from the monotonic one is another clock


class Scribe:
    """Takes records from a blackboard and writes them, as long as the disk lets it."""

    def __init__(self, reader: Reader, path: Path, model: RobotModel, first: int = 0) -> None:
        """`first`: how many records of the blackboard are passed over."""
        self._reader, self._path = reader, path
        self._texts: dict[int, str] = {}  # of generations to write, and the last
        self._forgotten: list[int] = []  # generations asked for too late
        self._index, self.written, self.lost = first, 0, 0
        self.problem = ""
        self._waiting: list[np.ndarray] = []
        self._chunk = max(1, int(_CHUNK * reader.rate))
        self._flushed = time.monotonic()
        self._offset: int | None = None  # ns, from the robot's clock to the time of day
        self._stamp, self._said = 0, (-1, -1, -1)
        config = reader.config()
        self._encoder = messages.Encoder(model, config)
        self._file = McapFile(path, f"ur-admittance {__version__}")
        try:
            self._channels = {
                topic: self._file.add_channel(topic, kind, messages.definition(kind))
                for topic, kind in messages.TOPICS.items()
            }
            self._about = self._what_it_is(model, config)
            self._file.add_metadata(ABOUT, self._about)
        except OSError:
            path.unlink()
            raise

    def _what_it_is(self, model: RobotModel, config: Config) -> dict[str, str]:
        values = {
            "version": __version__,
            "kernel": source_digest(),
            "robot": self._reader.robot,
            "rate": repr(self._reader.rate),
            "model": model_to_json(model),
            "config": config.to_yaml(),
            "outputs": repr(layout.OUTPUTS.descr),
            "how to read": "the data of a /tick message is one record of numpy.dtype(outputs), "
            "outputs being a Python literal",
            "channels": json.dumps(self._channels),
        }
        return sealed(values)

    def poll(self) -> int:
        """Take what is new; returns how many records."""
        records, self._index, missed = self._reader.since(self._index)
        self.lost += missed
        self.take(records)
        return len(records)

    def take(self, records: np.ndarray) -> None:
        """Outputs records, oldest first, to be written within a second."""
        if len(records):
            self._learn(records["inputs"]["generation"])
            self._waiting.append(records)
        waiting = sum(map(len, self._waiting))
        if waiting >= self._chunk or time.monotonic() - self._flushed > _CHUNK:
            self._flush()

    def finish(self, summary: Mapping[str, Any], problem: str = "") -> None:
        """Write what is left, and the end of the file."""
        self._flush()
        self.problem, reason = self.problem or problem, self._reader.reason
        end = {
            "written": str(self.written),
            "lost": str(self.lost),
            "lost_parameters": json.dumps(self._forgotten),
            "problem": self.problem,
            "summary": json.dumps(summary),
            "reason": json.dumps(reason and reason.as_dict()),
        }
        try:
            self._file.add_metadata(END, sealed(end))
            self._file.add_metadata(ABOUT, self._about)  # again, should the start be damaged
            self._file.finish()
        except OSError as error:
            self._give_up(error)
            self._file.close()

    def _flush(self) -> None:
        records = np.concatenate([*self._waiting, np.empty(0, layout.OUTPUTS)])
        self._waiting.clear()
        self._flushed = time.monotonic()
        for start in range(0, len(records), self._chunk):
            part = records[start : start + self._chunk]
            if not self.problem:
                try:
                    self._write(part)
                    self.written += len(part)
                    continue
                except OSError as error:
                    self._give_up(error)
            self.lost += len(part)

    def _write(self, records: np.ndarray) -> None:
        stamps = self._stamps(records["timing"]["arrived"])
        rows = self._encoder.encode(records, stamps)
        extras = self._parameters(records["inputs"]["generation"]) + self._status(records, stamps)
        extras.sort(key=lambda extra: extra[0])
        by_channel = {self._channels[topic]: data for topic, data in rows.items()}
        self._file.add_batch(self.written, stamps, by_channel, extras)

    def _stamps(self, arrived: np.ndarray) -> np.ndarray:
        """Times on the robot's clock [s] as times of day, ns since 1970, never falling."""
        if self._offset is None:
            now = time.monotonic()
            simulated = abs(now - arrived[0]) > _SAME_CLOCK
            self._offset = time.time_ns() - round(1e9 * (arrived[0] if simulated else now))
        stamps = self._offset + np.rint(1e9 * arrived).astype(np.int64)
        stamps = np.maximum.accumulate(np.maximum(stamps, self._stamp))
        self._stamp = int(stamps[-1])
        return stamps

    def _learn(self, generations: np.ndarray) -> None:
        """Ask for the configuration of every new generation while the blackboard has it."""
        for generation in np.unique(generations).tolist():
            if generation in self._texts or generation in self._forgotten:
                continue
            text = self._reader.text_of(generation)
            if text is None:
                self._forgotten.append(generation)
            else:
                self._texts[generation] = text

    def _parameters(self, generations: np.ndarray) -> list[Extra]:
        """Where they change, and at the start of every chunk, which so can be read alone."""
        changed = np.diff(generations, prepend=generations[0] - 1) != 0
        extras, channel = [], self._channels[messages.PARAMETERS]
        for k in np.flatnonzero(changed).tolist():
            generation = int(generations[k])
            if generation in self._texts:
                text = messages.parameters(generation, self._texts[generation])
                extras.append((k, channel, text))
        self._texts = {g: text for g, text in self._texts.items() if g >= generations[-1]}
        return extras

    def _status(self, records: np.ndarray, stamps: np.ndarray) -> list[Extra]:
        """Whenever it changes, and once a second."""
        says = np.stack([records["mode"], records["status"], stamps // 1_000_000_000], axis=1)
        changed = np.any(np.diff(says, axis=0, prepend=[self._said]), axis=1)
        self._said = tuple(says[-1].tolist())
        channel, robot = self._channels[messages.STATUS], self._reader.robot
        return [
            (k, channel, messages.diagnostics(int(stamps[k]), robot, *says[k, :2].tolist()))
            for k in np.flatnonzero(changed).tolist()
        ]

    def _give_up(self, error: OSError) -> None:
        """Say it now, on the terminal of the run, and again at its end."""
        if not self.problem:
            self.problem = f"{error.strerror}, after {self.written} ticks"
            ending = "nothing more is recorded, the run goes on"
            sys.stderr.write(f"\nwarning: {self._path}: {self.problem}; {ending}\n")
            sys.stderr.flush()
