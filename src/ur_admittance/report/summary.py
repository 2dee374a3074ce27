"""A recording in numbers: what happened, how punctual it was, and how well the law was rendered."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller import MODES
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits
from ur_admittance.kernel.check import GAP, LONGEST_DT
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.report.admittance_fit import passed
from ur_admittance.report.rendering import (
    Rendering,
    configurations,
    force_at_probe,
    measured_twist,
)

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording

MOST_EVENTS = 100  # that are listed
_NAMED = 0.01  # of the ideal motion: smaller causes are not worth words
_EXACT_GAIN = 0.03  # how far from 1 an arm's gain may be before it is told


def timeline(records: np.ndarray) -> np.ndarray:
    """(ticks,) s since the first record, on the robot's clock where the loop noted it."""
    arrived = records["timing"]["arrived"]
    if len(arrived) > 1 and (np.diff(arrived) > 0).all():
        return arrived - arrived[0]
    passed = np.cumsum(np.nan_to_num(records["dt"]))
    return passed - passed[:1]


def durations(records: np.ndarray) -> dict[str, np.ndarray]:
    """What a loop measured, s: between two states, the tick, and from a wrench to its command."""
    timing = records["timing"]
    return {
        "period": records["inputs"]["dt"][np.isfinite(records["inputs"]["dt"])],
        "tick": timing["tick"][timing["tick"] > 0],
        "reaction": timing["reaction"][timing["reaction"] > 0],
    }


def quantiles(seconds: np.ndarray) -> dict[str, float]:
    """The usual ones, s; none of nothing."""
    shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
    return {k: float(np.quantile(seconds, q)) for k, q in shares.items()} if len(seconds) else {}


def duration_words(seconds: float) -> str:
    """A duration with its unit: 9.3 µs, 2.04 ms."""
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")
    return f"{seconds * scale:.3g} {unit}"


def summary_of(recording: Recording, rendered: Rendering) -> dict[str, Any]:
    """Plain numbers and words, in SI units: what `report.summarise` returns."""
    r = recording.records
    t = timeline(r)
    last = r[-1] if len(r) else None
    force = force_at_probe(recording)
    V, dt = measured_twist(r), passed(r)
    status, response = r["status"], rendered.response
    events, event_count = events_of(recording)
    return {
        "file": recording.path.name,
        "robot": recording.robot,
        "model": recording.model.name,
        "rate": recording.rate,
        "version": recording.version,
        "finished": recording.finished,
        "damage": recording.damage_words(),
        "ticks": len(r),
        "seconds": float(t[-1]) if len(t) else 0.0,
        "lost": recording.lost,
        "late": int(last["timing"]["late"]) if last is not None else 0,
        "missed": int(last["timing"]["missed"]) if last is not None else 0,
        "mode": MODES[int(last["mode"])] if last is not None else "inactive",
        "reason": recording.reason and recording.reason.as_dict(),
        "force": _peak_and_mean(force[:, LINEAR]),
        "torque": _peak_and_mean(force[:, ANGULAR]),
        "speed": _peak_and_mean(V[:, LINEAR]),
        "angular_speed": _peak_and_mean(V[:, ANGULAR]),
        "distance": float(np.nansum(np.linalg.norm(V[:-1, LINEAR], axis=1) * dt)),
        "turned": float(np.nansum(np.linalg.norm(V[:-1, ANGULAR], axis=1) * dt)),
        "energy": {
            "put_in": float(last["energy"]) if last is not None else 0.0,
            "given": float(r["energy_given"].max(initial=0.0)),
        },
        "limited": _share((status & bits.LIMITS) != 0),
        "limits": {
            fault.name: _share((status & fault.mask) != 0)
            for fault in FAULTS
            if fault.reaction == "limit" and (status & fault.mask).any()
        },
        "modes": {
            name: _share(r["mode"] == n) for n, name in enumerate(MODES) if (r["mode"] == n).any()
        },
        "events": events,
        "event_count": event_count,
        "changes": changes_of(recording),
        "timing": {name: quantiles(seconds) for name, seconds in durations(r).items()},
        "arm": response and {"late": response.late, **dataclasses.asdict(response)},
        "frame": recording.config.admittance.frame,
        "stretch": [float(t[k]) for k in rendered.stretch] if rendered.stretch else None,
        "admittance": [
            {
                "axis": fit.name,
                "configured": dict(zip("MDK", fit.configured, strict=True)),
                "rendered": dict(zip("MDK", fit.rendered, strict=True)),
                "difference": fit.difference,
                "causes": dict(fit.causes),
                "filtering": fit.filtering,
            }
            for fit in rendered.axes
        ],
        "cause": cause_of(rendered),
    }


def cause_of(rendered: Rendering) -> str:
    """One or two sentences: by how much the motion differs from the ideal one, and why."""
    if not rendered.axes:
        return "The tool moved too little to hold its motion against M, D and K."
    worst = max(rendered.axes, key=lambda fit: fit.difference)
    if worst.difference < _NAMED:
        text = f"The tool moved as M, D and K ask for, within {percent(worst.difference)}"
    else:
        text = "The tool's motion differs from the ideal response of M, D and K by up to "
        words, least = _cause_words(rendered), max(_NAMED, 0.1 * worst.difference)
        named = [n for n in words if worst.causes[n] >= least]
        named.sort(key=lambda n: -worst.causes[n])
        text += f"{percent(worst.difference)} ({worst.name}): "
        text += "; ".join(words[name] for name in named)
    before = []
    if rendered.filter_seconds > 0:
        before.append(f"the filter delays the force by {duration_words(rendered.filter_seconds)}")
    if rendered.deadband >= _NAMED:
        before.append(f"the deadband takes {percent(rendered.deadband)} of it")
    return f"{text}." + (f" Before the law, {' and '.join(before)}." if before else "")


