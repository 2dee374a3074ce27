"""The same touch with the arm of `sim` (MuJoCo): `python -m benchmarks.contact_mujoco`.

A table below the tool, the cases of `benchmarks.contact` for everything but the normal, and with
the tool turned down and slid away from the base on a table that lies only there, so that nothing
but its tip meets it. The arm has joints with inertia and drives that give way, and its sensor is a
cycle late.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import ur_admittance as ua
from benchmarks.contact import DAMPING, POSES, config, random_touches
from ur_admittance.robots.sim import Scene, SimRobot
from ur_admittance.robots.sim.scene import Box
from ur_admittance.rollout.touch import APPROACH, CALM, DT, JUDGED, PUSHED, Touch

RADIUS = 0.02  # m, of the ball at the tip
SLIDE = 0.25  # m, more than the fastest slides
NOISE = 0.2  # N
RIPPLE = math.hypot(1.0, NOISE)  # N rms: 1 N beside the sensor's own noise


class Pressed(NamedTuple):
    """Force of the table on the tool, as the sensor sees it: N."""

    ripple: float
    least: float
    mean: float
    peak: float

    @property
    def cause(self) -> str:
        """Why it is not calm, in words; nothing if it is."""
        if not self.least > 0:
            return "contact lost"
        return "force ripples" if not self.ripple < RIPPLE else ""


def press(case: Touch, adapt: bool) -> Pressed:
    """Led onto a table, then pushed; judged in the second that begins 0.5 s after the touch."""
    model, leans = ua.RobotModel.ur("ur5e"), np.array([0, 0, -1.0])
    p, deadband = model.fk(np.array(case.q))[:3, 3], 1.5
    along = np.array([math.cos(case.azimuth), math.sin(case.azimuth), 0])
    along = along if along @ p >= 0 else -along
    way = math.sin(case.angle) * along + math.cos(case.angle) * leans
    gap = case.speed * math.cos(case.angle) * (APPROACH - 0.1)
    middle, size = p + SLIDE / 2 * along, SLIDE * np.abs(along) + 0.08
    table = Box((middle[0], middle[1], p[2] - RADIUS - gap - 0.05), (size[0], size[1], 0.1))
    scene = Scene((table,), case.stiffness, max(case.damping, 1.0), case.friction)
    leading = (DAMPING * case.speed + deadband) * way
    sliding = DAMPING * case.speed * math.sin(case.angle) + case.friction * case.push
    leaning = sliding * along + (case.push + deadband) * leans

    def by_hand(t: float) -> np.ndarray:
        share = min(max((t - (PUSHED - 0.1)) / 0.1, 0.0), 1.0)
        return np.concatenate([leading * (1 - share) + leaning * share, np.zeros(3)])

    lag, delay = case.arm.time_constant, max(1, round(case.arm.delay))
    controller = ua.Controller(model, config(adapt, **{"arm.lag": lag}))
    forces = []
    with SimRobot(
        model,
        scene=scene,
        hand=lambda t, X_WP, V_WP: by_hand(t),
        q0=case.q,
        realtime=False,
        latency=delay,
        servo_bandwidth=1 / (math.tau * lag),
        noise=(NOISE, 0.005),
        seed=case.noise.seed,
    ) as robot:
        controller.activate(robot.wait().q)
        for _ in range(round((PUSHED + CALM + JUDGED + 0.1) / DT)):
            state = robot.wait()
            out = controller.update(state.q, state.wrench, DT)
            robot.send_velocity(out["qd"])
            felt = (out["X_WP"][:3, :3] @ state.wrench[:3])[2]
            forces.append(float(felt - by_hand(robot.clock() - DT)[2]))
    force = np.array(forces)
    touched = np.flatnonzero(force > 5 * NOISE)
    begin = (int(touched[0]) if len(touched) else 0) + round(CALM / DT)
    late = force[begin : begin + round(JUDGED / DT)]
    return Pressed(float(late.std()), float(late.min()), float(late.mean()), float(force.max()))


def random_presses(count: int, seed: int = 0) -> Iterator[Touch]:
    """The random cases of `benchmarks.contact`, on a table."""
    for case in random_touches(count, seed=seed):
        yield replace(case, normal=(0.0, 0.0, 1.0), q=turned_down(case.q))


def turned_down(q: tuple[float, ...]) -> tuple[float, ...]:
    """The same pose, rad, with the tool's axis straight down."""
    return (*q[:3], -math.pi / 2 - q[1] - q[2], -math.pi / 2, q[5])


def straight(stiffness: float, speed: float = 0.05) -> Touch:
    """Straight down at home, with 15 N and 10 ms of lag."""
    return Touch(stiffness, speed, 15.0, POSES[0], damping=0.1 * math.sqrt(stiffness), friction=0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300, help="random cases (default: 300)")
    options = parser.parse_args()
    ways = (("fixed gains", False), ("contact damping", True))
    for stiffness in (5e3, 20e3, 50e3, 100e3):
        for way, adapt in ways:
            p = press(straight(stiffness), adapt)
            print(
                f"{stiffness / 1e3:3.0f} kN/m, {way}: ripple {p.ripple:.2f} N rms (the sensor's "
                f"noise is {NOISE:.2f}), {p.least:.0f} to {p.peak:.0f} N",
                flush=True,
            )
    for way, adapt in ways:
        causes: Counter[str] = Counter()
        for case in random_presses(options.cases):
            p = press(case, adapt)
            causes[p.cause] += 1
            if adapt and p.cause:
                print(
                    f"    {p.cause}: {case.stiffness / 1e3:.0f} kN/m, {case.speed * 1e3:.0f} mm/s, "
                    f"{case.push:.0f} N, {math.degrees(case.angle):.0f} deg, friction "
                    f"{case.friction:.2f}, lag {case.arm.time_constant * 1e3:.0f} ms; ripple "
                    f"{p.ripple:.2f} N, peak {p.peak:.0f} N",
                    flush=True,
                )
        calm = causes.pop("", 0)
        print(f"{calm} of {options.cases} without chatter, {way}; {dict(causes)}", flush=True)


if __name__ == "__main__":
    main()
