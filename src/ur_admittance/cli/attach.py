"""`watch` and `set`: look at a running controller, and tune it, from another terminal."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated, Any

import typer

from ur_admittance.cli.common import FAILED, AsJson, RobotName, console, explained
from ur_admittance.errors import ConfigError, RobotError

_TAKEN_SECONDS = 3.0  # how long `set` waits for the loop
_RAMPED = ("admittance.mass", "admittance.damping", "admittance.stiffness")
_RAMPED += ("admittance.damping_ratio", "admittance.virtual_stiffness")


@explained()
def watch(
    robot: RobotName = "",
    once: Annotated[bool, typer.Option("--once", help="Look once and leave.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a running controller from another terminal.

    Shows its mode, force [N], torque [Nm], speed [mm/s], active limits, timing [us] and parameters,
    and waits for it when it is not there. Where there is no terminal, and with --json, it prints
    one line a second instead. The controller does not notice.
    """
    from ur_admittance.live.watch import Attached
    from ur_admittance.live.watch import watch as draw

    if sys.stdout.isatty() and not (once or as_json):
        draw(robot or None)
        return
    attached = Attached(robot or None)
    screen = console()
    try:
        while True:
            _print_once(attached, as_json, screen)
            if once:
                break
            time.sleep(1.0)
    except KeyboardInterrupt:
        return
    if attached.watcher is None:
        raise typer.Exit(FAILED)


def _print_once(attached: Any, as_json: bool, screen: Any) -> None:
    from ur_admittance.live.views import line

    glance = attached.look()
    if as_json:
        seen = glance.as_dict() if glance else {}
        print(json.dumps({"state": attached.state, "who": attached.words, **seen}), flush=True)
    elif glance is None:
        screen.print(f"{attached.state}: {attached.words}", soft_wrap=True)
    else:
        screen.print(f"{attached.state}: {line(glance).plain}", soft_wrap=True)


@explained()
def set_parameter(
    name: Annotated[str, typer.Argument(help="A parameter, such as admittance.mass.")],
    value: Annotated[
        list[str],
        typer.Argument(
            help="Its new value as in YAML, in the parameter's unit; six in a row, too."
        ),
    ],
    robot: RobotName = "",
    as_json: AsJson = False,
) -> None:
    """Change a parameter of a running controller.

    The value is checked first, all or nothing; the loop takes it over between two ticks. Gains then
    move to it over admittance.ramp_seconds [s]. `docs/parameters.md` lists what may change.
    """
    from ur_admittance.blackboard import Blackboard

    reader = Blackboard.attach(robot or None)
    change = reader.set({name: _value(name, value)})
    deadline = time.monotonic() + _TAKEN_SECONDS
    while reader.pending and time.monotonic() < deadline:
        time.sleep(0.01)
    taken = not reader.pending
    ramped = any(changed in _RAMPED for changed in change.values)
    ramp = change.ramp_seconds if ramped else 0.0
    if as_json:
        values = {key: {"before": old, "now": new} for key, (old, new) in change.values.items()}
        report = {"robot": reader.robot, "values": values, "ramp_seconds": ramp, "taken": taken}
        typer.echo(json.dumps(report, indent=2))
    else:
        for key, (old, new) in change.values.items():
            typer.echo(f"{key}: {_shown(old)} -> {_shown(new)}")
        if not change.values:
            typer.echo(f"{name} has that value already")
        elif taken:
            ending = f", and gets there within {ramp:g} s" if ramp else ""
            typer.echo(f"{reader.robot} has taken it{ending}")
    if not taken:
        raise RobotError(
            f"set: {reader.robot} is {reader.state} and has not taken the change after "
            f"{_TAKEN_SECONDS:g} s; it will when it goes on"
        )


def _value(name: str, words: list[str]) -> Any:
    import yaml

    text = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
    try:
        return _number(yaml.safe_load(text))
    except yaml.YAMLError:
        raise ConfigError(
            f"{name}: {text!r:.100} is no YAML value, such as 5 or '[4, 4]'"
        ) from None


def _number(value: Any) -> Any:
    """A value as people mean it: 1e-3 is a number, though YAML takes it for a text."""
    if isinstance(value, list):
        return [_number(part) for part in value]
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _shown(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
