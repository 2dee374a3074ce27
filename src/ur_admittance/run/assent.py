"""Who may let an arm do what: one table of acts and surfaces, and one place that applies it.

An act comes through a surface: a person at a `terminal`, a `script` without one, somebody's own
`python`, the cockpit's `page`, another process through the `blackboard`, a node on a `ros` graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ur_admittance.errors import RobotError

FREE = "free"
ASKS = "asks"  # a person, who may say no; nobody there is a no
OPTION = "option"  # whoever starts the run permits it beforehand
NEVER = "never"
SURFACES = ("terminal", "script", "python", "page", "blackboard", "ros")


class Act(NamedTuple):
    """One thing that may need somebody's assent.

    Attributes:
        name: as in `permit`.
        does: what it is, behind "not permitted to".
        option: of the command line, that permits it; "" if none does.
        instead: what else a person can do, behind the option.
        question: that a person is asked.
        verbs: that have the option.
        simulated: whether a simulated arm, which hurts nobody, needs assent, too.
        terminal, script, python, page, blackboard, ros: how each surface gets it.
    """

    name: str
    does: str
    option: str = ""
    instead: str = ""
    question: str = ""
    verbs: tuple[str, ...] = ("run", "play")
    simulated: bool = False
    terminal: str = OPTION
    script: str = OPTION
    python: str = OPTION
    page: str = NEVER
    blackboard: str = NEVER
    ros: str = NEVER


ACTS = (
    Act(
        "start",
        "give way to force where the arm stands",
        terminal=FREE,
        script=FREE,
        python=FREE,
        ros=FREE,
    ),
    Act(
        "demo",
        "show what the arm does",
        question="May it?",
        terminal=ASKS,
        script=NEVER,
        python=FREE,
    ),
    Act(
        "travel",
        "travel to the equilibrium",
        "--allow-travel",
        "bring the arm near it first, or leave 'equilibrium' out",
        "Go there?",
        simulated=True,
        terminal=ASKS,
        ros=OPTION,
    ),
    Act(
        "lead",
        "lead the arm",
        "--yes",
        question="Is the arm free to go there?",
        verbs=("init", "calibrate", "identify"),
        terminal=ASKS,
        python=FREE,
    ),
    Act(
        "play",
        "play a path or follow a plan",
        "--yes",
        question="Is the arm free to go along it?",
        verbs=("play",),
        terminal=ASKS,
        python=FREE,
        ros=FREE,
    ),
    Act(
        "force",
        "set off by itself to press",
        "--allow-force",
        "set force.target to 0",
        "May it press?",
        terminal=ASKS,
        ros=OPTION,
    ),
    Act("stream", "stream force, axes or gains", "--allow-streams", python=FREE, ros=OPTION),
    Act(
        "loosen",
        "loosen limits, safety, payload or force from outside while the arm gives way",
        "--allow-loosening",
        simulated=True,
        terminal=FREE,
        script=FREE,
        python=FREE,
        page=OPTION,
        blackboard=OPTION,
        ros=OPTION,
    ),
    Act(
        "zero",
        "zero the sensor while the arm gives way",
        "--allow-loosening",
        simulated=True,
        terminal=FREE,
        script=FREE,
        python=FREE,
        page=OPTION,
        blackboard=OPTION,
        ros=OPTION,
    ),
    Act(
        "clear",
        "clear a stop",
        "--remote-reset",
        terminal=FREE,
        script=FREE,
        python=FREE,
        ros=OPTION,
    ),
    Act(
        "recover",
        "start before somebody has looked at an arm whose last program ended by itself",
        "--reset",
        question="Have you looked at the arm, and may it move?",
        terminal=ASKS,
    ),
    Act(
        "replace",
        "throw out the program that plays on the robot",
        "--replace-program",
        "stop it on the pendant",
    ),
    Act(
        "outside",
        "start with the tool outside the workspace box, from where it can only be moved inwards",
        "--allow-outside",
        "bring the tool inside, or move the wall",
        simulated=True,
        ros=OPTION,
    ),
    Act(
        "unguarded",
        "command velocities over ROS 2 without the guard process",
        "--no-guard",
        simulated=True,
        ros=OPTION,
    ),
)
"""What may need assent, and how each surface gets it. To stop an arm is free to everybody."""

BY_NAME = {act.name: act for act in ACTS}


class NotPermitted(RobotError):
    """An act that nobody agreed to; nothing has moved.

    Attributes:
        act: which one.
    """

    def __init__(self, message: str, act: Act) -> None:
        super().__init__(message)
        self.act = act


def nobody(question: str) -> bool:
    """Nobody is there to be asked."""
    return False


class Assent:
    """What those who started one run have agreed to."""

    def __init__(
        self,
        surface: str = "python",
        permit: Iterable[str] = (),
        *,
        ask: Callable[[str], bool] = nobody,
        tell: Callable[[str], None] = lambda line: None,
        verb: str = "run",
    ) -> None:
        """
        Args:
            surface: through which the run was started.
            permit: names of acts that are permitted beforehand, see `ACTS`.
            ask: asks a person, and says whether the answer was yes.
            tell: takes a line for that person.
            verb: who asks, for messages.
        """
        permit = {permit} if isinstance(permit, str) else set(permit)
        if wrong := sorted(permit - BY_NAME.keys()):
            raise RobotError(
                f"permit: there is no {', '.join(map(repr, wrong))}; there are {', '.join(BY_NAME)}"
            )
        if surface not in SURFACES:
            raise RobotError(f"assent: there is no surface {surface!r}, only {', '.join(SURFACES)}")
        self.surface, self.verb = surface, verb
        self._permit, self._ask, self._tell = permit, ask, tell

    def permits(self, name: str, surface: str = "") -> bool:
        """Whether an act needs nobody's answer any more, on this surface or another."""
        return name in self._permit or getattr(BY_NAME[name], surface or self.surface) == FREE

    def require(self, name: str, words: str = "", *, simulated: bool = False) -> None:
        """See that somebody agrees to an act: now, or beforehand. Who has agreed once is not asked
        again in the same run.

        Args:
            name: of the act.
            words: what is about to happen, and why, for whoever is asked.
            simulated: the arm is.

        Raises:
            NotPermitted: nobody does.
        """
        act = BY_NAME[name]
        if simulated and not act.simulated:
            return
        if self.permits(name):
            if words and getattr(act, self.surface) != FREE:
                self._tell(words)
            return
        asked = getattr(act, self.surface) == ASKS
        if asked:
            self._tell(words)
            if self._ask(act.question):
                self._permit.add(name)
                return
        raise NotPermitted(self._refusal(act, "" if asked else words), act)

    def _refusal(self, act: Act, words: str) -> str:
        ways = ", or ".join(filter(None, (self._way(act), act.instead)))
        parts = filter(None, (words, f"not permitted to {act.does}, nothing has moved", ways))
        return f"{self.verb}: {'; '.join(parts)}"

    def _way(self, act: Act) -> str:
        """How to have it permitted on this surface, by an option that the verb has; or ""."""
        answer = getattr(act, self.surface)
        if answer != NEVER and self.surface == "python":
            return f"permit={{{act.name!r}}} lets it"
        if answer != NEVER and act.option and self.verb in act.verbs:
            return f"{act.option} lets it"
        if self.surface == "script" and act.terminal == ASKS:
            return "at a terminal it asks"
        return f"not from a {self.surface}" if answer == NEVER else ""
