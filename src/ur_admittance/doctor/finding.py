"""One thing that was looked at, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARN, WRONG = "ok", "warn", "wrong"


@dataclass(frozen=True)
class Finding:
    """What was found."""

    what: str  # was looked at
    state: str  # 'ok', 'warn' or 'wrong'
    value: str  # as it is, with its unit
    should: str = ""  # as it should be; "" if it is
    mend: str = ""  # command or pendant action that puts it right; "" if nothing is wrong


def judged(
    what: str, value: str, *, good: bool, should: str, mend: str, bad: str = WARN
) -> Finding:
    """`ok`, or else `bad` with what should be and what mends it."""
    return Finding(what, OK, value) if good else Finding(what, bad, value, should, mend)
