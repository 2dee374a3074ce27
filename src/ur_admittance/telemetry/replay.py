"""A recorded run done again: the recorded inputs through the tick, and its outputs compared.

The same configuration gives the same outputs, bit for bit. Another one shows what it would have
commanded to an arm that moved as the recorded one did.
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
from ur_admittance.packing import pack
from ur_admittance.telemetry.recording import Recording, missing

_PROGRESS = 1000  # ticks


@dataclass(frozen=True)
class Replayed:
    """What a replay gave.

    Attributes:
        records: outputs records of the same ticks. Where the state of the controller is not known
            (see `notes`) they hold NaN, and what was recorded of tick, time, inputs and timing.
        compared: how many ticks were compared with the recorded ones; 0 with another configuration.
        skipped: how many ticks could not be done again.
        first_difference: index of the first record that differs; None if none does.
        fields: which fields differ there.
        notes: what limits the replay, in words.
    """

    records: np.ndarray
    compared: int
    skipped: int
    first_difference: int | None
    fields: tuple[str, ...]
    notes: tuple[str, ...]


def replay(
    recording: Recording,
    config: Config | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replayed:
    """Do a recorded run again.

    Args:
        recording: see `recording.read`.
        config: instead of the recorded one; nothing is compared then.
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
    records = _unknown(recorded)
    running = None
    for k in range(len(recorded)):
        if progress is not None and k % _PROGRESS == 0:
            progress(k, len(recorded))
        if not usable[k]:
            continue
        if config is None and generations[k] != running:
            running = generations[k]
            controller.params[:] = pack(known[int(running)], recording.model)
            controller.params["generation"] = running
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
        fields=() if first is None else _differing(recorded[first], records[first]),
        notes=notes,
    )


def _configs(recording: Recording) -> dict[int, Config]:
    """The configuration of each generation of the parameters, as far as it is known."""
    known = dict(recording.changes)
    # The first one known may have come after the first record, to a recorder that came late.
    late = bool(recording.changes) and recording.changes[0][1] == recording.config
    if len(recording.records) and not late:
        known[int(recording.records["inputs"]["generation"][0])] = recording.config
    return known


def _usable(
    recording: Recording, config: Config | None, known: dict[int, Config]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Which ticks can be done again, and why others cannot.

    The state of the controller follows from all ticks since its activation. Where one is missing,
    or its parameters are, it is unknown until the next activation.
    """
    records, notes = recording.records, []
    here = source_digest()
    if config is not None and recording.changes:
        notes.append("parameters were changed during the run; those changes are left out")
    if recording.kernel != here and config is None:
        notes.append(
            f"recorded by version {recording.version} (kernel {recording.kernel}), replayed by "
            f"{__version__} (kernel {here}): differences may come from that"
        )
    if not recording.finished:
        notes.append("the recording was cut off; its whole chunks are replayed")
    order = np.arange(len(records))
    activated = records["tick"] == 1
    broken = ~activated & (np.diff(records["tick"], prepend=0) != 1)
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
        if strange.any():
            notes.append(
                f"the parameters of {int(strange.sum())} ticks are not in the recording (they "
                "changed again at once, or in the control process itself); skipped to the next "
                "activation after them"
            )
        broken |= strange
    last_activation = np.maximum.accumulate(np.where(activated, order, -1))
    last_break = np.maximum.accumulate(np.where(broken, order, -1))
    return last_activation > last_break, tuple(notes)


def _unknown(recorded: np.ndarray) -> np.ndarray:
    records = np.repeat(layout.new_outputs(), len(recorded))
    for name in ("tick", "time", "inputs", "timing"):
        records[name] = recorded[name]
    return records


def _words(records: np.ndarray) -> np.ndarray:
    """The bits of each record: NaN equals itself, 0 and -0 differ."""
    return records.view(np.int64).reshape(len(records), layout.OUTPUTS.itemsize // 8)


def _differing(one: np.record, other: np.record) -> tuple[str, ...]:
    names = layout.OUTPUTS.names or ()
    return tuple(name for name in names if one[name].tobytes() != other[name].tobytes())
