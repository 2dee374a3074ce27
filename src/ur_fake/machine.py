"""The controller itself, without a socket: a program, an arm, a safety system, in cycles of 2 ms.

It never sleeps and never looks at a clock: whoever calls `step()` is the clock.

A cycle: the threads of the program run, the motion they asked for moves the targets, the arm
follows, the safety system looks at both, and everything a client can read is written.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ur_admittance.kernel.compile import announced
from ur_admittance.model import RobotModel
from ur_fake.arm.arm import CYCLE, Arm, dh_table
from ur_fake.arm.measure import approach_pose, felt_wrench, tool_point, within
from ur_fake.arm.readings import Readings
from ur_fake.identity import Identity
from ur_fake.messages import Message, Messages
from ur_fake.modes import JointMode, RobotBit, RobotMode, RuntimeState
from ur_fake.motion import Motion
from ur_fake.pendant import Pendant
from ur_fake.registers import Registers
from ur_fake.safety import Safety
from ur_fake.urscript import Execution, Program, ScriptError, compile_script

_MAX_SECONDARIES = 8  # secondary programs that run at a time
_MESSAGE_LENGTH = 4096  # characters
_SYNTAX_ERROR, _NOT_NOW, _EXCEPTION = 214, 210, 55


class Machine(Registers, Readings, Pendant):
    """A UR controller and its arm.

    >>> machine = Machine("ur5e")
    >>> machine.start()
    >>> machine.load_script("def go():\\n movej([0, -1.57, 1.57, -1.57, -1.57, 0])\\nend\\n")
    True
    >>> while machine.program_state == "PLAYING":
    ...     machine.step()

    Attributes, beside those of `Registers`, `Readings` and `Pendant`:
        cycle, time: cycles since the start; the same in s.
        dh, nominal_dh: (4, 6) theta, a, d, alpha [rad, m], as calibrated and as the maker prints.
        motion: where the controller wants the arm to go.
        messages: what waits to be sent on the primary interface.
    """

    def __init__(
        self,
        model: str = "ur5e",
        *,
        scene: Any = None,
        tool: Any = None,
        hand: Any = None,
        q0: ArrayLike | None = None,
        identity: Identity | None = None,
        seed: int = 0,
        noise: tuple[float, float] = (0.1, 0.005),
        grip: ArrayLike | None = None,
    ) -> None:
        """
        Args:
            model: name of the arm, see `RobotModel.arms()`.
            scene, tool, hand: as for the simulated arm; they act at `grip`.
            q0: joints at the start, rad (6,); default: the arm's home.
            identity: serial number, version, calibration; default: nominal ones.
            seed, noise: of the wrist sensor; N and N m.
            grip: (4, 4) tip of the tool in the flange; default: the flange itself.
        """
        Registers.__init__(self)
        self.identity = identity or Identity()
        options = {} if q0 is None else {"q0": q0}
        arm = Arm(
            model,
            self.identity,
            scene=scene,
            tool=tool,
            hand=hand,
            seed=seed,
            noise=noise,
            grip=grip,
            **options,
        )
        self.cycle = 0
        Readings.__init__(self, arm)
        self.dh = dh_table(self.model)
        self.nominal_dh = dh_table(RobotModel.ur(model, base="base"))
        Pendant.__init__(self, Safety(self.model))
        self.messages = Messages()
        self.program: Execution | None = None
        self.program_name = ""
        self.runtime_state = RuntimeState.STOPPED
        self._secondaries: list[Execution] = []
        self.motion = Motion(self)
        self._compile()

    def _compile(self) -> None:
        """Do everything once that is compiled when it is first done: no cycle waits for it."""
        with announced("the fake robot", tool_point, felt_wrench, within, approach_pose):
            self.aim()
            self.observe()
            self.safety.check(self.target_q, self.target_qd, self.target_TCP_speed, self.actual_q)
            self.motion.joints_for(self.target_TCP_pose.tolist())

    # --- time ---

    @property
    def time(self) -> float:
        """Of the controller, s."""
        return self.cycle * CYCLE

    def step(self) -> None:
        """One cycle of 2 ms."""
        self.cycle += 1
        if self._powering is not None:
            self._power_up()
        self._run_programs()
        self.motion.advance()
        self.aim()
        self._protect()
        self.arm.advance(self.target_q)
        self.observe()

    # --- the program ---

    def load_script(self, text: str) -> bool:
        """Compile and start a script. False if it does not compile: the messages say why."""
        try:
            program = compile_script(text)
        except ScriptError as error:
            self.reject_script(error)
            return False
        self.start_program(program)
        return True

    def reject_script(self, error: ScriptError) -> None:
        """Say what is wrong with a script that does not compile."""
        self.say("exception", error.text, line=error.line, column=error.column)
        self.say("error", f"{error}", code=_SYNTAX_ERROR, level=3)

    def start_program(self, program: Program) -> None:
        """Start a compiled script: a `def` instead of the running program, a `sec` beside it."""
        if program.secondary:
            if len(self._secondaries) < _MAX_SECONDARIES:
                self._secondaries.append(Execution(program, self))
            return
        if self.robot_mode != RobotMode.RUNNING or self.safety.stopped:
            self.say(
                "error", "The robot cannot run a program in this state", code=_NOT_NOW, level=2
            )
            return
        self.stop_program()
        self.program_name = program.name
        self.program = Execution(program, self)
        self.runtime_state = RuntimeState.PLAYING
        self.say("key", program.name, title="PROGRAM_XXX_STARTED")

    def stop_program(self) -> None:
        """End the program; the arm decelerates to rest."""
        if self.program is None:
            return
        self.program.close()
        self.program = None
        self.runtime_state = RuntimeState.STOPPED
        self.motion.release(None)
        self.motion.end_modes()
        self.say("key", self.program_name, title="PROGRAM_XXX_STOPPED")

    def pause_program(self) -> None:
        """The arm slows down on its path to rest, and the program waits."""
        if self.program is not None:
            self.runtime_state = RuntimeState.PAUSED

    def resume_program(self) -> bool:
        """Go on after a pause. False: there is nothing to go on with, or the safety forbids it."""
        if self.program is None or self.safety.stopped:
            return False
        self.runtime_state = RuntimeState.PLAYING
        return True

    @property
    def program_state(self) -> str:
        """ "STOPPED", "PLAYING" or "PAUSED", as the dashboard says."""
        if self.program is None:
            return "STOPPED"
        return "PAUSED" if self.runtime_state == RuntimeState.PAUSED else "PLAYING"

    # --- modes as RTDE shows them ---

    @property
    def safety_mode(self) -> int:
        return int(self.safety.mode)

    safety_status = safety_mode

    @property
    def safety_status_bits(self) -> int:
        return self.safety.bits

    @property
    def robot_status_bits(self) -> int:
        on = self.robot_mode > RobotMode.POWER_OFF
        running = self.program is not None and self.runtime_state == RuntimeState.PLAYING
        button = self.freedrive << RobotBit.TEACH_BUTTON
        return on << RobotBit.POWER_ON | running << RobotBit.PROGRAM_RUNNING | button

    @property
    def joint_mode(self) -> list[int]:
        if self.robot_mode == RobotMode.RUNNING:
            return [int(JointMode.RUNNING)] * 6
        on = self.robot_mode > RobotMode.POWER_OFF
        return [int(JointMode.IDLE if on else JointMode.POWER_OFF)] * 6

    def _run_programs(self) -> None:
        """One cycle of every thread."""
        if self.speed_slider_mask & 1:
            self.set_speed_slider(self.speed_slider_fraction)
        if self._secondaries:
            self._secondaries = [one for one in self._secondaries if self._run(one)]
        program = self.program
        if program is None or self.runtime_state != RuntimeState.PLAYING or self.safety.stopped:
            return
        if not self._run(program) and self.program is program:
            self.stop_program()

    def _run(self, execution: Execution) -> bool:
        """Whether it goes on after this cycle."""
        try:
            return execution.run_cycle()
        except ScriptError as error:
            self.say("exception", error.text, line=error.line, column=error.column)
            self.say("error", str(error), code=_EXCEPTION, level=3)
            execution.close()
            return False

    def _protect(self) -> None:
        if self.robot_mode != RobotMode.RUNNING or self.safety.protective is not None:
            return
        stop = self.safety.check(
            self.target_q, self.target_qd, self.target_TCP_speed, self.actual_q
        )
        if stop is not None:
            self.protective_stop(stop.text, stop.code, stop.argument)
            self.motion.reject()
            self.aim()

    def say(self, kind: str, text: str, **fields: Any) -> Message:
        """Put a message in the line for the primary interface."""
        message = Message(kind, self.time, text=text[:_MESSAGE_LENGTH], **fields)
        self.messages.append(message)
        return message
