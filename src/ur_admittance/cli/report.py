"""`report`: a page with plots of a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.common import FAILED, AsJson, RecordingFile, console, explained, option


@explained()
def report(
    file: RecordingFile,
    out: Annotated[
        Path | None, option("Folder for the page; else the file's name without ending.", "FOLDER")
    ] = None,
    against: Annotated[
        Path | None,
        option("Write a page that holds this other recording against it, instead.", "FILE"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a page with plots of a recording, and a summary here.

    Forces [N, Nm] and motion [mm, mm/s] of each axis, commanded and measured, active limits, timing
    [us], and the rendered against the ideal admittance. Leaves with 1 if the file is damaged; what
    is whole is in the page all the same.
    """
    from ur_admittance.report.write import show_summary, summarise, write_report
    from ur_admittance.telemetry.recording import read

    if against is not None:
        _compare(file, against, out, as_json)
        return
    screen = console()
    with screen.status("reading"):
        recording = read(file)
        summary = summarise(recording)
    with screen.status("drawing"):
        page = write_report(recording, out or file.with_suffix(""))
    if as_json:
        typer.echo(json.dumps({**summary, "report": str(page)}, indent=2))
    else:
        show_summary(summary, screen)
        screen.print(f"\nreport  {page}", soft_wrap=True)
    if recording.damage:
        raise typer.Exit(FAILED)


def _compare(file: Path, against: Path, out: Path | None, as_json: bool) -> None:
    """A page of two recordings, and what was set differently here."""
    from ur_admittance.report.comparison import differences, write_comparison
    from ur_admittance.telemetry.recording import read

    with console().status("reading and drawing"):
        one, other = read(file), read(against)
        folder = out or file.with_name(f"{file.stem} against {against.stem}")
        page = write_comparison(one, other, folder)
    different = differences(one, other)
    if as_json:
        told = {name: values for name, *values in different}
        typer.echo(json.dumps({"different": told, "report": str(page)}, indent=2))
    else:
        for name, before, now in different:
            typer.echo(f"{name}: {before} → {now}")
        typer.echo(f"report  {page}")
    if one.damage or other.damage:
        raise typer.Exit(FAILED)
