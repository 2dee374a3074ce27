"""Touching things, many at once: a hand leads the tool onto a surface and leans on it.

The hand brings the tool to its speed within 0.4 s, meets the surface, and pushes harder within 0.1
s. What counts comes after: whether the contact is kept, how much the force ripples, how hard the
impact was, when it had settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.kernel import bits
from ur_admittance.model import RobotModel
from ur_admittance.rollout.rollout import LaggedArm, Noise, Surface, rollout

DT = 0.002  # s
APPROACH = 0.4  # s until the surface is met
PUSHED = 0.55  # s, when the hand has reached its push
CALM = 0.5  # s, from the first contact to what is judged
JUDGED = 1.0  # s
RIPPLE = 1.0  # N rms, of a contact that does not chatter
# changes for a judge: what counts is the contact, not when a hard one is given up
ALONE: dict[str, Any] = {
    "accept_contact_instability": True,
    "safety.max_force": 5000.0,
    "safety.max_torque": 1000.0,
    "safety.spike_force": 0.0,
    "safety.spike_torque": 0.0,
}
_SETTLED = 3.0  # N from the mean of the end
_AT_ONCE = 50  # runs, so that their records fit into memory


@dataclass(frozen=True)
class Touch:
    """One way to touch something."""

    stiffness: float  # of the surface, N/m
    speed: float  # of the tool when it meets the surface, m/s
    push: float  # of the hand, along the normal, N
    q: tuple[float, ...]  # joint angles at the start, rad
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)  # out of the surface, in W
    angle: float = 0.0  # between the way of the tool and the normal, rad
    azimuth: float = 0.0  # of that way about the normal, rad
    friction: float = 0.0  # coefficient
    damping: float = 0.0  # of the surface, N s/m
    arm: LaggedArm = field(default_factory=lambda: LaggedArm(0.01, 2))  # how the arm follows
    noise: Noise = field(default_factory=Noise)  # of the sensors


@dataclass(frozen=True)
class Touched:
    """What came of it."""

    met: bool  # whether the surface was reached at all
    lost: float  # share of the judged time without contact
    ripple: float  # of the normal force, in the judged time, N rms
    peak: float  # normal force, N
    settled: float  # time from the first contact until the force stays within 3 N of its end, s
    stopped: float  # time from the first contact until the controller stopped, s; NaN: it did not
    stiffness: float  # the controller's estimate at the end, N/m
    energy_given: float  # to the world, beyond what it put in, J
    braking: float  # the hardest of the arm itself along the normal, over four ticks, m/s^2

    @property
    def calm(self) -> bool:
        """Contact kept, no chatter, not stopped."""
        return self.met and self.lost == 0 and self.ripple < RIPPLE and np.isnan(self.stopped)

    @property
    def cause(self) -> str:
        """Why it is not calm, in words."""
        if self.calm:
            return ""
        if not self.met:
            return "never met the surface"
        if not np.isnan(self.stopped):
            return "stopped"
        if self.lost > 0:
            return "contact lost"
        return "force ripples"


def touch(
    model: RobotModel,
    configs: Config | Sequence[Config],
    touches: Sequence[Touch],
    *,
    threads: int | None = None,
) -> list[Touched]:
    """Run every touch, with one configuration or one for each."""
    each = [configs] * len(touches) if isinstance(configs, Config) else list(configs)
    results: list[Touched] = []
    for first in range(0, len(touches), _AT_ONCE):
        some, theirs = touches[first : first + _AT_ONCE], each[first : first + _AT_ONCE]
        normals = np.array([_unit(t.normal) for t in some])
        scenes = [_scene(model, c, t, n) for c, t, n in zip(theirs, some, normals, strict=True)]
        run = rollout(
            model,
            theirs,
            np.array([wrenches for wrenches, _ in scenes]),
            q0=np.array([t.q for t in some]),
            dt=DT,
            arm=[t.arm for t in some],
            surface=[surface for _, surface in scenes],
            noise=[t.noise for t in some],
            wrench_axes="world",
            threads=threads,
        )
        for k, normal in enumerate(normals):
            results.append(_judged(run.outputs[k], run.contact[k] @ normal, normal))
    return results


def _unit(vector: ArrayLike) -> np.ndarray:
    array = np.asarray(vector, float)
    return array / np.linalg.norm(array)


def _scene(
    model: RobotModel, config: Config, touch: Touch, normal: np.ndarray
) -> tuple[np.ndarray, Surface]:
    """The wrench of the hand, and the surface in its way."""
    damping = float(np.mean(config.effective_damping()[:3]))
    spring = float(np.max(config.admittance.stiffness[:3]))
    mass = float(np.mean(config.admittance.mass[:3]))
    deadband = config.effective_deadband()[0] * (config.admittance.deadband_kind == "soft")
    t = np.arange(round((PUSHED + CALM + JUDGED + 0.25) / DT)) * DT
    along = np.cross(normal, (1.0, 0, 0) if abs(normal[0]) < 0.8 else (0, 1.0, 0))
    along = _unit(along)
    along = np.cos(touch.azimuth) * along + np.sin(touch.azimuth) * np.cross(normal, along)
    way = np.sin(touch.angle) * along - np.cos(touch.angle) * normal
    gap = touch.speed * np.cos(touch.angle) * max(0.1, APPROACH - min(mass / damping, 0.3))
    leading = (damping * touch.speed + deadband) + spring * touch.speed * np.minimum(t, APPROACH)
    sliding = damping * touch.speed * np.sin(touch.angle) + touch.friction * touch.push
    leaning = sliding * along - (touch.push + deadband + spring * gap) * normal
    share = np.clip((t - (PUSHED - 0.1)) / 0.1, 0, 1)[:, None]
    wrenches = np.zeros((len(t), 6))
    wrenches[:, :3] = leading[:, None] * way * (1 - share) + leaning * share
    point = model.fk(np.array(touch.q))[:3, 3] - gap * normal
    surface = Surface(
        (point[0], point[1], point[2]),
        (normal[0], normal[1], normal[2]),
        touch.stiffness,
        touch.damping,
        touch.friction,
    )
    return wrenches, surface


def _judged(outputs: np.ndarray, force: np.ndarray, normal: np.ndarray) -> Touched:
    """One run, by the force of the surface along its normal, N."""
    if not (force > 0).any():
        return Touched(False, 1.0, np.nan, 0.0, np.nan, np.nan, 0.0, 0.0, 0.0)
    first = int(np.argmax(force > 0))
    begin = first + round(CALM / DT)
    late = force[begin : begin + round(JUDGED / DT)]
    if not len(late):
        late = force[-round(0.25 / DT) :]
    away = np.flatnonzero(np.abs(force[first:] - late.mean()) > _SETTLED)
    stopped = np.flatnonzero(outputs["mode"] == bits.STOPPED)
    speed = np.diff(outputs["X_WP"][:, :3, 3] @ normal) / DT
    near = slice(max(0, first - 5), first + 100)
    return Touched(
        True,
        float(np.mean(late <= 0)),
        float(late.std()),
        float(force.max()),
        (away[-1] + 1) * DT if len(away) else 0.0,
        (stopped[0] - first) * DT if len(stopped) else np.nan,
        float(outputs["contact_stiffness"][-1]),
        float(outputs["energy_given"][-1]),
        float(np.abs(speed[near][4:] - speed[near][:-4]).max() / (4 * DT)),
    )
