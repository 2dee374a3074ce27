"""The tool presses a cylinder with 10 N and polishes it, there and back."""

from __future__ import annotations

import numpy as np

from ur_admittance.robots.sim.scene import Scene
from ur_admittance.scenarios.base import (
    NOISE,
    Finding,
    Run,
    Scenario,
    home,
    lying_cylinder,
    through,
)

RADIUS = 0.25  # m, of the cylinder
BALL = 0.015  # m, of the tool's tip
X, Y, Z = home()[:3, 3]
CROWN = Z - 0.03  # m, height of P when the ball lies on the top of the cylinder
REACH = 0.08  # m, half the stroke
TARGET = 10.0  # N
START, TURN, STOP, END = 6.0, 10.0, 14.0, 15.0  # s
CALM = 0.5  # s after the start of a stroke
ALLOWED = 1.5  # N, smoothed; an ideal arm shakes the tool's mass, which the sensor feels
_MEAN = 0.05  # s, of that

SETTINGS = {
    "admittance.frame": "base",
    "admittance.enabled_axes": [False] * 6,
    "force.enabled_axes": [False, False, True, False, False, False],
    "force.target": [0, 0, -TARGET, 0, 0, 0],
    "force.approach_speed": [0.02] * 3 + [0.05] * 3,
    "arm.lag": 0.008,  # no more than half of it, so that an ideal arm can play it, too
    "max_linear_velocity": 0.1,
}
PATH = through(
    (0.5, X, Y, Z),
    (2.0, X - REACH, Y, Z),
    (START, X - REACH, Y, Z),
    (TURN, X + REACH, Y, Z),
    (STOP, X - REACH, Y, Z),
    (END, X - REACH, Y, Z),
)


class Polish(Scenario):
    """The tool presses with a constant force."""

    name = "polish"
    title = "The tool polishes a cylinder with 10 N"
    text = (
        "The planned path is a straight line above a cylinder of 20 kN/m. Along z the tool leaves "
        "it: it approaches, touches, and presses with 10 N, over the crown, there and back."
    )
    seconds = END
    scene = Scene(
        (lying_cylinder(X, Y, CROWN - BALL, RADIUS),),
        stiffness=20_000.0,
        damping=50.0,
        friction=0.2,
    )
    settings = SETTINGS
    path = PATH

    def findings(self, run: Run, lag: float) -> list[Finding]:
        press = run.f[:, 2]
        touches = np.nonzero(press > 10 * NOISE[0])[0]
        touch = float(run.t[touches[0]]) if touches.size else np.inf
        peak = float(press[run.during(touch, touch + CALM)].max(initial=0.0))
        width = round(_MEAN / 0.002)
        smooth = np.convolve(press, np.ones(width) / width, "same")
        stroke = smooth[run.during(START, STOP)] - TARGET
        slid = float(np.ptp(run.p[run.during(START, STOP), 0]))
        return [
            Finding(
                "touches down gently",
                touch < START - CALM and peak < TARGET + 5.0,
                f"at {touch:.2f} s, at most {peak:.1f} N, allowed {TARGET + 5:g} N",
            ),
            Finding(
                "holds its force along the whole stroke",
                float(np.abs(stroke).max()) < ALLOWED and abs(float(stroke.mean())) < 0.2,
                f"{stroke.min():+.2f} to {stroke.max():+.2f} N of {TARGET:g} N, in the mean "
                f"{stroke.mean():+.2f} N; allowed {ALLOWED:g} and 0.2 N",
            ),
            Finding(
                "keeps its path",
                slid >= 2 * REACH - 0.005,
                f"{slid * 1e3:.0f} mm there and back, planned {2e3 * REACH:.0f} mm",
            ),
        ]
