"""From the blackboard to the file: takes what is new, and writes it a second at a time."""

from __future__ import annotations

import json
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

_CHUNK = 1.0  # s of ticks, at most: what is lost if the process is killed
_SAME_CLOCK = 60.0  # s; a robot's clock further from the monotonic one is another clock


class Changes:
    """Finds out which configuration belongs to which generation of the records.

    The blackboard counts the changes that were sent, a record the changes that the loop has taken,
    of which several may have been sent. Who sees only now and then must not confuse the two: a
    configuration belongs to a record if the loop had taken it before the record came, and nothing
    else was sent until after.
    """

    def __init__(self, reader: Reader) -> None:
        self.found: list[tuple[int, str]] = []  # generation, YAML; taken away by who writes them
        self._reader = reader
        self._texts: dict[int, str] = {}  # by count of changes sent
        self._known: tuple[int, int] | None = None  # generation and count of the last one found
        self._settled: tuple[int, int] | None = None  # count, and index of records from then on
        self._newest = 0  # generation
        self.look(np.empty(0, layout.OUTPUTS), 0)
        if self._settled is not None and self._settled[1] == 0:
            self._assign(0, self._settled[0])

    def look(self, records: np.ndarray, index: int) -> None:
        """After each reading: the new records, and the index of the next one."""
        count, _, text = self._reader.parameters()
        self._texts[count] = text
        if len(records):
            self._newest = int(records["inputs"]["generation"][-1])
            if self._settled is not None and count == self._settled[0] and index > self._settled[1]:
                self._assign(self._newest, count)
        settled = not self._reader.pending
        self._settled = (count, self._reader.index) if settled else None

    def finish(self) -> None:
        """At the end: the last changes, if they are certain without another look."""
        if self._known is not None:
            self._assign_each(*self._known, self._newest - self._known[0])

    def _assign(self, generation: int, count: int) -> None:
        if self._known is not None:
            before, counted = self._known
            if generation <= before:
                return
            if generation - before == count - counted:
                self._assign_each(before, counted, count - counted)
        if self._known is None or self._known[0] != generation:
            self.found.append((generation, self._texts[count]))
        self._known = generation, count
        self._texts = {c: text for c, text in self._texts.items() if c >= count}

    def _assign_each(self, generation: int, count: int, steps: int) -> None:
        """As many changes were taken as were sent: each was taken alone."""
        texts = [self._texts.get(count + step) for step in range(1, steps + 1)]
        if max(self._texts) == count + steps and None not in texts:
            self.found += [(generation + k, text) for k, text in enumerate(texts, 1) if text]
            self._known = generation + steps, count + steps


class Scribe:
    """Takes records from a blackboard and writes them, as long as the disk lets it."""

    def __init__(self, reader: Reader, path: Path, model: RobotModel) -> None:
        self._reader = reader
        self._changes = Changes(reader)
        self._index = self.written = self.lost = 0
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
            self._file.add_metadata(ABOUT, self._about(model, config))
            self._channels = {
                topic: self._file.add_channel(topic, kind, messages.definition(kind))
                for topic, kind in messages.TOPICS.items()
            }
        except OSError:
            path.unlink()
            raise

    def _about(self, model: RobotModel, config: Config) -> dict[str, str]:
        return {
            "version": __version__,
            "kernel": source_digest(),
            "robot": self._reader.robot,
            "rate": repr(self._reader.rate),
            "model": model_to_json(model),
            "config": config.to_yaml(),
            "outputs": repr(layout.OUTPUTS.descr),
            "how to read": "the data of a /tick message is one record of numpy.dtype(outputs), "
            "outputs being a Python literal",
        }

    def poll(self) -> int:
        """Take what is new; returns how many records."""
        records, self._index, missed = self._reader.since(self._index)
        self.lost += missed
        self._changes.look(records, self._index)
        if len(records):
            self._waiting.append(records)
        waiting = sum(map(len, self._waiting))
        if waiting >= self._chunk or time.monotonic() - self._flushed > _CHUNK:
            self._flush()
        return len(records)

    def finish(self, summary: Mapping[str, Any], problem: str = "") -> None:
        """Write what is left, and the end of the file."""
        self._changes.finish()
        self._flush()
        self.problem = self.problem or problem
        end = {"lost": str(self.lost), "problem": self.problem, "summary": json.dumps(summary)}
        try:
            if self._changes.found and self.written:
                now = np.array([self._stamp])
                self._file.add_batch(self.written, now, {}, self._parameters(np.zeros(1)))
            self._file.add_metadata(END, end)
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

    def _parameters(self, generations: np.ndarray) -> list[Extra]:
        extras = []
        for generation, text in self._changes.found:
            data = messages.string(f"# generation {generation}\n{text}")
            first = int(np.argmax(generations >= generation))
            extras.append((first, self._channels[messages.PARAMETERS], data))
        self._changes.found.clear()
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
        self.problem = self.problem or f"{error.strerror}, after {self.written} ticks"