def _cause_words(rendered: Rendering) -> dict[str, str]:
    arm = "the arm does not follow its commands exactly"
    response = rendered.response
    if response is not None and response.late >= 5e-4:
        arm = f"the arm follows its commands {1e3 * response.late:.0f} ms late"
    if response is not None and abs(response.gain - 1) > _EXACT_GAIN:
        arm += f" at {response.gain:.0%} of their speed"
    return {
        "arm": arm,
        "limits": f"limits held it back {percent(rendered.limited)} of the time",
        "tracking": "pose tracking added its correction",
    }


def events_of(recording: Recording) -> tuple[list[dict[str, Any]], int]:
    """The first warnings, holds and stops, each when it began: what, when, in words, and the value
    that broke which limit, where there is one. And how many there were in all.
    """
    status, t = recording.records["status"], timeline(recording.records)
    before = np.concatenate([[0], status[:-1]])[: len(status)]
    new = status & ~before & ~bits.LIMITS
    reason = recording.reason  # why somebody asked for a stop is not in the records
    said = {"stop_requested": reason.text} if reason else {}
    configs, events = configurations(recording), []
    for k in np.flatnonzero(new)[:MOST_EVENTS]:
        config = [config for first, config in configs if first <= k][-1]
        for fault in (fault for fault in FAULTS if int(new[k]) & fault.mask):
            value, limit, unit = _measure(recording, config, k, fault.name) or (None, None, "")
            events.append(
                {
                    "time": float(t[k]),
                    "name": fault.name,
                    "reaction": fault.reaction,
                    "words": said.get(fault.name, fault.words),
                    "value": value,
                    "limit": limit,
                    "unit": unit,
                }
            )
    return events[:MOST_EVENTS], sum(int(bit_pattern).bit_count() for bit_pattern in new[new != 0])


def _measure(
    recording: Recording, config: Config, k: int, name: str
) -> tuple[float, float, str] | None:
    """What was seen, what is allowed, and the unit of both."""
    record, safety = recording.records[k], config.safety
    dt, age = float(record["inputs"]["dt"]), float(record["inputs"]["wrench_age"])
    if name == "bad_dt":
        return dt, LONGEST_DT, "s"
    if name == "time_gap":
        return dt, GAP / recording.rate, "s"
    if name in ("wrench_stale", "wrench_lost"):
        most = safety.wrench_timeout if name == "wrench_stale" else safety.lost_timeout
        return max(age, _silence(recording.records, k)), most, "s"
    if name == "over_force":
        return float(np.linalg.norm(_uncut(recording, config, k)[LINEAR])), safety.max_force, "N"
    if name == "over_torque":
        return float(np.linalg.norm(_uncut(recording, config, k)[ANGULAR])), safety.max_torque, "Nm"
    if name == "not_following":
        behind = float(np.linalg.norm(record["error"][LINEAR]))
        return behind, safety.max_tracking_error, "m"
    return None


def _silence(records: np.ndarray, k: int) -> float:
    """s since the last wrench that was a number."""
    good = np.flatnonzero(np.isfinite(records["wrench"][: k + 1]).all(axis=1))
    since = int(good[-1]) + 1 if len(good) else 0
    return float(records["dt"][since : k + 1].sum())


def _uncut(recording: Recording, config: Config, k: int) -> np.ndarray:
    """(6,) the wrench in S without bias and weight, as it was before it was cut to its maximum."""
    record, payload = recording.records[k], config.payload
    X_PS = np.linalg.inv(recording.model.X_EP) @ recording.model.X_ES
    R_WS = record["X_WP"][:3, :3] @ X_PS[:3, :3]
    weight = payload.mass * R_WS.T @ np.array(payload.gravity)
    torque = np.cross(payload.center_of_mass, weight)
    bias = np.array([*payload.force_bias, *payload.torque_bias])
    return record["wrench"] - bias - np.concatenate([weight, torque])


def changes_of(recording: Recording) -> list[dict[str, Any]]:
    """Every parameter that was changed live: when, which, before and now."""
    t, found = timeline(recording.records), configurations(recording)
    rows = []
    for (_, before), (k, now) in itertools.pairwise(found):
        old, new = before.flat(), now.flat()
        for name in (name for name in new if new[name] != old[name]):
            rows.append({"time": float(t[k]), "name": name, "before": old[name], "now": new[name]})
    return rows


def _peak_and_mean(vectors: np.ndarray) -> dict[str, float]:
    """Of the lengths of (n, 3) vectors, without those that are not numbers."""
    sizes = np.linalg.norm(vectors, axis=1)
    sizes = sizes[np.isfinite(sizes)]
    if not len(sizes):
        return {"peak": 0.0, "mean": 0.0}
    return {"peak": float(sizes.max()), "mean": float(sizes.mean())}


def _share(flags: np.ndarray) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def percent(share: float) -> str:
    """Such as 3.4 % or 12 %; what is small but there is not called nothing."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def number(value: float) -> str:
    """Three digits, and no exponent for what has a few more."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def gain_words(configured: float, rendered: float | None, unit: str = "") -> str:
    """A gain as it was set, and as the motion shows it: 8 → 9.7 kg."""
    if not configured:
        return "0"
    shown = "?" if rendered is None else number(rendered)
    return f"{number(configured)} → {shown} {unit}".rstrip()


def gain_units(axis: str) -> tuple[str, str, str]:
    """Of M, D and K of an axis."""
    return ("kg m²", "Nm s/rad", "Nm/rad") if axis.startswith("r") else ("kg", "N s/m", "N/m")
