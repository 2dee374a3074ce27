"""A recorded run done again: the recorded inputs through the tick, and its outputs compared.

The same configuration gives the same outputs, bit for bit. Another one shows what it would have
commanded to an arm that moved as the recorded one did: in open loop, since the recorded joints and
forces do not answer the other commands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ur_admittance._version import __version__
from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import source_digest
from ur_admittance.telemetry.recording import Recording, missing

APART = 0.01  # m between what was commanded and what would have been: from there on, another run

_PROGRESS = 1000  # ticks
_OPEN_LOOP = (
    "the recorded joints and forces do not answer the other commands: right is how the law answers "
    "a push from rest, not where the arm would have gone; that it does not follow is no reason to "
    "stop here"
)


@dataclass(frozen=True)
class Replayed:
    """What a replay gave."""

    # outputs records of the same ticks. Where the state of the controller is not known (see
    # `notes`) they hold NaN, and what was recorded of tick, time, inputs and timing.
    records: np.ndarray
    # how many ticks were compared with the recorded ones; 0 with another configuration
    compared: int
    skipped: int  # how many ticks could not be done again
    first_difference: int | None  # index of the first record that differs; None if none does
    fields: tuple[str, ...]  # which fields differ there
    notes: tuple[str, ...]  # what limits the replay, in words
    # with another configuration, index of the first record whose commanded pose is 10 mm from the
    # recorded one; None if none is
    apart: int | None = None


def replay(
    recording: Recording,
    config: Config | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replayed:
    """Do a recorded run again.

    Args:
        recording: see `recording.read`.
        config: instead of the recorded one; nothing is compared then, and an arm that does not
            follow is no reason to stop: the recorded one cannot.
        progress: called now and then with the number of ticks done, and of all.

    Raises:
        ConfigError: the configuration does not fit the recorded arm.
    """
    recorded = recording.records
    generations = recorded["inputs"]["generation"]
    known = _configs(recording) if config is None else {}
    usable, notes = _usable(recording, config, known)
    # Goals are among the inputs, so the file of an equilibrium is not needed to do it again.
    start = (config or recording.config).replace({"equilibrium": None})
    controller = Controller(recording.model, start)
    if config is not None:
        controller.params["tracking_timeout"] = np.inf
    records = np.repeat(layout.new_outputs(), len(recorded))
    for name in ("tick", "time", "inputs", "timing"):
        records[name] = recorded[name]
    running = None
    for k in range(len(recorded)):
        if progress is not None and k % _PROGRESS == 0:
            progress(k, len(recorded))
        if not usable[k]:
            continue
        if config is None and generations[k] != running:
            running = int(generations[k])
            controller.live.become(known[running], running)
        records[k] = controller.repeat(recorded[k])
        records["timing"][k] = recorded["timing"][k]
    if progress is not None:
        progress(len(recorded), len(recorded))
    differs = np.zeros(len(recorded), bool)
    if config is None:
        differs = usable & np.any(_words(records) != _words(recorded), axis=1)
    first = int(np.argmax(differs)) if differs.any() else None
    return Replayed(
        records=records,
        compared=int(usable.sum()) if config is None else 0,
        skipped=int((~usable).sum()),
        first_difference=first,
        fields=tuple(
            name
            for name in layout.OUTPUTS.names or ()
            if first is not None
            and records[name][first].tobytes() != recorded[name][first].tobytes()
        ),
        notes=notes,
        apart=None if config is None else _apart(recorded, records),
    )


def _configs(recording: Recording) -> dict[int, Config]:
    """The configuration of each generation of the parameters that is known."""
    known = dict(recording.changes)
    for first in recording.records["inputs"]["generation"][:1].tolist():
        known.setdefault(first, recording.config)
    return {g: config for g, config in known.items() if g not in recording.unknown}


def _usable(
    recording: Recording, config: Config | None, known: dict[int, Config]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Which ticks can be done again, and why others cannot.

    The state of the controller follows from all ticks since its activation. Where one is missing,
    or its parameters are, it is unknown until the next activation.
    """
    records, notes = recording.records, []
    here = source_digest()
    if config is not None:
        notes.append(_OPEN_LOOP)
    if config is not None and recording.changes:
        notes.append("parameters were changed during the run; those changes are left out")
    if recording.kernel != here and config is None:
        notes.append(
            f"recorded by version {recording.version} (kernel {recording.kernel}), replayed by "
            f"{__version__} (kernel {here}): differences may come from that"
        )
    if recording.damage:
        notes.append(recording.damage_words())
    if not recording.finished:
        notes.append("the recording was cut off; its whole chunks are replayed")
    order = np.arange(len(records))
    activated = records["tick"] == 1
    broken = ~activated & (np.diff(records["tick"], prepend=0) != 1)
    broken[list(recording.breaks)] = True
    broken &= ~activated
    if broken.any() and broken[0]:
        notes.append("the recording starts in the middle of a run; skipped to the next activation")
    gaps = int(broken[1:].sum())
    if gaps:
        notes.append(
            f"{missing(records)} ticks are missing in {gaps} places; after each, skipped to the "
            "next activation"
        )
    if config is None:
        strange = ~np.isin(records["inputs"]["generation"], list(known))
        notes += _strange(records[strange])
        broken |= strange
    last_activation = np.maximum.accumulate(np.where(activated, order, -1))
    last_break = np.maximum.accumulate(np.where(broken, order, -1))
    return last_activation > last_break, tuple(notes)


def _strange(records: np.ndarray) -> list[str]:
    """Why the parameters of these records are not in the recording."""
    own = records["inputs"]["generation"] < 0
    return [
        f"the parameters of {len(some)} ticks, the first of them tick {some['tick'][0]}, are not "
        f"in the recording: {why}; skipped to the next activation after them"
        for some, why in (
            (records[own], "Controller.set changed them inside the control process"),
            (records[~own], "too many changes came before the recorder looked, or it came late"),
        )
        if len(some)
    ]


def _apart(recorded: np.ndarray, records: np.ndarray) -> int | None:
    """The first record whose commanded pose is too far from the recorded one."""
    gap = np.linalg.norm(records["X_WC"][:, :3, 3] - recorded["X_WC"][:, :3, 3], axis=1)
    return int(np.argmax(gap > APART)) if (gap > APART).any() else None


def _words(records: np.ndarray) -> np.ndarray:
    """The bits of each record: NaN equals itself, 0 and -0 differ."""
    return records.view(np.int64).reshape(len(records), layout.OUTPUTS.itemsize // 8)
