"""`tune`: from what you know to gains."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.common import (
    FAILED,
    ArmModel,
    AsJson,
    check_output,
    console,
    explained,
    flag,
    option,
    progress_bar,
    read_config,
)
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    from ur_admittance.tune.choose import Tuned


@explained()
def tune(
    context: typer.Context,
    task: Annotated[
        str,
        option(
            "guide: lead the arm by hand, the push gives 0.2 m/s; touch: touch or follow a "
            "surface, the push gives 0.1 m/s; hold: stay put, the push moves the tool 5 mm.",
            "TASK",
        ),
    ] = "touch",
    surface: Annotated[
        str,
        option(
            "Stiffness of what is touched [N/m]: rubber 2000, wood 20000, steel 100000; or "
            "unknown, 1000 to 100000.",
            "N/M",
        ),
    ] = "unknown",
    push: Annotated[float, option("Push at which it should feel right [N].")] = 15.0,
    lag: Annotated[
        float | None, option("Lag of the arm [s]; 0.01 unless --identified knows it.")
    ] = None,
    identified: Annotated[
        str,
        option(
            "What `identify` wrote: lag [s], delay [s] and mode [Hz] of the arm (YAML).", "FILE"
        ),
    ] = "",
    arm: ArmModel = "ur5e",
    out: Annotated[Path, option("Configuration to write (YAML).", "FILE")] = Path("tuned.yaml"),
    picture: Annotated[
        Path | None, option("Picture to write (PNG); beside --out unless given.", "FILE")
    ] = None,
    force: Annotated[bool, flag("--force", "Replace files that exist.")] = False,
    quick: Annotated[bool, flag("--quick", "A rough answer: a tenth of the work.")] = False,
    seed: Annotated[int, option("Of the random cases.")] = 0,
    jobs: Annotated[int, option("Processes of this machine; 0: one for each core.", min=0)] = 0,
    scheduler: Annotated[
        str, option("Dask scheduler that does the work instead, say tcp://10.0.0.5:8786.", "URL")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Find gains for a task: a sweep of simulated touches, no robot.

    Some hundred gains are tried on random surfaces, arms and hands; the calm ones that feel nearest
    to the wish are tried again on other cases. The first that is calm in 99 % of them, or else the
    calmest that reaches 95 %, is written, with its margins. The same question and seed give the
    same answer, on one core or on many machines. Leaves with 1, and writes no configuration, when
    no gains will do.
    """
    from ur_admittance.tune import dask_workers, local_processes, tune
    from ur_admittance.tune.candidates import candidates_for
    from ur_admittance.tune.choose import QUICK, Effort
    from ur_admittance.tune.explain import to_yaml
    from ur_admittance.tune.picture import draw

    if scheduler:
        refuse_useless(context, "is for this machine; --scheduler works on others", "jobs")
    question = _question(task, surface, push, lag, identified, arm, seed)
    image = picture or out.with_suffix(".png")
    for file in (out, image):
        check_output(file, force=force)
    workers = dask_workers(scheduler) if scheduler else local_processes(jobs or None)
    with workers as executor, progress_bar(hidden=as_json) as progress:
        tuned = tune(
            question,
            executor,
            progress,
            candidates=candidates_for(question, quick),
            effort=QUICK if quick else Effort(),
        )
    draw(tuned, image)
    if tuned.chosen is not None:
        out.write_text(to_yaml(tuned))
    if as_json:
        typer.echo(json.dumps(_as_values(tuned, out, image), indent=2))
    else:
        _show(tuned, out, image)
    if tuned.chosen is None:
        raise typer.Exit(FAILED)


def _question(
    task: str, surface: str, push: float, lag: float | None, identified: str, arm: str, seed: int
):
    """What was asked, or a ConfigError that says what is wrong with it."""
    from ur_admittance.model import RobotModel
    from ur_admittance.tune import Question

    try:
        stiffness = None if surface == "unknown" else float(surface)
    except ValueError:
        raise ConfigError(f"--surface: must be N/m, or unknown, got {surface!r}") from None
    is_file = Path(arm).suffix in (".yaml", ".yml") or Path(arm).is_file()
    if arm.lower() not in RobotModel.arms() and is_file:
        raise ConfigError(
            f"--arm: must be a model such as ur5e, got the file {arm}; did you mean "
            f"--identified {arm}?"
        )
    RobotModel.ur(arm)
    known = read_config(identified).arm if identified else None
    if known is not None and lag is not None:
        raise ConfigError("--lag: --identified knows it; give one of them")
    return Question(
        task=task,
        stiffness=stiffness,
        push=push,
        lag=(0.01 if lag is None else lag) if known is None else known.lag,
        delay=known.delay or None if known else None,
        mode_frequency=known.mode_frequency or None if known else None,
        robot=arm,
        seed=seed,
    )


def _show(tuned: Tuned, out: Path, image: Path) -> None:
    from rich.table import Table

    from ur_admittance.tune.explain import gains, helps, margins, verdict_words, why

    screen = console()
    screen.print(verdict_words(tuned), soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value, unit in gains(tuned):
        table.add_row(name, f"{value} {unit}")
    if tuned.chosen is not None:
        for name, value in margins(tuned):
            table.add_row(name, value)
    screen.print()
    screen.print(table)
    screen.print()
    for sentence in why(tuned):
        screen.print(sentence, soft_wrap=True)
    if tuned.chosen is None:
        screen.print("What would help: " + "; ".join(helps(tuned)), soft_wrap=True)
        screen.print(f"{image}: written; no configuration")
    else:
        screen.print(f"{out}, {image}: written; see it with 'ur-admittance check {out}'")


def _as_values(tuned: Tuned, out: Path, image: Path) -> dict:
    from ur_admittance.tune.explain import helps, why

    met = tuned.chosen is not None
    return {
        "question": asdict(tuned.question),
        "met": met,
        "file": str(out) if met else None,
        "picture": str(image),
        "gains": asdict(tuned.nearest.candidate),
        "feel": tuned.nearest.feel,
        "off": tuned.nearest.off,
        "verdict": asdict(tuned.verdict),
        "margins": {"stiffer": tuned.stiffer, "later": tuned.later, "harder": tuned.harder},
        "why": list(why(tuned)),
        "helps": [] if met else list(helps(tuned)),
    }
