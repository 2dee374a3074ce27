"""What the tests of chains share: small links, and an arm that follows and is watched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import ur_admittance as ua
from tests.support import arm
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    Link,
    Ports,
    VelocityForward,
    positions,
    velocities,
)

DT = 0.002
ZERO = np.zeros(6)
PUSH = np.array([0.0, 25.0, 0.0, 0.0, 0.0, 0.0])


class Wired(Link):
    """A link that only declares."""

    def __init__(self, name, reads=(), may_read=(), commands=(), exports=()) -> None:
        super().__init__(name)
        self.reads, self.may_read = tuple(reads), tuple(may_read)
        self.commands, self.exports = tuple(commands), tuple(exports)
        self.calls: list[str] = []

    def configure(self, ports: Ports) -> None:
        self.calls.append("configure")

    def activate(self) -> None:
        self.calls.append("activate")

    def update(self, dt: float) -> None:
        self.calls.append("update")

    def deactivate(self) -> bool:
        self.calls.append("deactivate")
        return True

    def cleanup(self) -> None:
        self.calls.append("cleanup")

    def error(self, why: str) -> bool:
        self.calls.append("error")
        return False


class JointSource(Link):
    """Exports joint rates and positions from a function of time; fails when told to."""

    def __init__(self, rates: Callable[[float], np.ndarray], name: str = "source") -> None:
        super().__init__(name)
        self.rates = rates
        self.trouble: Callable[[], str | None] | None = None

    def declare(self, joints: tuple[str, ...]) -> None:
        self.reads = positions(joints)
        self.exports = (*positions(joints), *velocities(joints))

    def configure(self, ports: Ports) -> None:
        self._q, self._exports = ports.read(self.reads), ports.export()

    def activate(self) -> None:
        self._t = 0.0
        self._exports[:6], self._exports[6:] = self._q, 0.0

    def update(self, dt: float) -> str | None:
        if self.trouble is not None:
            return self.trouble()
        self._t += dt
        qd = self.rates(self._t)
        self._exports[6:] = qd
        self._exports[:6] += qd * dt
        return None


class Watched:
    """A manager, an arm that does what it is told at once, and a check of every command."""

    def __init__(self, manager: ControllerManager, q: np.ndarray | None = None) -> None:
        self.manager, self.model = manager, manager.model
        self.q = np.array(self.model.home if q is None else q)
        self.qd = np.zeros(6)
        self.commands: list[np.ndarray] = []
        manager.activate(self.q)

    def tick(self, wrench=ZERO, dt: float = DT) -> np.record:
        self.manager.measured_velocity[:] = self.qd
        out = self.manager.update(self.q, np.asarray(wrench, float), dt)
        qd = np.array(out["qd"])
        if self.manager.sends == "position":
            np.testing.assert_allclose((out["q_ref"] - self.q) / dt, qd, atol=1e-6)
        model, step = self.model, self.model.qdd_max * dt
        assert np.isfinite(qd).all()
        assert (np.abs(qd) <= model.qd_max * (1 + 1e-9)).all(), "joint speed"
        assert (np.abs(qd - self.qd) <= step * (1 + 1e-6) + 2e-9).all(), "joint acceleration"
        self.q = self.q + qd * dt
        if self.manager.sends == "position":
            self.q = np.array(out["q_ref"])
        assert (self.q >= model.q_min - 1e-8).all() and (self.q <= model.q_max + 1e-8).all()
        self.qd = qd
        self.commands.append(qd)
        return out

    def run(self, seconds: float, wrench=ZERO) -> np.record:
        for _ in range(round(seconds / DT)):
            out = self.tick(wrench)
        return out

    def until(self, done: Callable[[], bool], wrench=ZERO, seconds: float = 6.0) -> None:
        for _ in range(round(seconds / DT)):
            self.tick(wrench)
            if done():
                return
        raise AssertionError("never came")


def controller(config: ua.Config | None = None) -> ua.Controller:
    return ua.Controller(arm(), config)


def compliant(*above: Link, config: ua.Config | None = None) -> ControllerManager:
    """Links over an admittance over velocities, all switched on."""
    manager = ControllerManager(arm())
    names = [link.name for link in above]
    manager.load(
        VelocityForward("admittance"),
        AdmittanceLink(controller(config), desired=names),
        *above,
    )
    manager.switch(activate=[*names, "admittance", "forward"])
    return manager
