"""What a state says of the robot: may the arm be commanded, and if not, why and what to do."""

from __future__ import annotations

from typing import NamedTuple

from ur_admittance.faults import StopReason
from ur_admittance.robots.modes import ROBOT_MODES, ROBOT_RUNNING, SAFE_MODES, SAFETY_MODES
from ur_admittance.robots.rtde.script import RUNS, WHY

STOPPED_BITS = 0x7FC  # of `safety_status_bits`: all but normal and reduced
TEACH_BUTTON = 1 << 2  # of `robot_status_bits`
PLAYING = 2
THERE = (2, 3, 4, 5)  # runtime states in which a program plays, or is paused
RUNTIME = {
    0: "is stopping", 1: "was stopped", 3: "is pausing", 4: "is paused", 5: "is being resumed",
}  # fmt: skip
NAMES = ("robot_mode", "safety_mode", "safety_status_bits", "runtime_state", "robot_status_bits")
_CLEAR = "clear it on the pendant, then start again"
_WHAT_TO_DO = {
    3: "see what the arm ran into, free it, unlock it on the pendant, and start again",
    5: "close the safeguard (door, light curtain), then start again",
    6: "see why, release the emergency stop, bring the robot up on the pendant, and start again",
    7: "see why, release the emergency stop, bring the robot up on the pendant, and start again",
    12: "close the safeguard, then start again",
    13: "hold the enabling device in its middle position, then start again",
}


class Status(NamedTuple):
    """The whole numbers of a state, in the order of its recipe."""

    robot_mode: int
    safety_mode: int
    safety_bits: int
    runtime_state: int
    robot_bits: int
    program: int  # what our script says of itself
    session: int
    why: int
    taken: int  # number of the last command it took

    @property
    def plausible(self) -> bool:
        """Whether a controller can be in such a state at all."""
        return (
            -1 <= self.robot_mode <= 20
            and 0 <= self.safety_mode <= 20
            and 0 <= self.runtime_state <= 10
            and 0 <= self.safety_bits < 1 << 16
            and 0 <= self.robot_bits < 1 << 16
        )

    @property
    def fine(self) -> bool:
        """Whether the robot and its safety allow motion, and its program runs."""
        return (
            self.robot_mode == ROBOT_RUNNING
            and self.safety_mode in SAFE_MODES
            and not self.safety_bits & STOPPED_BITS
            and self.runtime_state == PLAYING
            and not self.robot_bits & TEACH_BUTTON
        )

    def robot_problem(self) -> StopReason | None:
        """Why the robot cannot move, and what to do; or None."""
        if self.safety_mode not in SAFE_MODES:
            words = SAFETY_MODES.get(self.safety_mode, "unknown")
            advice = _WHAT_TO_DO.get(self.safety_mode, _CLEAR)
            return StopReason.of("robot", f"the robot's safety has stopped it ({words})", advice)
        if self.safety_bits & STOPPED_BITS:
            words = f"the robot's safety has stopped it (status bits {self.safety_bits:#x})"
            return StopReason.of("robot", words, _CLEAR)
        if self.robot_mode != ROBOT_RUNNING:
            words = ROBOT_MODES.get(self.robot_mode, "unknown")
            advice = "switch the arm on and release its brakes on the pendant, then start again"
            return StopReason.of("robot", f"the robot is not running ({words})", advice)
        if self.robot_bits & TEACH_BUTTON:
            words = "the arm is being moved by hand (freedrive)"
            return StopReason.of("robot", words, "let it go, and start again")
        return None

    def program_problem(self, session: int) -> StopReason | None:
        """Why our program does not move the arm, and what to do; or None."""
        words, advice = "has ended", "start again"
        if self.session != session:
            words = "another controller has taken over the robot (its program is of session "
            words += f"{self.session}, ours {session})"
            return StopReason.of("robot", words, "end the other one, then start again")
        if self.why:
            words += f": {WHY.get(self.why, f'reason {self.why}')}"
            advice = "see to that, then start again"
        elif self.runtime_state != PLAYING:
            words = RUNTIME.get(self.runtime_state, f"is in state {self.runtime_state}")
            advice = "start again when the arm may move"
        elif self.program == RUNS:
            return None
        return StopReason.of("robot", f"the program on the robot {words}", advice)
