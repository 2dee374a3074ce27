"""Who is at the other end of a topic. No ROS is needed to read it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Endpoint:
    """A publisher or subscriber of another node.

    Attributes:
        node: its full name.
        mismatch: why nothing passes between it and us, in words; "" if it does.
    """

    node: str
    mismatch: str


@dataclass(frozen=True)
class Place:
    """A topic that a run needs.

    Attributes:
        what: it carries.
        topic: its name on this graph.
        sends: whether we publish there; else we listen.
        others: who is at the other end.
        rivals: other nodes that publish commands where we would.
    """

    what: str
    topic: str
    sends: bool
    others: tuple[Endpoint, ...]
    rivals: tuple[str, ...] = ()
