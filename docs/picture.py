"""A picture of the surface scenario: the arm, the way of its tool coloured by force, and the force.

    python docs/picture.py docs/images/surface.png

It plays the scenario, draws the arm with MuJoCo off-screen, and puts the plots beside it. That
takes OpenGL: on a machine without a screen, the EGL library and PyOpenGL.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.controller import Controller
from ur_admittance.errors import RobotError
from ur_admittance.kernel import layout
from ur_admittance.robots.sim.mjcf import build, load_mujoco
from ur_admittance.scenarios import SCENARIOS, Run, play
from ur_admittance.scenarios.base import LOOP_DELAY, arm
from ur_admittance.scenarios.surface import BALL, CROWN, RADIUS, START, STOP, TURN, Surface, X

SIZE = (1000, 1200)  # pixels, height and width of the rendered part
COLOURS = "turbo"


def draw(file: str | os.PathLike[str]) -> None:
    """Play the surface scenario and write its picture, as PNG or whatever `file` ends with."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import colormaps, pyplot
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scenario, records = Surface(), _record("surface")
    run = Run(records)
    stroke = run.during(START, STOP)
    force = np.convolve(run.f[:, 2], np.full(50, 0.02), mode="same")  # N, without the noise
    scale = Normalize(float(force[stroke].min()), float(force[stroke].max()))
    there = run.during(START, TURN)
    image = render(
        scenario,
        [records["q"][np.searchsorted(run.t, t)] for t in (START, 0.5 * (START + TURN), TURN)],
        _on_surface(run.p[there][::25]),
        colormaps[COLOURS](scale(force[there][::25])),
    )

    figure = pyplot.figure(figsize=(13, 5.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[1, 1.05])
    axes = figure.add_subplot(grid[:, 0])
    axes.imshow(image)
    axes.axis("off")
    bar = axes.inset_axes((0.05, 0.1, 0.5, 0.025))
    figure.colorbar(ScalarMappable(scale, COLOURS), cax=bar, orientation="horizontal").set_label(
        "force along z, N"
    )
    top = figure.add_subplot(grid[0, 1])
    bottom = figure.add_subplot(grid[1, 1], sharex=top)
    low, high = scenario.band(run.t[stroke], LOOP_DELAY)
    top.fill_between(run.t[stroke], low, high, color="0.85", label="implied by M, D, K and speed")
    top.plot(run.t, run.f[:, 2], color="tab:blue", linewidth=0.6, label="measured")
    top.set_ylabel("force along z, N")
    top.set_title("pressing and sliding over a cylinder", loc="left", fontsize="medium")
    for height, label, style in (
        (_height(run.p[:, 0]), "surface", "-"),
        (run.p[:, 2], "tool", "-"),
        (records["X_WD"][:, 2, 3], "desired", "--"),
    ):
        bottom.plot(run.t, 1e3 * (height - CROWN), style, label=label)
    bottom.set_ylabel("height above the crown, mm")
    bottom.set_xlabel("time, s")
    for axes in (top, bottom):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize="small")
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _height(x: np.ndarray) -> np.ndarray:
    """Of P, m, where the ball just touches the cylinder, at `x` m in W."""
    return CROWN - (RADIUS + BALL) + np.sqrt((RADIUS + BALL) ** 2 - (x - X) ** 2)


def _on_surface(p: np.ndarray) -> np.ndarray:
    """(n, 3) where the ball touches the cylinder, for P above it, m."""
    centre = np.array([X, 0.0, CROWN - BALL - RADIUS])
    out = (p - centre) * [1.0, 0.0, 1.0]
    return centre + [0.0, p[0, 1], 0.0] + RADIUS * out / np.linalg.norm(out, axis=1)[:, None]


def render(
    scenario: Surface, poses: list[np.ndarray], way: np.ndarray, colours: np.ndarray
) -> np.ndarray:
    """The scene with the arm at `poses`, all but the middle one faint, and a coloured line.

    Args:
        poses: joint angles, rad (6,) each.
        way: (n, 3) points of the line, m, in W.
        colours: (n, 4) of its points, red, green, blue and opacity.

    Returns:
        (height, width, 3) the image, 8 bits a colour.
    """
    mj = load_mujoco()
    model = build(arm(), tool=scenario.tool, scene=scenario.scene, looks=True).model
    model.vis.global_.offheight, model.vis.global_.offwidth = SIZE
    model.vis.quality.numslices = model.vis.quality.numstacks = 128
    try:
        renderer = mj.Renderer(model, *SIZE)
    except Exception as error:  # MuJoCo, PyOpenGL and the driver each have their own
        raise RobotError(
            f"picture: MuJoCo cannot draw here ({type(error).__name__}: {error}); install EGL "
            "(Debian: libegl1) and PyOpenGL, and set MUJOCO_GL=egl before Python starts"
        ) from error
    data, option, camera = mj.MjData(model), mj.MjvOption(), mj.MjvCamera()
    camera.lookat[:], camera.distance = (0.36, 0.08, 0.32), 1.38
    camera.azimuth, camera.elevation = 122.0, -26.0
    with renderer:
        first = len(poses) // 2
        for n, q in sorted(enumerate(poses), key=lambda pose: pose[0] != first):
            data.qpos[:] = q
            mj.mj_forward(model, data)
            if n == first:
                renderer.update_scene(data, camera, option)
                continue
            before = renderer.scene.ngeom
            moving = mj.mjtCatBit.mjCAT_DYNAMIC
            mj.mjv_addGeoms(model, data, option, mj.MjvPerturb(), moving, renderer.scene)
            for geom in renderer.scene.geoms[before : renderer.scene.ngeom]:
                geom.rgba[3] = 0.18
        _add_line(mj, renderer.scene, way, colours)
        return renderer.render()


def _add_line(mj: Any, scene: Any, way: np.ndarray, colours: np.ndarray) -> None:
    for start, end, colour in zip(way, way[1:], colours, strict=False):
        geom = scene.geoms[scene.ngeom]
        kind = mj.mjtGeom.mjGEOM_CAPSULE
        mj.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), np.float32(colour))
        mj.mjv_connector(geom, kind, 0.005, start, end)
        scene.ngeom += 1


def _record(name: str) -> np.ndarray:
    """The output records of a scenario played by the realistic arm."""
    scenario = SCENARIOS[name]
    records = np.empty(round(scenario.seconds * 500) + 1000, layout.OUTPUTS)
    with scenario.robot(realtime=False) as robot:
        controller = Controller(robot.model, scenario.config())

        def keep(state: Any, out: np.record) -> None:
            records[int(out["tick"]) - 1] = out

        ticks = play(scenario, robot, controller, each=keep).ticks
    return records[:ticks]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/picture.py FILE.png")
    os.environ.setdefault("MUJOCO_GL", "egl")  # read when MuJoCo is imported
    try:
        draw(Path(sys.argv[1]))
    except RobotError as error:
        sys.exit(f"error: {error}")
