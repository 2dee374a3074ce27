"""The report of a recording as one HTML page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from ur_admittance.report.html import cards, document, figure, table
from ur_admittance.report.rendering import CAUSES
from ur_admittance.report.summary import duration_words, gain_units, gain_words, number, percent

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording

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
    below = {
        "limits_and_modes": _events(summary),
        "timing": _timing(summary),
        "rendered_and_ideal": _gains(summary),
    }
    shown = [] if pictures else ["<p>There are too few ticks to draw.</p>"]
    for name, png in pictures.items():
        heading, how = _READ[name]
        if name == "rendered_and_ideal":
            how += f" Axes: {_AXES[recording.config.admittance.frame]}."
        shown.append(
            f"<h2>{escape(heading)}</h2>\n{figure(heading, png, how)}{below.get(name, '')}"
        )
    return document(
        title,
        f'<p class="soft">{escape(_subtitle(recording, summary))}</p>',
        _findings(findings),
        _reason(recording),
        f'<p class="lead">{escape(summary["cause"])}</p>',
        _numbers(summary),
        *shown,
        _changes(summary),
        _configuration(recording),
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
    return cards(
        ("force", f"{force['peak']:.1f} N", f"mean {force['mean']:.1f}"),
        ("torque", f"{torque['peak']:.2f} Nm", f"mean {torque['mean']:.2f}"),
        ("speed", f"{1e3 * speed['peak']:.0f} mm/s", f"mean {1e3 * speed['mean']:.0f}"),
        ("moved", f"{1e3 * summary['distance']:.0f} mm"),
        ("turned", f"{math.degrees(summary['turned']):.0f} deg"),
        ("work put in", f"{energy['put_in']:.2f} J", f"given beyond it {energy['given']:.2f} J"),
        ("limits active", percent(summary["limited"])),
        ("the arm follows", f"{1e3 * arm['late']:.0f} ms late" if arm else "cannot be told"),
        ("late states", str(summary["late"]), f"{summary['missed']} missed"),
        ("lost records", str(summary["lost"])),
        ("ended", str(summary["mode"])),
    )


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
        units = dict(zip("MDK", gain_units(fit["axis"]), strict=True))
        cells = [fit["axis"]]
        cells += [gain_words(fit["configured"][g], fit["rendered"][g], units[g]) for g in "MDK"]
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
