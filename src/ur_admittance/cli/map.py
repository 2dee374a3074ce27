"""`map`: which surfaces a configuration can touch, as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ur_admittance.cli.common import (
    ArmModel,
    AsJson,
    argument,
    check_output,
    explained,
    option,
    read_config,
)

if TYPE_CHECKING:
    from ur_admittance.rollout.stable_map import StableMap
    from ur_admittance.rollout.touch import Touched


@explained()
def stable_surfaces(
    file: Annotated[str, argument("A YAML file, or preset:NAME.", "FILE")],
    arm: ArmModel = "ur5e",
    out: Annotated[Path, option("Picture to write (PNG).", "FILE")] = Path("map.png"),
    as_json: AsJson = False,
) -> None:
    """Draw which surfaces [kN/m] settle or chatter, by speed [mm/s] and push [N].

    With and without contact damping, for the arm's lag and delay of the configuration (`arm.lag`,
    `arm.delay`, from `identify`; else 10 ms and 4 ms). The numbers in the picture are the greatest
    force of the impact [N].
    """
    from ur_admittance.model import RobotModel
    from ur_admittance.rollout.stable_map import stable_map

    config, model = read_config(file), RobotModel.ur(arm)
    check_output(out, force=True)
    found = stable_map(config, model)
    draw(found, out, f"{file} on {arm}")
    stiffest = {word: _stiffest(found.by_speed[on]) for on, word in ((False, "off"), (True, "on"))}
    if as_json:
        typer.echo(json.dumps({"file": str(out), "stiffest": stiffest}, indent=2))
        return
    for word, most in stiffest.items():
        typer.echo(f"contact.adapt {word}: calm up to {most / 1e3:.3g} kN/m at every speed shown")
    typer.echo(f"{out}: written")


def _stiffest(rows: list[list[Touched]]) -> float:
    """The stiffest surface up to which all touches are calm, N/m; 0: none."""
    from ur_admittance.rollout.stable_map import STIFFNESSES

    calm = 0.0
    for stiffness, row in zip(STIFFNESSES, rows, strict=True):
        if not all(one.calm for one in row):
            break
        calm = stiffness
    return calm


def draw(found: StableMap, out: Path, title: str) -> None:
    """Four panels: by speed and by push, without and with contact damping."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ur_admittance.rollout.stable_map import PUSH, PUSHES, SPEED, SPEEDS

    figure, axes = plt.subplots(2, 2, figsize=(11, 9), constrained_layout=True)
    ways: tuple[tuple[Any, ...], ...] = (
        (found.by_speed, [f"{v * 1e3:g}" for v in SPEEDS], f"speed [mm/s], push {PUSH:g} N"),
        (found.by_push, [f"{F:g}" for F in PUSHES], f"push [N], speed {SPEED * 1e3:g} mm/s"),
    )
    for row, (results, ticks, label) in enumerate(ways):
        for column, adapt in enumerate((False, True)):
            _panel(axes[row, column], results[adapt], ticks, label)
            axes[row, column].set_title("with contact damping" if adapt else "fixed gains")
    figure.suptitle(
        f"{title}: green settles, red chatters; numbers: impact [N]; arm: lag "
        f"{found.lag * 1e3:g} ms, delay {found.delay * 1e3:g} ms"
    )
    figure.savefig(out, dpi=110)
    plt.close(figure)


def _panel(axes: Any, rows: list[list[Touched]], ticks: list[str], label: str) -> None:
    from ur_admittance.rollout.stable_map import STIFFNESSES

    calm = np.array([[1.0 if one.calm else 0.0 for one in row] for row in rows])
    axes.imshow(calm, origin="lower", aspect="auto", cmap="RdYlGn", vmin=-0.3, vmax=1.3)
    for y, row in enumerate(rows):
        for x, one in enumerate(row):
            axes.text(x, y, f"{one.peak:.0f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_yticks(range(len(STIFFNESSES)), [f"{K / 1e3:.3g}" for K in STIFFNESSES])
    axes.set_xlabel(label)
    axes.set_ylabel("surface [kN/m]")
