"""The report as one HTML page: plain CSS, pictures inside, nothing fetched, everything escaped."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from ur_admittance.report.rendering import CAUSES
from ur_admittance.report.summary import duration_words, gain_units, number, percent

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording

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

_READ = {
    "force_and_motion": (
        "Force and motion",
        "Force and torque at the probe, and what the probe did, all in base axes: along each axis "
        "a push should be followed by a speed of the same sign. Pale: the force before filter and "
        "deadband; bold: what the law felt.",
    ),
    "commanded_and_measured": (
        "Commanded against measured",
        "Pale: the commanded pose C and the joint reference; bold: the measured pose P and joints. "
        "The error should be small and return to zero; an error that grows with speed is the arm's "
        "lag, one that stays is something in its way.",
    ),
    "limits_and_modes": (
        "Limits and modes",
        "When a limit held the arm back, and when it held or stopped; on the right, for how much "
        "of the time. A limit that is always active shapes the feel more than M, D and K do.",
    ),
    "timing": (
        "Timing",
        "How many ticks took how long, on a logarithmic scale: the time between two states, the "
        "tick itself, and from the arrival of a wrench to the command handed over.",
    ),
    "rendered_and_ideal": (
        "Rendered against ideal",
        "Left, for each axis of the law that moved: what the configured M, D and K would have done "
        "under the force that was felt (pale), and what the tool did (bold); above it the gains, "
        "configured → as the motion shows them. Right: the difference, split into what the arm "
        "made of its commands, what limits took away, and what pose tracking added.",
    ),
}

_AXES = {
    "probe": "those of the desired pose (admittance.frame: probe)",
    "base": "those of the base (admittance.frame: base)",
}


def page(
    recording: Recording,
    summary: Mapping[str, Any],
    title: str,
    findings: Sequence[tuple[str, bool, str]],
    pictures: Mapping[str, bytes],
) -> str:
    """The whole page; `pictures` are PNGs by the names of the functions that drew them."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(_subtitle(recording, summary))}</p>',
        _findings(findings),
        _reason(recording),
        f'<p class="lead">{escape(summary["cause"])}</p>',
        _numbers(summary),
    ]
    below = {
        "limits_and_modes": _events(summary),
        "timing": _timing(summary),
        "rendered_and_ideal": _gains(summary),
    }
    if not pictures:
        parts.append("<p>There are too few ticks to draw.</p>")
    for name, png in pictures.items():
        heading, how = _READ[name]
        if name == "rendered_and_ideal":
            how += f" Axes: {_AXES[recording.config.admittance.frame]}."
        image = base64.b64encode(png).decode()
        parts.append(
            f"<h2>{escape(heading)}</h2>\n<figure>"
            f'<img alt="{escape(heading)}" src="data:image/png;base64,{image}">'
            f"<figcaption>{escape(how)}</figcaption></figure>{below.get(name, '')}"
        )
    parts += [_changes(summary), _configuration(recording)]
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _subtitle(recording: Recording, summary: Mapping[str, Any]) -> str:
    words = [summary["robot"], summary["model"], f"{summary['seconds']:.1f} s"]
    words.append(f"{summary['ticks']} ticks at {summary['rate']:g} Hz")
    if recording.path.exists():
        date = datetime.fromtimestamp(recording.path.stat().st_mtime)
        words.append(f"{date:%Y-%m-%d %H:%M}")
    words += [summary["file"], f"ur-admittance {summary['version']}"]
    if not summary["finished"]:
        words.append("cut off")
    if summary["damage"]:
        words.append(summary["damage"])
    return " · ".join(dict.fromkeys(words))


def _reason(recording: Recording) -> str:
    """Why it was stopped, and what to do about that."""
    if recording.reason is None:
        return ""
    return f'<p class="lead"><span class="bad">Ended</span> {escape(str(recording.reason))}</p>'


def _findings(findings: Sequence[tuple[str, bool, str]]) -> str:
    rows = [
        f'<li><span class="{"good" if passed else "bad"}">{"✓" if passed else "✗"}</span> '
        f'{escape(what)} <span class="soft">{escape(words)}</span></li>'
        for what, passed, words in findings
    ]
    return f'<ul class="findings">{"".join(rows)}</ul>' if rows else ""


