"""A recording read back: the records, bit for bit, and what is needed to do the run again."""

from __future__ import annotations

import ast
import dataclasses
import json
import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import recfunctions

from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError, RobotError
from ur_admittance.faults import StopReason
from ur_admittance.kernel import layout
from ur_admittance.model import Link, RobotModel
from ur_admittance.telemetry import messages
from ur_admittance.telemetry.mcap_file import MAGIC
from ur_admittance.telemetry.salvage import Found, salvage

ABOUT, END = "ur_admittance", "ur_admittance_end"  # names of the metadata at both ends of a file


@dataclass(frozen=True)
class Recording:
    """A run, as its file tells it."""

    path: Path  # of the file
    robot: str  # name of the blackboard
    rate: float  # ticks a second, Hz
    model: RobotModel  # of the arm
    config: Config  # at the first record
    # (generation of the parameters, configuration of the records that name it), in the order of the
    # records; without those of `unknown`
    changes: tuple[tuple[int, Config], ...]
    records: np.ndarray  # outputs records, oldest first, as the loop published them
    lost: int  # ticks that were not recorded
    finished: bool  # False if the file was cut off; then all its whole chunks were read
    summary: dict[str, Any]  # what the recorder was given at the end
    version: str  # of the package that recorded
    kernel: str  # digest of the kernel that made the records
    # generations that records name and whose parameters are not in the file. If the first record's
    # is one, `config` is the first that is known.
    unknown: tuple[int, ...] = ()
    # (first byte, bytes) of what cannot be read in the file
    damage: tuple[tuple[int, int], ...] = ()
    damaged: int = 0  # ticks that were in there
    breaks: tuple[int, ...] = ()  # indices of records before which such ticks are missing
    reason: StopReason | None = None  # what stopped the arm, or who ended the run; None: nobody

    def damage_words(self) -> str:
        """What is damaged, and what that costs; "" if nothing is."""
        if not self.damage:
            return ""
        where = ", ".join(f"{size} bytes at {start}" for start, size in self.damage[:3])
        more = f" and {len(self.damage) - 3} more places" if len(self.damage) > 3 else ""
        return f"damaged: {where}{more}; {self.damaged} ticks lost"


def read(path: str | Path) -> Recording:
    """Read a file that `Recorder` wrote, as far as it is whole.

    Raises:
        RobotError: there is no such file, or it is something else.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise RobotError(f"{path}: not an MCAP file: it is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                known = data[: len(MAGIC)] == MAGIC
                found = salvage(data)
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror}") from None
    if ABOUT not in found.metadata:
        if not known and not found.ticks:
            raise RobotError(f"{path}: not an MCAP file")
        raise RobotError(
            f"{path}: an MCAP file, but not one of ur-admittance's, or damaged where it says so: "
            f"it has no whole metadata {ABOUT!r}"
        )
    try:
        return _recording(path, found)
    except (KeyError, ValueError, TypeError, SyntaxError, AdmittanceError) as error:
        raise RobotError(
            f"{path}: what it says of itself cannot be understood: {error!r:.200}"
        ) from None


def _recording(path: Path, found: Found) -> Recording:
    about, end = found.metadata[ABOUT], found.metadata.get(END, {})
    order = np.array(found.sequence, np.int64)
    reason = json.loads(end.get("reason", "null"))
    breaks = np.flatnonzero(np.diff(order, prepend=-1) != 1)
    written = int(end["written"]) if end else int(order.max(initial=-1)) + 1
    kind = np.dtype((np.record, ast.literal_eval(about["outputs"])))
    records = np.frombuffer(found.ticks, kind)
    if kind != layout.OUTPUTS:  # of another version: what it does not have is zero
        records = recfunctions.require_fields(records, layout.OUTPUTS)
    texts = dict(map(messages.parameters_of, found.parameters))
    named = list(dict.fromkeys(records["inputs"]["generation"].tolist()))
    known = [(g, _config(texts[g])) for g in named if g in texts]
    unknown = tuple(g for g in named if g not in texts)
    if not known:
        known = [(named[0] if named else 0, Config.loads(about["config"], str(path)))]
    first = unknown[:1] != tuple(named[:1])
    return Recording(
        path=path,
        robot=about["robot"],
        rate=float(about["rate"]),
        model=model_from_json(about["model"]),
        config=known[0][1],
        changes=tuple(known[1:] if first else known),
        records=records,
        lost=int(end["lost"]) if end else missing(records),
        finished=found.finished,
        summary=json.loads(end["summary"]) if end else {},
        version=about["version"],
        kernel=about["kernel"],
        unknown=unknown,
        damage=tuple(found.damage),
        damaged=written - len(records),
        breaks=tuple(breaks.tolist()),
        reason=reason and StopReason(**reason),
    )


def missing(records: np.ndarray) -> int:
    """How many ticks are missing between records, by their numbers."""
    steps = np.diff(records["tick"])
    return int((steps[steps > 1] - 1).sum())


def _config(text: str) -> Config:
    """A configuration as a message of /parameters has it."""
    if text.startswith("{"):
        return Config.from_dict(json.loads(text))
    return Config.loads(text, messages.PARAMETERS)


# --- the model ---


def model_to_json(model: RobotModel) -> str:
    """All numbers of a model, exactly."""
    return json.dumps(dataclasses.asdict(model), default=np.ndarray.tolist)


def model_from_json(text: str) -> RobotModel:
    """The model that `model_to_json` was given."""
    values = json.loads(text)
    links = tuple(Link(**link) for link in values.pop("links"))
    return RobotModel(**values, links=links)
