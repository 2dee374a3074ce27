"""Which links of a chain run: loading, switching, failing, recovering. `manager.py` runs them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.chain import compiled as places
from ur_admittance.chain.admittance import AdmittanceLink
from ur_admittance.chain.guard import Guard
from ur_admittance.chain.interfaces import Interfaces, Link, Pacer, references_of
from ur_admittance.chain.registry import Registry
from ur_admittance.chain.report import Failure, Speaker
from ur_admittance.chain.switching import PATIENCE, Switch
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel


class Lifecycle:
    """The links of a chain and their states. See `ControllerManager`, which is one."""

    def __init__(
        self,
        model: RobotModel,
        *,
        rate: float = 500.0,
        joint_velocity: ArrayLike | None = None,
        joint_acceleration: ArrayLike | None = None,
    ) -> None:
        """See `ControllerManager`."""
        self.model = model
        self.interfaces = Interfaces(model.joint_names)
        self.failure: Failure | None = None
        values = self.interfaces.values
        self._q = values[places.Q : places.QD]
        self.measured_velocity = values[places.QD : places.WRENCH]
        self._wrench = values[places.WRENCH : places.TIMES]
        self._times = values[places.TIMES : places.SCALING]
        self.speed_scaling = values[places.SCALING : places.QD_CMD]
        self.speed_scaling[0] = 1.0
        self._guard = Guard(self.interfaces, model, rate, joint_velocity, joint_acceleration)
        self._registry = Registry(self.interfaces)
        self._wanted: list[Link] = []  # active, or to be so when the chain is activated
        self._stopping: list[Link] = []  # told to come to rest by themselves
        self._braking_for = 0.0  # s since the chain was halted
        self._running = self._leaving = False
        self._switch: Switch | None = None
        self._attention = False  # whether a switch or a failure is under way
        self._speaker = Speaker()
        self._rewire()

    # --- links ---

    def load(self, *links: Link) -> None:
        """Add links and configure them: every name is looked up now, and never again.

        All or nothing; links that use each other's references come in one call, in any order.

        Raises:
            ConfigError: an interface does not exist, or links read from each other in a circle.
        """
        self._registry.load(links)
        self._rewire()

    def unload(self, *names: str) -> None:
        """Clean links up and take them out: inactive ones that nobody else can read."""
        self._registry.unload(names)
        self._wanted = [link for link in self._wanted if link.name not in names]

    def __getitem__(self, name: str) -> Link:
        return self._registry.named(name)[0]

    @property
    def order(self) -> tuple[str, ...]:
        """The names of all links, in the order in which they run."""
        return tuple(link.name for link in self._registry.order)

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the links that run now, in order."""
        return tuple(link.name for link in self._registry.running())

    @property
    def switching(self) -> bool:
        """Whether a switch is still to happen, or under way."""
        return self._switch is not None

    def switch(
        self, activate: str | Iterable[str] = (), deactivate: str | Iterable[str] = ()
    ) -> None:
        """Swap links while running: from the next cycle on, and without a jump of the arm.

        Links that leave bring themselves to rest, or are braked. Where joint commands change hands,
        the new links start when the arm stands, and the links that these commands come from start
        anew with them; else at once. A link in both lists starts anew. Before the chain runs, this
        says which links it will start with.

        Raises:
            ConfigError: the links that would be active cannot be, together.
            RobotError: an unknown or unfit link, or a switch is under way.
        """
        entering, leaving = self._registry.named(activate), self._registry.named(deactivate)
        if self._switch is not None:
            raise RobotError("switch: one is under way; wait until `switching` is False")
        failed = any(link.state == "error" for link in (*entering, *leaving))
        if self.failure is not None and (failed or self._guard.halted):
            raise RobotError(f"switch: {self.failure.words}")
        live = self._running and not self._leaving
        running = self._registry.running() if live else self._wanted
        for link in leaving:
            if link not in running:
                raise RobotError(f"switch: {link.name} is {link.state}, not active")
        for link in entering:
            if link in running and link not in leaving:
                raise RobotError(f"switch: {link.name} is active already")
        stay = [link for link in running if link not in leaving]
        after = [link for link in self._registry.order if link in stay or link in entering]
        self._registry.check_together(after)
        self._wanted = after
        if live:
            self._begin(self._swap(leaving, entering))

    def stop(self, why: str | StopReason = "asked for") -> None:
        """Brake to rest inside the limits, and stay there until `recover()`."""
        if self._running and not self._guard.halted:
            asked = StopReason.asked(why)
            self._halt(None, asked.text, None, asked)

    def deactivate(self) -> None:
        """All links leave: the arm comes to rest, then nothing commands it."""
        if self._running and not self._leaving:
            self._leaving = True
            self._begin(Switch(self._registry.running(), [], self.interfaces.joints))

    def recover(self, without: str | Iterable[str] = ()) -> None:
        """After a failure or a stop, with the arm at rest: configure what failed anew, and start
        everything that stopped, from where the arm is.

        Args:
            without: links to leave out.

        Raises:
            RobotError: there is nothing to recover from, or the arm still moves.
        """
        running = self._registry.running()
        stopped = [link for link in running if link.mode == "stopped"]
        if self.failure is None and not stopped:
            raise RobotError("recover: nothing failed, and no link is stopped")
        if not self.at_rest and (stopped or self._guard.halted):
            raise RobotError("recover: the arm still brakes; keep calling update() until at_rest")
        skipped = self._registry.named(without)
        wanted = [link for link in self._wanted if link not in skipped]
        self._registry.check_together(wanted)
        self._registry.reconfigure()
        leaving = [
            link for link in running if link in (*stopped, *self._stopping) or link not in wanted
        ]
        entering = [link for link in wanted if link in leaving or link.state == "inactive"]
        if self._leaving:
            entering = []  # they start with the next `activate`
        self.failure, self._stopping, self._wanted = None, [], wanted
        self._guard.halted, self._braking_for = False, 0.0
        self._begin(self._swap(leaving, entering))

    @property
    def at_rest(self) -> bool:
        """Whether the last command was exactly zero speed."""
        return self._guard.at_rest

    # --- inside ---

    def _swap(self, leaving: list[Link], entering: list[Link]) -> Switch:
        """A switch. A law whose command was not what the arm did starts from the arm."""
        anew = [link for link in self._registry.feeders(entering) if link not in leaving]
        return Switch([*leaving, *anew], [*entering, *anew], self.interfaces.joints)

    def _begin(self, switch: Switch) -> None:
        self._switch, self._attention = switch, True

    def _between_cycles(self, seconds: float) -> None:
        """What is not for every cycle: switches, failures, and saying so."""
        if self._switch is not None:
            self._advance(self._switch, seconds)
        if self._guard.halted:
            self._braking_for += seconds
            if self._stopping and not self.at_rest and self._braking_for > PATIENCE:
                self._fail(self._stopping.pop(0), f"it does not come to rest in {PATIENCE:g} s")
            self._guard.hold_measured(seconds)
        if self.at_rest:
            self._speaker.speak()
        waits = self._switch is not None or self._guard.halted
        self._attention = waits or not self._speaker.silent

    def _advance(self, switch: Switch, seconds: float) -> None:
        """One step of a switch."""
        switch.seconds += seconds
        waiting, before = {link.name for link in switch.leaving}, len(switch.leaving)
        for link in [link for link in self._registry.order if link in switch.leaving]:
            if self._registry.needs(link) & waiting:  # who it reads from leaves first
                continue
            try:
                left = link.deactivate() or switch.seconds > PATIENCE
            except Exception as error:
                self._fail(link, error)
                continue
            if left:
                link.state = "inactive"
                switch.leaving.remove(link)
                waiting.discard(link.name)
        if len(switch.leaving) < before:
            self._rewire()
        rest, qd, measured = switch.rest, self._guard.qd, self.measured_velocity
        if switch.leaving or not rest.settled(seconds, qd, measured, self._q):
            return
        self._switch = None
        for link in [link for link in self._registry.order if link in switch.entering]:
            link.state = "active"
            try:
                link.activate()
            except Exception as error:
                self._fail(link, error)
                break  # the others wait for `recover`
        self._rewire()

    def _rewire(self) -> None:
        """Work out what every cycle needs, once."""
        active, view = self._registry.running(), self.interfaces.view
        self._steps = [
            (link, link.update, view(references_of(link)) if link.exports else None)
            for link in active
        ]
        self._pacer = next((link.pace for link in active if isinstance(link, Pacer)), None)
        laws = [link for link in active if isinstance(link, AdmittanceLink)]
        self._guard.wire(active, laws[-1].controller.outputs if laws else None)
        self._finish = self._guard.finish

    def _fail(self, link: Link, wrong: Exception | str) -> None:
        if isinstance(wrong, Exception):
            self._halt(link, f"{type(wrong).__name__}: {wrong}", wrong)
        else:
            self._halt(link, str(wrong), None)

    def _not_finite(self, link: Link) -> str:
        values = self.interfaces.view(references_of(link))
        n = int(np.flatnonzero(~np.isfinite(values))[0])
        return f"it wrote {values[n]} to {references_of(link)[n]!r}"

    def _bad_command(self, joint: int) -> None:
        kind = "position" if self._guard.by_position else "velocity"
        name = f"{self.interfaces.joints[joint]}/{kind}"
        link = next(link for link in self._registry.running() if name in link.commands)
        self._fail(link, f"its command for {name!r} is not a finite number")

    def _halt(
        self,
        failed: Link | None,
        why: str,
        error: Exception | None,
        asked: StopReason | None = None,
    ) -> None:
        """Let everything brake that depends on `failed`, or everything, if a stop was asked for."""
        over, braking = self._registry.strike(failed, why)
        self._stopping += braking
        names, now = self.interfaces.names, self.interfaces.values
        failure = Failure(
            failed.name if failed else "",
            why,
            error,
            float(self._times[3]),
            tuple(link.name for link in self._registry.order if link in over or link in braking),
            names,
            np.vstack([self._guard.trace(), now[: len(names)]]),
            asked,
        )
        self._speaker.note(failure)
        if self._switch is not None:
            self._switch.cancel()
        if not self._guard.halted:
            moves = failed is None or braking or any(link.commands for link in over)
            self._guard.halted = bool(moves)  # else the arm is not concerned, and goes on
            self.failure = failure
        self._rewire()
        self._attention = True
