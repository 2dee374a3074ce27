"""What a person does to the controller: power, brakes, stops, the speed slider, popups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_fake.messages import Message
from ur_fake.modes import RobotMode, RuntimeState, SafetyMode
from ur_fake.safety import Safety, Stop

_POWERING = 250  # cycles that booting the arm, and releasing its brakes, take


class Pendant:
    """The actions that need a person, or a dashboard that acts for one.

    Attributes:
        robot_mode: RobotMode; safety: the safety system.
        popup: what the pendant shows, or None.
        remote_control: True in remote, False in local control.
        freedrive: whether the arm gives way to hands.
        speed_slider_mask, speed_slider_fraction: what an RTDE client sets;
            target_speed_fraction: the slider; speed_scaling: how much of its speed the motion has.
    """

    arm: Any
    motion: Any
    program: Any
    cycle: int
    time: float
    runtime_state: RuntimeState

    def __init__(self, safety: Safety) -> None:
        self.safety = safety
        self.remote_control = True
        self.robot_mode = RobotMode.POWER_OFF
        self.popup: Message | None = None
        self.speed_slider_mask, self.speed_slider_fraction = 0, 1.0
        self.target_speed_fraction, self.speed_scaling = 1.0, 1.0
        self.freedrive = False
        self._powering: tuple[RobotMode, int] | None = None
        self._safeguarded = False  # the program waits for the safeguard to close

    def say(self, kind: str, text: str, **fields: Any) -> Message:
        raise NotImplementedError

    def stop_program(self) -> None:
        raise NotImplementedError

    def pause_program(self) -> None:
        raise NotImplementedError

    def resume_program(self) -> bool:
        raise NotImplementedError

    def observe(self) -> None:
        raise NotImplementedError

    def aim(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Power on and release the brakes, at once: for tests and for a process that starts."""
        self._powering = None
        self.robot_mode = RobotMode.RUNNING

    def power_on(self) -> None:
        """Power to the arm: it is idle, brakes on, a moment later."""
        if self.robot_mode == RobotMode.POWER_OFF and self.safety.emergency is None:
            self.robot_mode = RobotMode.POWER_ON
            self._powering = (RobotMode.IDLE, self.cycle + _POWERING)

    def power_off(self) -> None:
        """The brakes fall in and the program ends."""
        self.stop_program()
        self.motion.freeze()
        self._powering, self.robot_mode = None, RobotMode.POWER_OFF
        self._safeguarded = False

    def brake_release(self) -> None:
        """Power on if need be, then release the brakes: the arm holds itself a moment later."""
        self.power_on()
        if self.robot_mode in (RobotMode.POWER_ON, RobotMode.IDLE):
            self._powering = (RobotMode.RUNNING, self.cycle + 2 * _POWERING)

    def protective_stop(self, reason: str = "Protective stop", code: int = 0, arg: int = 0) -> None:
        """Stop the arm at once and pause the program, until a person unlocks it."""
        if self.safety.protective is None:
            self.safety.protective = Stop(code, arg, reason)
            self.safety.protective_stop_time = self.time
            self.say("error", reason, code=code, argument=arg, level=3)
            self.motion.halt()
            self.pause_program()

    @property
    def protective_stop_time(self) -> float:
        """When the last protective stop was, s of the controller."""
        return self.safety.protective_stop_time

    def unlock_protective_stop(self) -> bool:
        """A person says the arm may move again. The program stays paused. False: nothing to do."""
        if self.safety.protective is None:
            return False
        self.safety.protective = None
        return True

    def safeguard_stop(self, active: bool = True) -> None:
        """Open (or close) the safeguard circuit: the program pauses and goes on after."""
        if active and self.program is not None and self.runtime_state == RuntimeState.PLAYING:
            self._safeguarded = True
            self.pause_program()
        self.safety.safeguard = bool(active)
        if not active and self._safeguarded:
            self._safeguarded = False
            self.resume_program()

    def emergency_stop(self, system: bool = False) -> None:
        """Press the emergency stop: of the robot, or of the system it is wired to."""
        modes = SafetyMode.ROBOT_EMERGENCY_STOP, SafetyMode.SYSTEM_EMERGENCY_STOP
        self.safety.emergency = modes[bool(system)]
        self.say("error", "Emergency stop", code=0, level=3)
        self.power_off()

    def release_emergency_stop(self) -> None:
        """Pull the button out again; the arm is still powered off."""
        self.safety.emergency = None

    def safety_violation(self) -> None:
        """A safety violation or fault: only `restart_safety` helps."""
        self.safety.violation = True
        self.power_off()

    def restart_safety(self) -> bool:
        """Restart the safety system after a violation or fault. False: there is none."""
        found = self.safety.violation
        self.safety.violation, self.safety.protective = False, None
        return found

    def set_reduced(self, reduced: bool = True) -> None:
        """Reduced mode: half the speed."""
        self.safety.use(reduced=reduced)

    def set_remote(self, remote: bool = True) -> None:
        """Remote control (True) or local control (False)."""
        self.remote_control = bool(remote)

    def set_freedrive(self, active: bool = True) -> None:
        """The freedrive button, or `freedrive_mode()` in a script: the arm gives way to hands."""
        self.freedrive = bool(active)

    def hand_move(self, q: ArrayLike) -> None:
        """Put the arm at `q` (6,) rad as a hand would: program paused, or power off."""
        q = np.array(q, dtype=np.float64).reshape(6)
        self.arm.place(q)
        self.motion.freeze()
        self.aim()
        self.observe()

    def close_popup(self) -> None:
        """A person answers the popup; a program that waits for it goes on."""
        if self.popup is not None:
            self.say("close_popup", self.popup.text)
            self.popup = None

    def show_popup(self, text: str, title: str = "", **kind: bool) -> None:
        """Show a message on the pendant. `kind`: warning, error, blocking."""
        self.popup = self.say("popup", text, title=title, **kind)

    def set_speed_slider(self, fraction: float) -> None:
        """The slider on the pendant, 0.01 to 1."""
        if math.isfinite(fraction):
            self.target_speed_fraction = min(1.0, max(0.01, float(fraction)))

    @property
    def slowness(self) -> float:
        """1, or how much slower than told the arm follows."""
        return self.arm.slowness

    @slowness.setter
    def slowness(self, value: float) -> None:
        self.arm.slowness = value

    def _power_up(self) -> None:
        mode, when = self._powering or (self.robot_mode, 0)
        if self.cycle >= when:
            self._powering, self.robot_mode = None, mode
            self.motion.freeze()
        elif mode == RobotMode.RUNNING and self.cycle >= when - _POWERING:
            self.robot_mode = RobotMode.IDLE
