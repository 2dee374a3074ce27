"""Signs for terminals and files that take no UTF-8: the nearest in ASCII, never an error."""

from __future__ import annotations

import codecs
import io
from typing import Any

ALIKE = {
    **{"✓": "+", "✗": "x", "●": "o", "→": ">", "←": "<", "↑": "^", "↓": "v", "…": "~", "·": "."},
    **{"²": "2", "³": "3", "µ": "u", "μ": "u", "°": "d", "±": "~"},
    **{"█": "#", "─": "-", "━": "-", "│": "|", "┃": "|", "╸": "-", "╺": "-", "\u2800": " "},
    **dict.fromkeys("▏▎▍▌▋▊▉", "#"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
}
_NAME = "ur_admittance.plain"


def degrade(*streams: Any) -> None:
    """Let streams replace each sign that their encoding lacks by one of the same width."""
    codecs.register_error(_NAME, _replace)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_alike, error.object[error.start : error.end])), error.end


def _alike(sign: str) -> str:
    dots = 0x2800 < ord(sign) < 0x2900  # braille: the pictures
    return "." if dots else ALIKE.get(sign, "?")
