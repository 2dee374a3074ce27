"""Strings, and what a script tells people."""

from __future__ import annotations

from typing import Any

from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import LONGEST_TEXT, kind, text_of, whole


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ScriptError(f"type error: expected a string, got {kind(value)}")


def _bounded(value: str) -> str:
    if len(value) > LONGEST_TEXT:
        raise ScriptError(f"a string may have {LONGEST_TEXT} characters at most")
    return value


def str_cat(rt: Any, op1: Any, op2: Any) -> str:
    return _bounded(text_of(op1) + text_of(op2))


def to_str(rt: Any, val: Any) -> str:
    return _bounded(text_of(val))


def str_len(rt: Any, str: Any) -> int:
    return len(_text(str))


def str_empty(rt: Any, str: Any) -> bool:
    return not _text(str)


def str_at(rt: Any, src: Any, index: Any) -> str:
    text, n = _text(src), whole(index)
    if not 0 <= n < len(text):
        raise ScriptError(f"str_at: index {n} is out of range")
    return text[n]


def str_find(rt: Any, src: Any, target: Any, start_from: Any = 0) -> int:
    return _text(src).find(_text(target), max(0, whole(start_from)))


def str_sub(rt: Any, src: Any, index: Any, len: Any = -1) -> str:
    text, n, count = _text(src), whole(index), whole(len)
    if n < 0 or n > _length(text):
        raise ScriptError(f"str_sub: index {n} is out of range")
    return text[n:] if count < 0 else text[n : n + count]


def _length(text: str) -> int:
    return len(text)


def to_num(rt: Any, str: Any) -> float:
    text = _text(str).strip()
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise ScriptError(f"to_num: {text!r:.40} is no number") from None


def chr_(rt: Any, code: Any) -> str:
    n = whole(code)
    if not 0 < n < 256:
        raise ScriptError(f"chr: 1 to 255, got {n}")
    return chr(n)


def textmsg(rt: Any, s1: Any, s2: Any = "") -> None:
    """A line in the log."""
    rt.machine.say("text", text_of(s1) + text_of(s2))


def popup(
    rt: Any,
    s: Any,
    title: Any = "Popup",
    warning: Any = False,
    error: Any = False,
    blocking: Any = False,
) -> Any:
    """A message on the pendant; with `blocking` the thread waits for the answer."""
    machine = rt.machine
    machine.show_popup(
        text_of(s),
        text_of(title),
        warning=bool(warning),
        error=bool(error),
        blocking=bool(blocking),
    )
    shown = machine.popup
    if blocking:
        while machine.popup is shown:
            yield
    return None
    yield
