"""What a stranger need not read in a bug report: addresses, names of machines, serial numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_FEWEST = 3  # letters of a name that is looked for; shorter ones are parts of words
_PATTERNS = (
    (re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b"), "ADDRESS"),
    (re.compile(r"\b[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){3,7}\b"), "ADDRESS"),  # IPv6, MAC
    (re.compile(r"\b20\d{9}\b"), "SERIAL"),  # of a UR arm: its year and nine digits
)


def masked(text: str, secrets: Iterable[tuple[str, str]] = ()) -> str:
    """The text without them, nor the `secrets`: each with what is written instead."""
    home = str(Path.home())
    for secret, instead in sorted([*secrets, (home, "~")], key=lambda pair: -len(pair[0])):
        if len(secret) >= _FEWEST:
            text = re.sub(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", instead, text)
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text