def _numbers(summary: Mapping[str, Any]) -> str:
    """The numbers that are asked for first."""
    force, torque, speed = summary["force"], summary["torque"], summary["speed"]
    arm, energy = summary["arm"], summary["energy"]
    cells = [
        ("force", f"{force['peak']:.1f} N", f"mean {force['mean']:.1f}"),
        ("torque", f"{torque['peak']:.2f} Nm", f"mean {torque['mean']:.2f}"),
        ("speed", f"{1e3 * speed['peak']:.0f} mm/s", f"mean {1e3 * speed['mean']:.0f}"),
        ("moved", f"{1e3 * summary['distance']:.0f} mm", ""),
        ("turned", f"{math.degrees(summary['turned']):.0f} deg", ""),
        ("work put in", f"{energy['put_in']:.2f} J", f"given beyond it {energy['given']:.2f} J"),
        ("limits active", percent(summary["limited"]), ""),
        ("the arm follows", f"{1e3 * arm['late']:.0f} ms late" if arm else "cannot be told", ""),
        ("late states", str(summary["late"]), f"{summary['missed']} missed"),
        ("lost records", str(summary["lost"]), ""),
        ("ended", str(summary["mode"]), ""),
    ]
    rows = [
        f"<div><dt>{name}</dt><dd>{escape(value)} <small>{escape(more)}</small></dd></div>"
        for name, value, more in cells
    ]
    return f"<dl>{''.join(rows)}</dl>"


def _events(summary: Mapping[str, Any]) -> str:
    rows = []
    for event in summary["events"]:
        unit = event["unit"]
        value, limit = (
            "" if event[k] is None else f"{number(event[k])} {unit}" for k in ("value", "limit")
        )
        what = event["reaction"], event["name"], event["words"]
        rows.append((f"{event['time']:.3f} s", *what, value, limit))
    if not rows:
        return '<p class="soft">No warning, no hold, no stop.</p>'
    left_out = summary["event_count"] - len(rows)
    more = f'<p class="soft">and {left_out} more</p>' if left_out else ""
    return table(("time", "reaction", "name", "what", "seen", "allowed"), rows) + more


def _timing(summary: Mapping[str, Any]) -> str:
    rows = [
        (name, *(duration_words(seconds) for seconds in found.values()))
        for name, found in summary["timing"].items()
        if found
    ]
    return table(("", "p50", "p99", "p99.9", "max"), rows)


def _gains(summary: Mapping[str, Any]) -> str:
    rows = []
    for fit in summary["admittance"]:
        units = gain_units(fit["axis"])
        cells = [fit["axis"]]
        for name, unit in zip("MDK", units, strict=True):
            found = fit["rendered"][name]
            words = f"{number(fit['configured'][name])} → {'?' if found is None else number(found)}"
            cells.append(f"{words} {unit}" if fit["configured"][name] else "0")
        cells.append(percent(fit["difference"]))
        cells += [percent(fit["causes"][name]) for name in CAUSES]
        rows.append((*cells, percent(fit["filtering"])))
    head = ("axis", "mass", "damping", "stiffness", "differs", *(f"by {name}" for name in CAUSES))
    note = (
        '<p class="soft">Root mean squares, as shares of the ideal speed; causes may cancel each '
        "other. '?': the motion does not tell. Filter and deadband act before the law and are no "
        "part of the difference.</p>"
    )
    if summary["stretch"]:
        first, last = summary["stretch"]
        note += (
            f'<p class="soft">Gains were changed: mass, damping and stiffness are those of the '
            f"longest stretch without a change, {first:.2f} to {last:.2f} s; the differences are "
            "those of the whole run, each tick held against the gains it had.</p>"
        )
    return table((*head, "filter, deadband"), rows) + note if rows else ""


def _changes(summary: Mapping[str, Any]) -> str:
    """Each stretch with what was changed at its start."""
    rows, last = [], ""
    for change in summary["changes"]:
        start = f"from {change['time']:.3f} s"
        when, last = "" if start == last else start, start
        rows.append((when, change["name"], str(change["before"]), str(change["now"])))
    changed = table(("stretch", "parameter", "before", "now"), rows)
    return f"<h2>Changed while running</h2>{changed}" if rows else ""


def _configuration(recording: Recording) -> str:
    yaml = escape(recording.config.to_yaml())
    return (
        "<h2>Configuration</h2>\n<details><summary>as it was at the first tick</summary>"
        f"<pre>{yaml}</pre></details>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, its cells escaped."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead>\n{body}</table></div>'
