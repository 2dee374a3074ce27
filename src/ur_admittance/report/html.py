"""What all pages are made of: plain CSS, pictures inside, nothing fetched, everything escaped."""

from __future__ import annotations

import base64
import importlib
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ur_admittance.errors import RobotError, needs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark; --ink: #1d2530; --soft: #5c6773; --line: #dfe3e8; --card: #f6f7f9;
  --back: #fff; --good: #1e7d3c; --bad: #c02a2a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3adb8; --line: #343b45;
  --card: #1e242c; --back: #14181d; --good: #62c983; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 74rem; background: var(--back);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; }
h2 { margin: 2.6rem 0 .3rem; font-size: 1.2rem; }
p { margin: .4rem 0 .8rem; max-width: 62rem; }
.soft, figcaption, th, dt { color: var(--soft); }
.lead { font-size: 1.05rem; }
ul.findings { list-style: none; margin: 1.2rem 0; padding: 0; }
ul.findings li { padding: .1rem 0; }
.good { color: var(--good); } .bad { color: var(--bad); } .good, .bad { font-weight: 600; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .6rem;
  margin: 1.2rem 0; }
dl div { padding: .55rem .8rem; border-radius: .5rem; background: var(--card); }
dt { font-size: .8rem; } dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; }
dd small { color: var(--soft); font-size: .8rem; }
figure { margin: .6rem 0 0; }
figure img { display: block; width: 100%; height: auto; padding: .4rem; border-radius: .5rem;
  border: 1px solid var(--line); background: #fff; }
figcaption { margin-top: .4rem; max-width: 62rem; font-size: .9rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 500; white-space: nowrap; }
pre { overflow-x: auto; padding: .8rem 1rem; border-radius: .5rem; background: var(--card);
  font-size: .82rem; }
summary { cursor: pointer; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""


def document(title: str, *parts: str) -> str:
    """A whole page below its title; parts that are empty are left out."""
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def figure(name: str, png: bytes, caption: str) -> str:
    """A picture with what there is to see in it."""
    image = base64.b64encode(png).decode()
    return (
        f'<figure><img alt="{escape(name)}" src="data:image/png;base64,{image}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def cards(*cells: tuple[str, ...]) -> str:
    """Numbers at a glance: name, value, and what is smaller beside it, if anything."""
    rows = ""
    for name, value, *more in cells:
        small = f" <small>{escape(more[0])}</small>" if more else ""
        rows += f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{small}</dd></div>"
    return f"<dl>{rows}</dl>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, its cells escaped."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead>\n{body}</table></div>'


def save(folder: str | Path, text: str, pictures: Mapping[str, bytes] = {}) -> Path:
    """Write index.html, and PNGs beside it, into a folder that is made if it is not there.

    Raises:
        RobotError: it cannot be written to.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            (folder / f"{name}.png").write_bytes(picture)
        (folder / "index.html").write_text(text, "utf-8")
    except OSError as error:
        raise RobotError(f"report: {folder} cannot be written to: {error.strerror}") from None
    return folder / "index.html"


# --- pictures ---


def plots() -> Any:
    """The module `plots`, or how to get what it draws with."""
    with needs("report: needs matplotlib", "record"):
        return importlib.import_module("ur_admittance.report.plots")


def png(figure: Figure) -> bytes:
    """A figure as the bytes of a PNG file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return file.getvalue()
