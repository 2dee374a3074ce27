"""One conversation with a robot: who it is, our program on it, its states, and commands to it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller.at_rest import STILL_TURN
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel
from ur_admittance.robots.rtde import script
from ur_admittance.robots.rtde.address import USUAL, name_of
from ur_admittance.robots.rtde.client import RtdeClient
from ur_admittance.robots.rtde.connection import Dial, dial
from ur_admittance.robots.rtde.dashboard import Dashboard
from ur_admittance.robots.rtde.inspection import Expected, Found, NotReady, differences, read_once
from ur_admittance.robots.rtde.primary import Primary
from ur_admittance.robots.rtde.script import ASKED, ENDED, HOLD, LEFT, RUNS, WHY, Packet, Registers
from ur_admittance.robots.rtde.starting import Start
from ur_admittance.robots.rtde.states import BadPackets, States, names_of
from ur_admittance.robots.rtde.status import THERE
from ur_admittance.robots.rtde.wrench import COMPENSATED, source_of

RATES = {True: 125.0, False: 500.0}  # Hz, of CB3 and of all newer
ZERO = (0.0,) * 6
_SILENT = 5  # periods without a state, after which a caller gets the old one
_LAG = 4  # times as far behind as ends our program: then it is another that runs
_ZEROING = 50  # states by which it has been done
_ENDING = 0.5  # s that a program whose process has died may take to end
_FIRST = 3.0  # s for a first state that can be believed


class Session:
    """States in, commands out. See `RtdeRobot` for the arguments.

    Attributes:
        name: the robot's address.
        client, states: what comes, as bytes and as numbers.
        found: what the robot said of itself.
        model, rate, source: its kinematics; Hz; RTDE name of its wrench.
        engaged: whether our program was started.
        first: time of the first state, s of the robot.
    """

    def __init__(
        self,
        host: str,
        *,
        ports: Mapping[str, int] | None = None,
        registers: int = 24,
        compensated: bool = False,
        urcap: int | None = None,
        watch: bool = False,
        make: Dial = dial,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._host, self._ports = host, {**USUAL, **(ports or {})}
        self.name = name_of(host, self._ports)
        self.client = RtdeClient(host, self._ports["rtde"], make=make)
        self.states, self.found, self.engaged = States(), None, False
        self._registers, self._compensated = Registers(registers), compensated
        self._urcap, self._watch, self._dial = urcap, watch, make
        self.clock, self._tell = clock, tell or (lambda line: None)
        self._session = secrets.randbelow(0x7FFFFFFF) + 1
        self._packet = Packet(0, self._session)
        self._bad = BadPackets()
        self._fine: tuple[int, ...] = ()  # whole numbers of a state with which nothing was wrong
        self.first = 0.0

    # --- before anything moves ---

    def connect(self, config: Config, expected: Expected, *, own_sensor: bool) -> None:
        """Read who the robot is, and compare.

        Raises:
            NotReady: something differs, or the robot is not ready.
            RobotError: nobody answers.
        """
        self.client.connect()
        cb3 = self.client.version[0] < 5
        self.rate = RATES[cb3]
        found = self.found = self._look(cb3)
        named = expected.model.lower()
        if found.arm is None and not named:
            raise RobotError(f"{self.name}: {found.why_no_arm}; say which arm it is with --model")
        nominal = RobotModel.ur(named, base="base") if found.arm is None else None
        self._listen()
        lines = [] if self._watch else self.differences(expected, config, own_sensor=own_sensor)
        if lines:
            raise NotReady(self.name, lines)
        if self._watch and found.arm is not None and found.arm.name:  # whatever was expected
            named = found.arm.name
        self.model = nominal or found.arm.model(named)  # type: ignore[union-attr]

    def _look(self, cb3: bool) -> Found:
        board = Dashboard(self._host, self._ports["dashboard"], make=self._dial)
        found = Found(self.client.version, board, None)
        link = Primary(self._host, self._ports["primary"], make=self._dial)
        try:
            found.arm = link.arm(cb3=cb3)
        except RobotError as error:
            found.why_no_arm = str(error)
        finally:
            link.close()
        found.values = read_once(self._host, self._ports["rtde"], self._dial)
        return found

    def _listen(self) -> None:
        """Agree on what comes and what is sent; take a first state, and no more for now: a robot
        ends a connection that nobody reads.
        """
        client = self.client
        self.source = source_of(client.version, compensated=self._compensated)
        names = names_of(self.source, self._registers.outputs)
        States.check(client.listen(self.rate, names).layout)
        if not self._watch:
            number = client.command(self._registers.inputs).number
            self._packet = Packet(number, self._session)
        self._lag = _LAG * script.cycles_of_silence(self.rate)
        self.resume()
        if not self._watch and self._urcap is None:
            self._let_end()
        self.first = self.states.time
        client.pause()

    def differences(self, expected: Expected, config: Config, *, own_sensor: bool) -> list[str]:
        """What is not as it should be, and whether the robot is ready: one line each."""
        found = self.found
        if found is None:
            raise RobotError(f"{self.name}: not connected")
        compensated = own_sensor and self.source == COMPENSATED
        lines = differences(found, expected, config, compensated=compensated, own_sensor=own_sensor)
        if self._urcap is not None:
            lines = [line for line in lines if not line.startswith("control:")]
        problem = self.states.status.robot_problem()
        return [f"{problem.text}; {problem.advice}", *lines] if problem else lines

    def last_end(self) -> str:
        """How the last program ended that did not end as it should have, in words; or ""."""
        status = self.states.status
        if self._watch or status.program != ENDED or status.why in (0, LEFT, ASKED):
            return ""
        why = WHY.get(status.why, f"reason {status.why}")
        return f"the last program on {self.name} ended by itself: {why}"

    def plays(self) -> str:
        """That a program of somebody else plays on the robot, which ours would throw out, in words;
        or "". With the URCap it is that program which fetches ours.
        """
        states, found = self.states, self.found
        if self._watch or self._urcap is not None or found is None:
            return ""
        if states.status.runtime_state not in THERE:
            return ""
        name = f" ({found.dashboard.program})" if found.dashboard.program else ""
        whose = ", of another process of ur-admittance" if states.status.program == RUNS else ""
        return f"a program plays on {self.name}{name}{whose}"

    def _let_end(self) -> None:
        """A program of ours whose process has died ends by itself, soon."""
        deadline = self.clock() + _ENDING
        while self.states.status.runtime_state in THERE and self.clock() < deadline:
            self.next()

    def zero(self) -> None:
        """Let the robot zero its sensor, beside whatever runs."""
        link = Primary(self._host, self._ports["primary"], make=self._dial)
        try:
            link.run("sec ur_admittance_zero():\n  zero_ftsensor()\nend")
            self.resume()
            for _ in range(_ZEROING):
                self.next()
            self.client.pause()
        finally:
            link.close()

    def engage(self, *, replace: bool = False) -> None:
        """Start our program, and see it run.

        Args:
            replace: throw out one that plays.

        Raises:
            RobotError: it does not.
        """
        if self._watch:
            self.resume()
            self.engaged = True
            return
        text = script.program(self.model, self._session, self._registers, self.rate)
        link = Primary(self._host, self._ports["primary"], make=self._dial)
        try:
            self.resume()
            if (words := self.plays()) and not replace:
                raise RobotError(f"{words}; it was not there a moment ago; nothing was sent")
            if not self.speed <= STILL_TURN:
                raise RobotError(
                    f"{self.name}: the arm moves, a joint at {self.speed:.3f} rad/s; nothing was "
                    "sent, start when it stands still"
                )
            self.engaged = True
            with Start(self.name, text, link, self._urcap, self._tell, self.clock) as start:
                while not self.runs:
                    if self.next():  # never more commands than states: they would queue up there
                        self.send(HOLD, ZERO)
                    start.look(self.states.status)
        finally:
            link.close()

    def resume(self) -> None:
        """Let states come, and take the first that can be believed.

        Raises:
            RobotError: none does.
        """
        self.states.time = 0.0
        self.client.start(self.states.believe, _SILENT / self.rate)
        deadline = self.clock() + _FIRST
        while not self.next():
            if self.clock() > deadline:
                raise RobotError(
                    f"{self.name}: no state that can be believed for {_FIRST:g} s (all joints at "
                    "exactly zero, or no numbers); has the robot just been restarted?"
                )
        self._bad.forgive(self.client.stream.bad)

    # --- every state ---

    def next(self, spin_from: float = 0.0) -> int:
        """Wait for a state, or for as long as one may take. Returns how many came."""
        client, states = self.client, self.states
        came = client.wait(spin_from)
        while came and not states.fresh:  # only such as had come before
            came = client.wait()
        if not states.fresh:
            return 0
        states.take()
        return came

    def send(self, kind: int, values: Any) -> None:
        """A command."""
        self.client.send(self._packet.fill(kind, values))

    @property
    def runs(self) -> bool:
        """Whether the robot may move, and our program on it runs."""
        status = self.states.status
        return status.fine and status[5:8] == (RUNS, self._session, 0)

    def problem(self) -> StopReason | None:
        """Why the arm must not be commanded any more, and what to do; or None."""
        whole, bad = self.states.whole, self.client.stream.bad
        if bad != self._bad.seen and self._bad.too_many(bad, self.clock()):
            words = f"{BadPackets.MOST} packets from the robot made no sense within "
            words += f"{BadPackets.SECONDS:g} s"
            advice = "look at the cable and what is between, then start again"
            return StopReason.of("robot", words, advice)
        if whole[:-1] != self._fine:  # seldom: they hardly ever change
            if not self.runs:
                return self.states.status.robot_problem() or self._program_problem()
            self._fine = whole[:-1]
        if self._packet.count - whole[-1] > self._lag:
            words = "the program on the robot takes no commands any more: another one runs in its "
            return StopReason.of("robot", f"{words}place", "end that, then start again")
        return None

    def _program_problem(self) -> StopReason | None:
        return None if self._watch else self.states.status.program_problem(self._session)

    @property
    def speed(self) -> float:
        """Of the fastest joint, rad/s."""
        return float(np.abs(self.states.qd).max())
