"""`report`: a page with plots of a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.common import FAILED, AsJson, RecordingFile, console, explained


@explained()
def report(
    file: RecordingFile,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page; else the file's name without ending.")
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
