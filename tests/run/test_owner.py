"""One owner of a run: it asks, makes, records, drives and lets go."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.blackboard import Blackboard
from ur_admittance.motion.joints import straight as joints_straight
from ur_admittance.motion.taught import Path as Taught
from ur_admittance.robots.base import Robot
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run.assent import NotPermitted
from ur_admittance.run.signals import signals
from ur_admittance.telemetry.recording import read

SOURCE = Path(ua.__file__).parent
GUIDING = ua.Config.preset("hand-guiding")


class Real(SimRobot):
    """A simulated arm that is taken for a real one: it has noise, and needs assent."""

    simulated = False


def real(**options) -> Real:
    return Real("ur5e", realtime=False, **options)


def simulated() -> SimRobot:
    return SimRobot("ur5e", realtime=False)


def straight(model: ua.RobotModel, metres: float) -> Taught:
    """A path of two seconds along y that begins where the arm's home is."""
    X = model.fk(model.home)
    wxyz = [0.0, 1.0, 0.0, 0.0]
    from ur_admittance.kernel.spatial import quaternion_of

    wxyz = list(quaternion_of(np.ascontiguousarray(X[:3, :3])))
    x, y, z = X[:3, 3]
    poses = [[x, y + metres * n / 10.0, z, *wxyz] for n in range(11)]
    return Taught(np.linspace(0.0, 2.0, 11), np.array(poses), model.home)


def test_a_run_with_a_recorder_and_a_player_takes_a_few_lines(tmp_path, runtime) -> None:
    arm, file = simulated(), tmp_path / "first.mcap"
    with ua.Run(arm, ua.Config.preset("pose-law"), record=file) as run:
        run.drive(0.2)
        assert run.play(straight(arm.model, 0.05)) == "reached"
    assert not arm.connected
    assert run.recorded is not None and run.recorded.lost == 0
    assert len(read(file).records) == run.summary.ticks == run.recorded.written


def test_others_see_the_run_from_connecting_to_closing_and_may_not_loosen_it(runtime) -> None:
    with ua.Run(simulated(), GUIDING) as run:
        reader = Blackboard.attach(run.robot.name)
        assert reader.robot == "sim:ur5e"
        run.drive(0.05)
        with pytest.raises(ua.ConfigError, match="--allow-loosening"):
            reader.set({"max_linear_velocity": 0.9})
    assert reader.state == "ended"


def test_a_robot_that_was_connected_already_stays_so(runtime) -> None:
    with simulated() as arm:
        with ua.Run(arm, GUIDING) as run:
            run.drive(0.05)
        assert arm.connected
        arm.wait()


def test_a_second_run_of_the_same_robot_is_refused_before_it_is_connected(runtime) -> None:
    with ua.Run(simulated(), GUIDING):
        second = simulated()
        with pytest.raises(ua.RobotError, match="already has a controller"):
            ua.Run(second, GUIDING).__enter__()
        assert not second.connected


FAR = {"position": [0.4, 0.3, 0.4], "orientation": [0.0, 1.0, 0.0, 0.0]}
ALONG_Z = [False, False, True, False, False, False]
PRESSES = GUIDING.replace({"force.enabled_axes": ALONG_Z, "force.target": [0, 0, 5, 0, 0, 0]})


@pytest.mark.parametrize(
    ("config", "act", "words"),
    [
        (GUIDING.replace({"equilibrium": FAR}), "travel", "from where the arm stands"),
        (PRESSES, "force", "the tool sets off by itself along z at 0.01 m/s until it touches"),
    ],
)
def test_what_an_arm_would_do_by_itself_is_permitted_by_somebody_or_not_done(
    config, act: str, words: str, runtime
) -> None:
    with ua.Run(real(), config) as run:
        before = run.robot.wait().q.copy()
        with pytest.raises(NotPermitted, match=words) as refused:
            run.drive(1.0)
        assert refused.value.act.name == act and f"permit={{'{act}'}} lets it" in str(refused.value)
        np.testing.assert_allclose(run.robot.wait().q, before, atol=1e-5)
    with ua.Run(real(), config, permit={act}) as run:
        assert run.drive(0.2).ticks >= 100


def test_an_arm_that_may_travel_is_slow_and_then_gives_way_at_its_equilibrium(runtime) -> None:
    X = simulated().model.fk(simulated().model.home)
    from ur_admittance.kernel.spatial import quaternion_of

    wxyz = list(quaternion_of(np.ascontiguousarray(X[:3, :3])))
    there = {"position": (X[:3, 3] + [0.0, 0.08, 0.0]).tolist(), "orientation": wxyz}
    config = ua.Config.preset("stiff-hold").replace({"equilibrium": there})
    speeds: list[float] = []
    with ua.Run(
        simulated(),
        config,
        permit={"travel"},
        each=lambda state, out: speeds.append(float(np.linalg.norm(out["V_WP_cmd"][:3]))),
    ) as run:
        run.drive(4.0)
        end = run.robot.model.fk(run.robot.wait().q)
    assert max(speeds) < 0.06
    assert np.linalg.norm(end[:3, 3] - there["position"]) < 3e-3


def test_an_unknown_act_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ua.RobotError, match=r"no 'forces'; there are start, .*force"):
        ua.Run(simulated(), GUIDING, permit={"forces"})


def test_a_stop_from_python_ends_the_run_with_its_words(runtime) -> None:
    with ua.Run(simulated(), GUIDING) as run:

        def each(state, out) -> None:
            if out["tick"] == 100:
                run.stop("the door is open")

        run.each = each
        summary = run.drive(5.0)
    assert summary.faulted and summary.ticks < 1000
    assert summary.reason == run.reason == ua.StopReason.of("asked", "the door is open")


COMMANDS = {"send_velocity", "send_position", "send_trajectory"}
# Who may: the run; the robots themselves; and the node that plays a robot on a graph.
MAY = ("run/", "robots/", "ros2/sim_node.py", "bench/processes.py")


def test_nothing_commands_a_robot_but_a_run() -> None:
    """By the syntax tree of every module."""
    others = []
    for file in SOURCE.rglob("*.py"):
        name = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr in COMMANDS and not name.startswith(MAY):
                others.append(f"{name}:{node.lineno}")
    assert others == []


def test_a_robot_that_no_run_owns_is_agreed_to_by_nobody() -> None:
    with pytest.raises(ua.RobotError, match=r"permit=\{'replace'\}"):
        Robot.assent("replace", "a program plays")


def test_a_signal_stops_an_arm_that_is_led_also_if_its_caller_collects_them(runtime) -> None:
    with signals() as asked, ua.Run(simulated(), GUIDING) as run:
        start = run.robot.wait().q.copy()
        way = joints_straight(run.robot.model, run.config, start, start + 0.2)
        asked.append(2)
        with pytest.raises(ua.RobotError, match="interrupted; the arm was braked on the way"):
            run.lead(way)
        np.testing.assert_allclose(run.robot.wait().q, start, atol=1e-3)
