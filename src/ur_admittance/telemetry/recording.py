"""A recording read back: the records, bit for bit, and what is needed to do the run again."""

from __future__ import annotations

import ast
import dataclasses
import io
import json
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import recfunctions

from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.kernel import layout
from ur_admittance.model import Link, RobotModel
from ur_admittance.telemetry import mcap_file, messages

ABOUT, END = "ur_admittance", "ur_admittance_end"  # names of the metadata at both ends of a file


@dataclass(frozen=True)
class Recording:
    """A run, as its file tells it.

    Attributes:
        path: of the file.
        robot: name of the blackboard.
        rate: ticks a second, Hz.
        model: of the arm.
        config: at the first record.
        changes: (generation of the parameters, configuration from there on), in order.
        records: outputs records, oldest first, as the loop published them.
        lost: ticks that were not recorded.
        finished: False if the file was cut off; then all its whole chunks were read.
        summary: what the recorder was given at the end.
        version: of the package that recorded.
        kernel: digest of the kernel that made the records.
    """

    path: Path
    robot: str
    rate: float
    model: RobotModel
    config: Config
    changes: tuple[tuple[int, Config], ...]
    records: np.ndarray
    lost: int
    finished: bool
    summary: dict[str, Any]
    version: str
    kernel: str


def read(path: str | Path) -> Recording:
    """Read a file that `Recorder` wrote.

    Raises:
        RobotError: there is no such file, or it is something else.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            found = _read(file, path)
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror}") from None
    if ABOUT not in found.metadata:
        raise RobotError(
            f"{path}: an MCAP file, but not one of ur-admittance's: it has no metadata {ABOUT!r}"
        )
    try:
        return _recording(path, found)
    except (KeyError, ValueError, TypeError, SyntaxError, AdmittanceError) as error:
        raise RobotError(
            f"{path}: what it says of itself cannot be understood: {error!r:.200}"
        ) from None


def _recording(path: Path, found: _Found) -> Recording:
    about, end = found.metadata[ABOUT], found.metadata.get(END, {})
    kind = np.dtype((np.record, ast.literal_eval(about["outputs"])))
    records = np.frombuffer(found.ticks, kind)
    if kind != layout.OUTPUTS:  # of another version: what it does not have is zero
        records = recfunctions.require_fields(records, layout.OUTPUTS)
    known = [_generation(text) for text in found.parameters]
    if not known:
        known = [(0, Config.loads(about["config"], str(path)))]
    first = int(records["inputs"]["generation"][0]) if len(records) else 0
    before = [config for generation, config in known if generation <= first]
    return Recording(
        path=path,
        robot=about["robot"],
        rate=float(about["rate"]),
        model=model_from_json(about["model"]),
        config=before[-1] if before else known[0][1],
        changes=tuple((generation, config) for generation, config in known if generation > first),
        records=records,
        lost=int(end["lost"]) if end else missing(records),
        finished=found.finished,
        summary=json.loads(end["summary"]) if end else {},
        version=about["version"],
        kernel=about["kernel"],
    )


def missing(records: np.ndarray) -> int:
    """How many ticks are missing between records, by their numbers."""
    steps = np.diff(records["tick"])
    return int((steps[steps > 1] - 1).sum())


def _generation(text: str) -> tuple[int, Config]:
    """A message of /parameters: a comment with the generation, then YAML."""
    match = re.match(r"# generation (\d+)\n", text)
    return int(match[1]) if match else 0, Config.loads(text, messages.PARAMETERS)


# --- the file ---


@dataclass
class _Found:
    """What is in a file."""

    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    channels: dict[int, str] = field(default_factory=dict)
    ticks: bytearray = field(default_factory=bytearray)
    parameters: list[str] = field(default_factory=list)
    finished: bool = False


def _read(file: BinaryIO, path: Path) -> _Found:
    """Everything from the start to the end, or to where the file was cut off."""
    mcap, found = mcap_file.library(), _Found()
    if file.read(len(mcap_file.MAGIC)) != mcap_file.MAGIC:
        raise RobotError(f"{path}: not an MCAP file")
    size = path.stat().st_size
    while len(head := file.read(9)) == 9:
        opcode, length = struct.unpack("<BQ", head)
        if length > size - file.tell():
            break
        body = file.read(length)
        if opcode != mcap_file.CHUNK:
            _take(found, mcap, memoryview(head + body))
            continue
        chunk = mcap.records.Chunk.read(mcap.stream.ReadDataStream(io.BytesIO(body)))
        try:
            stream, inside = mcap.reader.get_chunk_data_stream(chunk, validate_crc=True)
        except (ValueError, RuntimeError, mcap.zstd.ZstdError):  # damaged, and so what follows
            break
        _take(found, mcap, memoryview(stream.read(inside)))
    return found


def _take(found: _Found, mcap: Any, data: memoryview) -> None:
    """Keep what matters of some records. Most are messages of other topics: those cost little."""
    where, unpack = 0, struct.Struct("<BQH").unpack_from
    while where + 11 <= len(data):
        opcode, length, number = unpack(data, where)
        start, where = where + 9, where + 9 + length
        if opcode == mcap_file.MESSAGE:
            topic = found.channels.get(number)
            if topic == messages.TICK:
                found.ticks += messages.raw_of(data[start + 22 : where])
            elif topic == messages.PARAMETERS:
                found.parameters.append(messages.string_of(data[start + 22 : where]))
        elif opcode in (mcap_file.CHANNEL, mcap_file.METADATA):
            stream = mcap.stream.ReadDataStream(io.BytesIO(data[start:where]))
            if opcode == mcap_file.CHANNEL:
                found.channels[number] = mcap.records.Channel.read(stream).topic
            else:
                metadata = mcap.records.Metadata.read(stream)
                found.metadata[metadata.name] = metadata.metadata
        elif opcode == mcap_file.FOOTER:
            found.finished = True


# --- the model ---


def model_to_json(model: RobotModel) -> str:
    """All numbers of a model, exactly."""
    return json.dumps(dataclasses.asdict(model), default=np.ndarray.tolist)


def model_from_json(text: str) -> RobotModel:
    """The model that `model_to_json` was given."""
    values = json.loads(text)
    links = tuple(Link(**link) for link in values.pop("links"))
    return RobotModel(**values, links=links)
