"""The way to the robot: round trip and jitter on a cable, topics and their senders on a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ur_admittance.doctor.finding import OK, WRONG, Finding, judged
from ur_admittance.doctor.stream import Heard
from ur_admittance.robots.ros2.place import Place

_ROUND_TRIP = 0.002  # s, of 99 %: a cycle of a UR controller
_JITTER = 0.25  # of a period, of 99 % of the states


def round_trip(took: np.ndarray) -> Finding:
    """From the times of questions and their answers, s (n,)."""
    middle, p99, worst = (float(np.quantile(took, share)) for share in (0.5, 0.99, 1.0))
    return judged(
        "round trip",
        f"{1e3 * middle:.2f} ms, 99 % within {1e3 * p99:.2f} ms, worst {1e3 * worst:.1f} ms",
        good=p99 <= _ROUND_TRIP,
        should=f"99 % within {1e3 * _ROUND_TRIP:.0f} ms",
        mend="a cable of its own from this computer to the robot: no Wi-Fi, no office switch",
        bad=WRONG if middle > _ROUND_TRIP else "warn",
    )


def jitter(heard: Heard) -> Finding:
    """How unevenly the states arrive here."""
    period = 1.0 / heard.rate
    off = np.abs(np.diff(heard.times) - period)
    p99 = float(np.quantile(off, 0.99))
    return judged(
        "jitter",
        f"99 % of the states within {1e3 * p99:.2f} ms of their period, worst "
        f"{1e3 * float(off.max()):.1f} ms",
        good=p99 <= _JITTER * period,
        should=f"99 % within {1e3 * _JITTER * period:.2f} ms",
        mend="network and load of this computer; real-time rights, and a run with --cpu",
    )


def differences(lines: Sequence[str]) -> Iterator[Finding]:
    """From what a robot says against a configuration: 'what: values; what to do'."""
    for line in lines:
        what, _, rest = line.partition(": ")
        said, _, action = rest.partition("; ")
        yield Finding(what, WRONG, said, "the same on both sides, and ready", action)


def graph(places: Sequence[Place], domain: str) -> Iterator[Finding]:
    """Of each topic of a run: whether there is somebody, one alone, and whom we understand."""
    for place in places:
        what, topic = place.what, place.topic
        nodes = ", ".join(other.node for other in place.others)
        role = "subscriber" if place.sends else "publisher"
        if not place.others:
            mend = (
                "load and activate that controller, or choose another output.mode"
                if place.sends
                else "start its driver; is it in the same domain, and on a network that lets "
                "multicast pass? ros2 topic list"
            )
            yield Finding(what, WRONG, f"no {role} on {topic} ({domain})", f"one {role}", mend)
            continue
        bad = [other for other in place.others if other.mismatch]
        if bad:
            yield Finding(
                what,
                WRONG,
                f"{topic}, {bad[0].node}: {bad[0].mismatch}",
                "type and quality of service that fit (ros2 topic info -v)",
                "change that node's; see docs/ros2-reference.md for ours",
            )
        elif len(place.others) > 1 and not place.sends:
            yield Finding(
                what,
                WRONG,
                f"{len(place.others)} publishers on {topic}: {nodes}",
                "one",
                "end the others",
            )
        elif place.rivals:
            yield Finding(
                what,
                WRONG,
                f"{', '.join(place.rivals)} publishes on {topic}, too",
                "nobody else",
                "end it, or deactivate its controller",
            )
        else:
            yield Finding(what, OK, f"{topic}: {nodes}")
