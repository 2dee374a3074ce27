"""A hand leads the arm; and a hand pushes it against a wall that only the configuration knows."""

from __future__ import annotations

import math

import numpy as np

from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots.sim import ScriptedPush, SpringHand
from ur_admittance.scenarios.base import Finding, Run, Scenario, home

LIGHT = {
    "admittance.frame": "probe",
    "admittance.mass": [4.0, 4.0, 4.0, 0.2, 0.2, 0.2],
    "admittance.damping": [60.0, 60.0, 60.0, 2.0, 2.0, 2.0],
    "admittance.filter_cutoff_hz": 20.0,
    "admittance.deadband_force": 2.0,
    "admittance.deadband_torque": 0.3,
    "max_linear_velocity": 0.4,
    "limits.max_linear_jerk": 50.0,
    "limits.max_angular_jerk": 200.0,
}
STILL = 0.001  # m/s


class Guide:
    """A hand that takes the tool, leads it around a circle, turns it there and back, lets go."""

    STIFFNESS, DAMPING = 300.0, 10.0  # N/m, N s/m
    RADIUS, TORQUE = 0.12, 1.0  # m, Nm
    GRIP, LAP, RELEASE = 1.0, 14.0, 13.0  # s; it lets go while it moves
    THERE, BACK = (3.0, 5.0), (8.0, 10.0)  # s, when it turns

    def __init__(self) -> None:
        there, back = (0, 0, 0, 0, 0, self.TORQUE), (0, 0, 0, 0, 0, -self.TORQUE)
        self._spring = SpringHand(self.STIFFNESS, self.DAMPING, self.where)
        self._twist = ScriptedPush([(*self.THERE, there), (*self.BACK, back)])

    def where(self, t: float) -> np.ndarray:
        """(3,) m: on a circle across W's x axis that begins and ends at home, at rest."""
        s = min(max((t - self.GRIP) / self.LAP, 0.0), 1.0)
        angle = 2 * math.pi * s * s * (3 - 2 * s)
        return home()[:3, 3] + self.RADIUS * np.array([0.0, math.sin(angle), 1 - math.cos(angle)])

    @property
    def fastest(self) -> float:
        """m/s, halfway."""
        return 1.5 * 2 * math.pi * self.RADIUS / self.LAP

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        if not self.GRIP <= t < self.RELEASE:
            return np.zeros(6)
        return self._spring(t, X_WP, V_WP) + self._twist(t, X_WP, V_WP)


class HandGuiding(Scenario):
    """A hand leads the arm."""

    name = "hand-guiding"
    title = "A hand leads the arm"
    text = (
        "A hand takes the tool by a spring of 300 N/m, leads it around a circle, turns it there "
        "and back, and lets go while it moves. The arm comes to rest and stays."
    )
    seconds = 18.0
    settings = LIGHT
    guide = Guide()
    hand = guide

    def findings(self, run: Run, lag: float) -> list[Finding]:
        guide, config = self.guide, self.config()
        D, D_turn = config.effective_damping()[0], config.effective_damping()[5]
        led = run.during(guide.GRIP, guide.RELEASE)
        hand = np.array([guide.where(t) for t in run.t[led]])
        behind = float(np.linalg.norm(hand - run.p[led], axis=1).max())
        # Hand and tool are a spring apart that pulls with what the damping and the deadband take.
        pull = (D + guide.DAMPING) * guide.fastest + config.admittance.deadband_force
        most = 1.15 * pull / guide.STIFFNESS + lag * guide.fastest
        found = [
            Finding(
                "the tool follows the hand",
                behind <= most,
                f"{behind * 1e3:.0f} mm behind at most, allowed {most * 1e3:.0f} mm",
            )
        ]
        pressed = guide.TORQUE - config.admittance.deadband_torque
        for (start, end), way in ((guide.THERE, 1), (guide.BACK, -1)):
            turned = _turn_about_z(run, start, end + 1.0)
            due = way * pressed / D_turn * (end - start)
            found.append(
                Finding(
                    f"the tool turns {'there' if way > 0 else 'back'}",
                    abs(turned - due) <= 0.1 * abs(due),
                    f"{math.degrees(turned):.1f} degrees, due {math.degrees(due):.1f} within 10 %",
                )
            )
        return [*found, *_rest(run, guide.RELEASE, run.t[-1])]


