"""`presets`: the configurations that come with the package."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ur_admittance.cli.common import AsJson, argument, explained
from ur_admittance.config import Config


@explained()
def presets(
    name: Annotated[str, argument("Print this one, as YAML.", "NAME")] = "", as_json: AsJson = False
) -> None:
    """List the configurations that come with the package, or print one.

    `preset:NAME` goes wherever a configuration file does. To change a few values of one, begin a
    file with 'extends: preset:NAME'; to change many, begin with what `presets NAME` prints.
    """
    if name:
        text = Config.preset_text(name.removeprefix("preset:"))
        typer.echo(json.dumps({"name": name, "yaml": text}) if as_json else text, nl=as_json)
        return
    about = {each: _about(Config.preset_text(each)) for each in Config.presets()}
    if as_json:
        typer.echo(json.dumps(about, indent=2))
        return
    width = max(map(len, about)) + 2
    for each, words in about.items():
        typer.echo(f"preset:{each:<{width}}{words}")


def _about(text: str) -> str:
    """The first sentence of a file's opening comment."""
    lines = []
    for line in text.splitlines():
        words = line.removeprefix("#").strip()
        if not line.startswith("#") or not words:
            break
        lines.append(words)
    return " ".join(lines)
