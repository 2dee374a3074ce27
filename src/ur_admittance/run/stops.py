"""Why an arm was stopped, and what to do about it: the same words for every surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ur_admittance.faults import BY_NAME

PUNCTUAL = (
    "give the loop a real-time priority ('ur-admittance doctor' says whether it has one, and how "
    "late this machine wakes), or the machine less to do"
)
_UNKNOWN = "see what led to it, then start again"


class Reason(NamedTuple):
    """One reason of a stop."""

    why: str
    what_to_do: str


def reasons_of(words: Sequence[str], too_late: str = "") -> list[Reason]:
    """The reasons among what a controller says of its status (`Controller.status_words`).

    Whoever calls `Controller.stop(why)` may say there what to do, too, behind the last semicolon.

    Args:
        too_late: why the loop stopped the arm itself, if it did.
    """
    found = []
    for line in words:
        name, _, text = line.partition(": ")
        fault = BY_NAME.get(name)
        if fault is None or fault.reaction != "stop":
            continue
        if name == "stop_requested":
            found.append(_requested(text, too_late))
        else:
            found.append(Reason(line, fault.recovery.replace("reset()", "start again")))
    return found


def told(reasons: Sequence[Reason]) -> str:
    """All of them in one line."""
    return "; ".join(f"{why}; what to do: {what}" for why, what in reasons)


def _requested(text: str, too_late: str) -> Reason:
    """A stop that was asked for: `stop() was called (why; what to do)`."""
    said = text.removeprefix(BY_NAME["stop_requested"].words).strip()
    why = said.removeprefix("(").removesuffix(")") or too_late or text
    if too_late and too_late in why:
        return Reason(why, PUNCTUAL)
    head, _, advice = why.rpartition("; ")
    return Reason(head, advice) if head else Reason(why, _UNKNOWN)