class Wall(Scenario):
    """A hand pushes the arm against a wall."""

    PUSH, RELEASE, PULL, END = 1.0, 13.0, 15.0, 16.0  # s
    FORCE, BACK = 50.0, 10.0  # N
    PLACE = float(home()[1, 3]) + 0.15  # m along W's y

    name = "wall"
    title = "A hand pushes against a wall"
    text = (
        "The workspace ends at a wall across W's y axis. A hand pushes with 50 N against it for "
        "twelve seconds, lets go, and later draws the tool away again."
    )
    seconds = 18.0
    settings = LIGHT | {
        "limits.workspace_max": [10.0, PLACE, 10.0],
        "admittance.enabled_axes": [True, True, True, False, False, False],
    }
    hand = ScriptedPush(
        [(PUSH, RELEASE, (0, FORCE, 0, 0, 0, 0)), (PULL, END, (0, -BACK, 0, 0, 0, 0))]
    )

    def findings(self, run: Run, lag: float) -> list[Finding]:
        config = self.config()
        beyond = float(run.p[:, 1].max() - self.PLACE)
        # An arm that is late goes on for as long as it is late, while it brakes.
        most = 1e-4 + 0.5 * config.limits.max_linear_acceleration * lag**2
        pressed = run.during(self.PUSH, self.RELEASE) & (run.p[:, 1] > self.PLACE - 0.001)
        seconds = float(np.median(np.diff(run.t)) * pressed.sum())
        force = float(np.mean(run.force[pressed])) if pressed.any() else 0.0
        after = run.during(self.RELEASE, self.PULL - 0.01)
        let_go = run.p[after][0]
        way = float(np.linalg.norm(run.p[after] - let_go, axis=1).max())
        speed = float(np.linalg.norm(run.V[after, LINEAR], axis=1).max())
        drawn = float(let_go[1] - run.p[run.during(self.END, self.seconds), 1].min())
        due = (self.BACK - config.admittance.deadband_force) / config.effective_damping()[0]
        due *= self.END - self.PULL
        return [
            Finding(
                "stops at the wall",
                beyond <= most,
                f"{beyond * 1e3:.3f} mm beyond it at most, allowed {most * 1e3:.2f} mm",
            ),
            Finding(
                "is held there",
                seconds >= 10.0 and force >= 0.9 * self.FORCE,
                f"{seconds:.1f} s under {force:.1f} N, at least 10 s under {0.9 * self.FORCE:g} N",
            ),
            Finding(
                "does not lunge when released",
                way <= 0.005 and speed <= 0.02,
                f"goes {way * 1e3:.1f} mm at {speed * 1e3:.1f} mm/s at most, allowed 5 and 20",
            ),
            Finding(
                "leaves when drawn away",
                abs(drawn - due) <= 0.1 * due,
                f"goes {drawn * 1e3:.0f} mm, due {due * 1e3:.0f} mm within 10 %",
            ),
            *_rest(run, self.END, run.t[-1]),
        ]


def _rest(run: Run, released: float, end: float) -> list[Finding]:
    """After its release the arm is at rest within a second, and stays."""
    after = run.during(released, end)
    fast = run.t[after & (np.linalg.norm(run.V[:, LINEAR], axis=1) > STILL)]
    took = float(fast[-1] - released) if fast.size else 0.0
    last = run.p[run.during(end - 1.0, end)]
    drift = float(np.linalg.norm(last[-1] - last[0]))
    return [
        Finding("comes to rest", took <= 1.0, f"{took:.2f} s after the release, allowed 1 s"),
        Finding("stays", drift <= 1e-4, f"{drift * 1e3:.3f} mm in the last second, allowed 0.1 mm"),
    ]


def _turn_about_z(run: Run, start: float, end: float) -> float:
    """Angle that the tool turned about W's z, rad: the sum of its turning rate."""
    part = run.during(start, end)
    return float(np.sum(run.V[part, ANGULAR][1:, 2] * np.diff(run.t[part])))
