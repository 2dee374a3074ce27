"""The admittance controller as a link: joint references that give way to force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ur_admittance.chain.compiled import COUNT, compiled
from ur_admittance.chain.interfaces import (
    DESIRED,
    STREAM,
    TIMES,
    WRENCH,
    Link,
    Ports,
    positions,
    velocities,
)
from ur_admittance.controller import Controller
from ur_admittance.errors import ConfigError
from ur_admittance.faults import StopReason
from ur_admittance.kernel import bits, layout


class AdmittanceLink(Link):
    """Reads joint positions and the sensor, exports `<joint>/velocity` and `<joint>/position`.

    Its outputs are those of `Controller.update` for the same inputs, bit for bit. A desired pose or
    twist from above is approached inside the limits, as with `Controller.set_desired`.

    Attributes:
        controller: the one it was made with; `controller.set(...)` changes parameters live.
    """

    def __init__(
        self,
        controller: Controller,
        *,
        desired: str | Sequence[str] = (),
        joints: str = "",
        stream: str = "",
        name: str = "admittance",
    ) -> None:
        """
        Args:
            desired: links whose desired pose or twist to follow, any of which may be inactive.
            joints: a link whose `<joint>/position` and `<joint>/velocity` to follow instead, by way
                of the pose they lead to.
            stream: a `PolicyLink`, which may be inactive, whose streamed force, axes and gains to
                take.
        """
        super().__init__(name)
        self.controller = controller
        self._above = (desired,) if isinstance(desired, str) else tuple(desired)
        self._joints_above = joints
        self._streams = stream
        self._paused = False
        if joints and self._above:
            raise ConfigError(
                f"{name}: follow desired poses ({', '.join(self._above)}) or joints ({joints}), "
                "not both"
            )

    def declare(self, joints: tuple[str, ...]) -> None:
        if joints != tuple(self.controller.model.joint_names):
            raise ConfigError(
                f"{self.name}: the robot's joints are {', '.join(joints)}, the controller's "
                f"{', '.join(self.controller.model.joint_names)}; build it from the robot's model"
            )
        self.reads = (*positions(joints), *WRENCH, *TIMES)
        if self._joints_above:
            self.reads += positions(joints, self._joints_above)
            self.reads += velocities(joints, self._joints_above)
        self.may_read = tuple(f"{link}/{part}" for link in self._above for part in DESIRED)
        if self._streams:
            self.may_read += tuple(f"{self._streams}/{part}" for part in STREAM)
        self.exports = (*velocities(joints), *positions(joints))

    def configure(self, ports: Ports) -> None:
        controller, joints = self.controller, self.controller.model.joint_names
        self._q, self._wrench = ports.read(positions(joints)), ports.read(WRENCH)
        self._times, self._exports = ports.read(TIMES[:3]), ports.export()
        self._tick = controller.bind(self._q, self._wrench)
        # qd and q_ref stand side by side in the record, as in the exports: one copy for both.
        place = (layout.OUTPUTS.fields or {})["qd"][1]
        self._results = np.ndarray((12,), float, controller.outputs, place)
        # Desired poses go straight into the controller's inputs.
        self._take: list[Callable[[], bool]] = []
        self._seen: list[tuple[np.ndarray, np.ndarray]] = []
        records = controller.inputs, controller.state
        for link in self._above:
            reference, seen = ports.read([f"{link}/{part}" for part in DESIRED]), np.zeros(1)
            self._seen.append((reference, seen))
            self._take.append(partial(compiled().take_desired, reference, seen, *records))
        if self._joints_above:
            q = ports.read(positions(joints, self._joints_above))
            qd = ports.read(velocities(joints, self._joints_above))
            spare, inputs = layout.new_state(), controller.inputs
            self._take = [partial(compiled().take_joints, q, qd, controller.params, spare, inputs)]

        self._stream = None
        if self._streams:
            self._stream = ports.read([f"{self._streams}/{part}" for part in STREAM])

    def activate(self) -> None:
        self.controller.activate(self._q)
        self._streamed = 0.0 if self._stream is None else self._stream[-1]
        self._exports[:6], self._exports[6:] = 0.0, self._q  # a pause may come before a tick
        for reference, seen in self._seen:
            seen[0] = reference[COUNT]  # only what comes from now on
        self._paused = False

    def update(self, dt: float) -> str | None:
        if dt == 0.0:
            self._paused = True
            self._exports[:6] = 0.0
            return None
        if self._paused:
            self._go_on()
        for take in self._take:
            if not take():
                return "the desired pose from above is no pose: too far, too fast, or no rotation"
        if self._stream is not None and self._stream[-1] != self._streamed:
            self._streamed = self._stream[-1]
            if why := self.controller.take_stream(self._stream):
                return why
        self._tick(*self._times.tolist())
        self._exports[:] = self._results
        return None

    def deactivate(self) -> bool:
        self.controller.deactivate()
        return self._paused or self.controller.mode == "inactive"

    def error(self, why: str) -> bool:
        self.controller.stop(why)
        return True

    @property
    def mode(self) -> str:
        return "holding" if self._paused else self.controller.mode

    @property
    def reason(self) -> StopReason | None:
        return self.controller.reason

    def words(self) -> list[str]:
        return self.controller.status_words()

    def _go_on(self) -> None:
        """After a pause: at rest where the arm is; springs keep the desired pose of before.

        Before the first tick there is none to keep: all is seeded from the arm then.
        """
        if not self.controller.state["seeding"][0]:
            self.controller.state["seeding"] = bits.SEED_KEEPING_D  # as the tick after a hold
        self._paused = False
