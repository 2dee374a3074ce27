"""The tool presses on a cylinder and slides over it, there and back."""

from __future__ import annotations

import numpy as np

from ur_admittance.robots.sim.scene import Scene
from ur_admittance.scenarios.base import (
    MASS,
    NOISE,
    Finding,
    Run,
    Scenario,
    home,
    lying_cylinder,
    through,
)

RADIUS = 0.3  # m, of the cylinder
BALL = 0.015  # m, of the tool's tip
X, Y, Z = home()[:3, 3]
CROWN = Z - 0.03  # m, height of P when the ball lies on the top of the cylinder
REACH, DEPTH = 0.1, 0.05  # m: half the stroke, and the way of the desired pose below the crown
STIFFNESS = 5_000.0  # N/m, of the surface
DOWN, START, TURN, STOP, UP = 2.5, 5.0, 11.0, 17.0, 19.0  # s

SETTINGS = {
    "admittance.frame": "base",
    "admittance.enabled_axes": [False, False, True, False, False, False],
    "admittance.mass": [5.0, 5.0, 5.0, 0.5, 0.5, 0.5],
    "admittance.stiffness": [400.0, 400.0, 400.0, 20.0, 20.0, 20.0],
    "admittance.damping": [270.0, 270.0, 270.0, 5.0, 5.0, 5.0],
    "admittance.filter_cutoff_hz": 40.0,
    "admittance.deadband_force": 0.5,
    "admittance.deadband_torque": 0.2,
    "environment_stiffness": STIFFNESS,
    "max_linear_velocity": 0.1,
}
PATH = through(
    (0.5, X, Y, Z),
    (DOWN, X - REACH, Y, Z - 0.03),
    (START, X - REACH, Y, CROWN - DEPTH),
    (TURN, X + REACH, Y, CROWN - DEPTH),
    (STOP, X - REACH, Y, CROWN - DEPTH),
    (UP, X - REACH, Y, Z),
)


class Surface(Scenario):
    """The tool follows a curved surface."""

    name = "surface"
    title = "The tool follows a curved surface"
    text = (
        "The tool presses on a cylinder and slides over its crown, there and back. The planned "
        "path is a straight line inside the cylinder; the spring along z presses, and gives way."
    )
    seconds = 20.0
    scene = Scene(
        (lying_cylinder(X, Y, CROWN - BALL, RADIUS),),
        stiffness=STIFFNESS,
        damping=50.0,
        friction=0.3,
    )
    settings = SETTINGS
    path = PATH

    def band(self, t: np.ndarray, lag: float) -> tuple[np.ndarray, np.ndarray]:
        """Force along z that M, D, K and the speed imply during the stroke, N: (n,) low and high.

        The law says F = M a + D v + K x for the offset x of the tool from the path. The tool is
        where the surface lets it be: with h the height of the surface above the path, and the
        surface a spring k, x = h - F / k. So, while F changes slowly,

            F (1 + K / k) = M h'' + D h' + K h

        and the sensor feels the deadband on top of that. The band around it is the noise, the
        deadband again, and what F changes by while the arm is late.
        """
        config, step = self.config(), 0.002
        M, D = config.admittance.mass[2] + MASS, config.effective_damping()[2]
        K, deadband = config.admittance.stiffness[2], config.admittance.deadband_force
        times = np.arange(START, STOP, step)
        x = np.array([PATH.at(time)[0][0] for time in times]) - X
        h = DEPTH - (RADIUS + BALL) + np.sqrt((RADIUS + BALL) ** 2 - x * x)
        rate = np.gradient(h, step)
        F = (M * np.gradient(rate, step) + D * rate + K * h) / (1 + K / STIFFNESS) + deadband
        room = deadband + 5 * NOISE[0] + lag * float(np.abs(np.gradient(F, step)).max())
        F = np.interp(t, times, F)
        return F - room, F + room

    def findings(self, run: Run, lag: float) -> list[Finding]:
        press, least = run.f[:, 2], 5 * NOISE[0]
        touches = np.nonzero((press > 2 * least) & (run.t > DOWN))[0]
        touch = float(run.t[touches[0]]) if touches.size else np.inf
        weakest = float(press[run.during(touch, STOP)].min(initial=np.inf))
        stroke = run.during(START, STOP)
        F, x = press[stroke], run.p[stroke, 0]
        low, high = self.band(run.t[stroke], lag)
        outside = float(np.maximum(low - F, F - high).max())
        slid = float(np.ptp(x))
        return [
            Finding(
                "touches down once and stays in contact",
                touch < START and weakest > least,
                f"from {touch:.2f} s on at least {weakest:.1f} N, allowed above {least:g} N",
            ),
            Finding(
                "presses as M, D, K and the speed imply",
                outside <= 0,
                f"{F.min():.1f} to {F.max():.1f} N, implied {low.min():.1f} to {high.max():.1f} N; "
                f"{-outside:.2f} N inside the band of the moment",
            ),
            Finding(
                "slides over the whole stroke",
                slid >= 2 * REACH - 0.005,
                f"{slid * 1e3:.0f} mm there and back, planned {2e3 * REACH:.0f} mm",
            ),
        ]
