"""`set`: tune a running controller from another terminal."""

from __future__ import annotations

import json
import re
import time
from typing import Annotated, Any

import typer

from ur_admittance.cli.common import AsJson, RobotName, argument, explained
from ur_admittance.errors import ConfigError, RobotError

_TAKEN_SECONDS = 3.0  # how long `set` waits for the loop
_PAIR = re.compile(r"[a-z_.]+=")
_RAMPED = ("admittance.mass", "admittance.damping", "admittance.stiffness")
_RAMPED += ("admittance.damping_ratio", "admittance.virtual_stiffness")


@explained()
def set_parameter(
    words: Annotated[
        list[str],
        argument(
            "A parameter and its new value as in YAML, in its unit, six in a row, too; or "
            "several as NAME=VALUE.",
            "NAME VALUE | NAME=VALUE",
        ),
    ],
    robot: RobotName = "",
    as_json: AsJson = False,
) -> None:
    """Change parameters of a running controller.

    The values are checked first, all or nothing; the loop takes them over between two ticks. Gains
    then move there over admittance.ramp_seconds [s]. `docs/parameters.md` lists what may change;
    `get --save FILE` keeps what was found good. A payload or bias that makes the arm drift is
    warned of, with its speed.

    \b
    ur-admittance set admittance.damping 180 180 180 6 6 6
    ur-admittance set max_linear_velocity=0.1 admittance.mass=[4,4,4,0.2,0.2,0.2]
    """
    from ur_admittance.blackboard import Blackboard

    changes = _changes(words)
    reader = Blackboard.attach(robot or None)
    change = reader.set(changes)
    deadline = time.monotonic() + _TAKEN_SECONDS
    while reader.pending and time.monotonic() < deadline:
        time.sleep(0.01)
    taken = not reader.pending
    ramped = any(changed in _RAMPED for changed in change.values)
    ramp = change.ramp_seconds if ramped else 0.0
    if as_json:
        values = {key: {"before": old, "now": new} for key, (old, new) in change.values.items()}
        report = {"robot": reader.robot, "values": values, "ramp_seconds": ramp, "taken": taken}
        report |= {"warning": change.warning}
        typer.echo(json.dumps(report, indent=2))
    else:
        for key, (old, new) in change.values.items():
            typer.echo(f"{key}: {shown(old)} -> {shown(new)}")
        if not change.values:
            one = len(changes) == 1
            have = "has that value" if one else "have these values"
            typer.echo(f"{', '.join(changes)} {have} already")
        elif taken:
            ending = f", and gets there within {ramp:g} s" if ramp else ""
            typer.echo(f"{reader.robot} has taken it{ending}")
        if change.warning:
            typer.echo(f"warning: {change.warning}", err=True)
    if not taken:
        raise RobotError(
            f"set: {reader.robot} is {reader.state} and has not taken the change after "
            f"{_TAKEN_SECONDS:g} s; it will when it goes on"
        )


def _changes(words: list[str]) -> dict[str, Any]:
    """The changes that the words ask for: NAME VALUE..., or NAME=VALUE for each of several."""
    if "=" not in words[0]:
        name, *values = words
        if not values:
            raise ConfigError(f"{name}: give its new value, too: NAME VALUE, or NAME=VALUE")
        if mixed := next((word for word in values if _PAIR.match(word)), ""):
            raise ConfigError(f"{mixed!r:.100}: write all as NAME=VALUE, got {name!r:.100} before")
        return {name: _value(name, values)}
    changes: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not text:
            raise ConfigError(f"{word!r:.100}: must be NAME=VALUE, as the first is; no spaces")
        if name in changes:
            raise ConfigError(f"{name}: given twice; keep one")
        changes[name] = _value(name, [text])
    return changes


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


def shown(value: Any) -> str:
    """A parameter's value on one line, as in YAML."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(part)}" for key, part in value.items()) + "}"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
