"""What the controller has to say on its primary interface."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

KEPT = 1000  # messages nobody has fetched; older ones are lost


@dataclass(frozen=True)
class Message:
    """One message of the controller.

    Attributes:
        kind: "text" (textmsg), "error" (error code), "key" (key message, such as a program that
            starts or stops), "popup", "close_popup" or "exception" (a program that failed).
        time: of the controller, s.
        text: what it says; the program's name for a key message.
        title: of a popup or key message.
        code, argument, level: of an error code: C<code>A<argument>, level 0 debug, 1 info,
            2 warning, 3 violation, 4 fault.
        line, column: where in the program an exception happened, from 1; -1 if unknown.
        warning, error, blocking: of a popup.
    """

    kind: str
    time: float
    text: str = ""
    title: str = ""
    code: int = 0
    argument: int = 0
    level: int = 0
    line: int = -1
    column: int = -1
    warning: bool = False
    error: bool = False
    blocking: bool = False


class Messages(deque):
    """The messages that wait to be sent, oldest first; bounded."""

    def __init__(self) -> None:
        super().__init__(maxlen=KEPT)
