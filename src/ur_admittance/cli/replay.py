"""`replay`: what a recorded run does again, or would have done with other gains."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ur_admittance.cli.common import (
    FAILED,
    AsJson,
    RecordingFile,
    console,
    explained,
    option,
    progress_bar,
    read_config,
)
from ur_admittance.errors import ConfigError
from ur_admittance.kernel.spatial import LINEAR

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording


@explained()
def replay(
    file: RecordingFile,
    config: Annotated[str, option("Other gains: a YAML file, or preset:NAME.", "NEW")] = "",
    plot: Annotated[Path | None, option("Also draw both: .png, .svg, .pdf.", "PICTURE")] = None,
    as_json: AsJson = False,
) -> None:
    """Feed a recording's inputs through the controller again and compare.

    With the recorded configuration every output must come out the same, bit for bit; leaves with 1
    if not, or if the file is damaged. With --config it shows what other gains would have commanded
    to an arm that moved as the recorded one did: peak speed [m/s], distance [m] and limits [% of
    the time], and when the two commands have come apart [s]. That arm cannot follow, which is no
    reason to stop here.
    """
    from ur_admittance.telemetry.recording import read
    from ur_admittance.telemetry.replay import replay as repeat

    other = read_config(config) if config else None
    if plot is not None:
        _check_plot(plot)
    recording = read(file)
    with progress_bar(hidden=as_json) as progress:
        replayed = repeat(recording, other, partial(progress, "replay"))
    if plot is not None:
        from ur_admittance.report.plots import compare

        compare(recording.records, replayed.records, str(file)).savefig(plot)
    result: dict[str, Any] = {
        "file": str(file),
        "ticks": len(recording.records),
        "compared": replayed.compared,
        "skipped": replayed.skipped,
        "same": replayed.first_difference is None and replayed.compared > 0,
        "first_difference": replayed.first_difference,
        "fields": list(replayed.fields),
        "notes": list(replayed.notes),
        "reason": recording.reason and recording.reason.as_dict(),
    }
    if other is not None:
        done = ~np.isnan(replayed.records["qd"][:, 0])
        result["recorded"] = _motion(recording.records[done])
        result["with"] = _motion(replayed.records[done])
        apart = replayed.apart
        result["apart"] = None if apart is None else float(recording.records["time"][apart])
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        _tell(result, recording, config)
    if recording.damage or (other is None and not result["same"]):
        raise typer.Exit(FAILED)


def _check_plot(path: Path) -> None:
    """See that the picture can be written, before a minute is spent on it."""
    from ur_admittance.report.plots import formats

    if not path.absolute().parent.is_dir():
        raise ConfigError(f"--plot: there is no folder {path.parent}")
    if path.suffix.lower().removeprefix(".") not in formats():
        known = ", ".join(formats())
        raise ConfigError(f"--plot: {path}: must end in one of {known}; .png is a good choice")


def _motion(records: np.ndarray) -> dict[str, Any]:
    """What was commanded: peak speed [m/s], distance [m], share of each limit, when stopped [s]."""
    from ur_admittance.faults import FAULTS
    from ur_admittance.kernel import bits

    speed = np.linalg.norm(records["V_WP_cmd"][:, LINEAR], axis=1)
    shares = {f.name: float(((records["status"] & f.mask) != 0).sum()) for f in FAULTS}
    stopped = records["time"][records["mode"] == bits.STOPPED]
    return {
        "peak_speed": float(speed.max(initial=0.0)),
        "distance": float((speed * records["dt"]).sum()),
        "limits": {name: count / len(records) for name, count in shares.items() if count},
        "stopped": float(stopped[0]) if len(stopped) else None,
    }


def _tell(result: dict[str, Any], recording: Recording, config: str) -> None:
    screen = console()
    for note in result["notes"]:
        screen.print(f"note: {note}", style="yellow", soft_wrap=True)
    if recording.reason is not None:
        screen.print(f"it was ended: {recording.reason}", soft_wrap=True)
    first = result["first_difference"]
    if "with" in result:
        _tell_both(result, config)
    elif first is not None:
        tick = recording.records[first]
        screen.print(
            f"differs from tick {tick['tick']} on, {tick['time']:.3f} s after activation, in "
            f"{', '.join(result['fields'])}"
        )
    elif result["compared"]:
        screen.print(f"the same, bit for bit: {result['compared']} ticks", style="green")
    else:
        screen.print("nothing could be compared", style="red")
    if result["skipped"]:
        screen.print(f"{result['skipped']} ticks could not be done again")


def _tell_both(result: dict[str, Any], config: str) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("commanded", "recorded", f"with {config}"):
        table.add_column(head, justify="left" if head == "commanded" else "right")
    both = result["recorded"], result["with"]
    table.add_row("peak speed", *(f"{m['peak_speed']:.3f} m/s" for m in both))
    table.add_row("distance", *(f"{m['distance']:.3f} m" for m in both))
    stops = (m["stopped"] for m in both)
    table.add_row("stopped", *("no" if s is None else f"after {s:.2f} s" for s in stops))
    for name in sorted({name for motion in both for name in motion["limits"]}):
        table.add_row(name, *(f"{100 * m['limits'].get(name, 0.0):.1f} %" for m in both))
    screen = console()
    screen.print(table)
    when = result["apart"]
    screen.print(
        "the two commanded poses stay within 10 mm"
        if when is None
        else f"the two commanded poses are 10 mm apart after {when:.2f} s; "
        "until then the two can be compared",
        style="dim",
        soft_wrap=True,
    )
