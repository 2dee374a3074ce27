"""`get`: the parameters of a running controller, on the screen or in a file."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ur_admittance.cli.common import AsJson, RobotName, argument, explained, flag, option
from ur_admittance.cli.set import shown
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.config import Config
from ur_admittance.errors import ConfigError


@explained()
def get(
    context: typer.Context,
    names: Annotated[
        list[str] | None, argument("Parameters or sections, such as admittance; else all.", "NAME")
    ] = None,
    robot: RobotName = "",
    save: Annotated[
        Path | None, option("Write them to this YAML file instead of the screen.", "FILE")
    ] = None,
    force: Annotated[bool, flag("--force", "Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the parameters of a running controller, with every change so far.

    With --save they become a configuration file, for `check`, `run --config` and 'extends:'. The
    controller does not notice. `docs/parameters.md` lists names and units.
    """
    from ur_admittance.blackboard import Blackboard

    if save is None:
        refuse_useless(context, "replaces a file; there is none, add --save FILE", "force")
    reader = Blackboard.attach(robot or None)
    values = _chosen(reader.config(), names or [])
    if save is not None:
        _write(save, values, f"of {reader.robot}, {datetime.now():%F %T}", force=force)
    if as_json:
        file = str(save) if save else None
        report = {"robot": reader.robot, "values": values, "file": file}
        typer.echo(json.dumps(report, indent=2))
    elif save is not None:
        typer.echo(f"{save}: {len(values)} parameters of {reader.robot}")
    else:
        for name, value in values.items():
            typer.echo(f"{name}: {shown(value)}")


def _chosen(config: Config, names: list[str]) -> dict[str, Any]:
    """The values of parameters and whole sections, by full name, in schema order."""
    flat = config.flat()
    wanted = set()
    for name in names:
        inside = [full for full in flat if full.startswith(f"{name}.")]
        if not inside:
            config.get(name)  # an unknown name is told here
        wanted.update(inside or [name])
    return {name: value for name, value in flat.items() if name in wanted or not names}


def _write(path: Path, values: dict[str, Any], whose: str, *, force: bool) -> None:
    """A configuration file with these values."""
    from ur_admittance.config.yaml_file import dump

    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(f"# Parameters {whose}.\n{dump(values)}")
    except FileExistsError:
        raise ConfigError(f"{path}: exists already; --force replaces it") from None
