"""What stands against moving the arm now, in words: looked at before every activation."""

from __future__ import annotations

import time

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller.at_rest import motion
from ur_admittance.controller.packing import pack
from ur_admittance.robots.ros2 import topics
from ur_admittance.robots.ros2.pacing import FEWEST
from ur_admittance.robots.ros2.robot import Ros2Robot
from ur_admittance.robots.wrench_rate import WrenchRate
from ur_admittance.run import preflight

WINDOW, CYCLES = 0.3, 10  # s and number of joint states that are looked at, at least
_FIRST = 1.0  # s for the first message


def obstacles(robot: Ros2Robot, config: Config) -> list[str]:
    """Every reason not to move; none if all is well. Takes a third of a second, at least.

    With none, the command topic is claimed, and somebody listens there.
    """
    found = data_problems(robot, config)
    if not found and (claimed := robot.claim(config.output.mode)):
        found = [claimed]
    return found


def data_problems(robot: Ros2Robot, config: Config) -> list[str]:
    """What is wrong with joint states and wrench."""
    deadline = time.monotonic() + _FIRST
    state = robot.look(0.0)
    while robot.missing() and time.monotonic() < deadline:
        robot.look(0.02)
    if missing := robot.missing():
        return [missing]
    q, heard, begun = state.q.copy(), robot.heard, state.joint_time
    robot.see_sensor()
    samples = WrenchRate(state, robot.rate)
    robot.rivals()
    slowest = robot.rate * (FEWEST if config.clock == "timer" else 1.0)
    state = robot.look(max(WINDOW, CYCLES / slowest))
    seconds = max(state.joint_time - begun, 1e-9)
    found = []
    now, safety = time.monotonic(), config.safety
    wrench, joints = robot.wrench_topic, robot.resolve(topics.JOINT_STATES)
    for topic, age, limit in (
        (joints, now - state.joint_time, safety.joint_timeout),
        (wrench, now - state.wrench_time, safety.wrench_timeout),
    ):
        if not age <= max(limit, 2.0 / slowest):
            found.append(f"the last message on {topic} is {age:.3f} s old, at most {limit:g} s")
    if robot.problem:
        found.append(f"a message on {joints} is of no use: {robot.problem}")
    if not np.isfinite(state.q).all():
        found.append(f"joint positions on {joints} are not finite: {state.q.tolist()}")
    if not np.isfinite(state.wrench).all():
        found.append(f"the wrench on {wrench} is not finite: {state.wrench.tolist()}")
    if found:
        return found
    found += [str(rivals)] if (rivals := robot.rivals()) else []
    rate = (robot.heard - heard) / seconds
    if robot.pace.problem(rate, joints, safety.joint_timeout):  # a second more, to be sure
        heard, since = robot.heard, state.joint_time
        state = robot.look(1.0)
        rate = (robot.heard - heard) / max(state.joint_time - since, 1e-9)
    found += [pace] if (pace := robot.pace.problem(rate, joints, safety.joint_timeout)) else []
    samples.add(state)
    if samples.problem():  # another second, to be sure
        samples = WrenchRate(state, robot.rate)
        samples.add(state := robot.look(1.0))
    found += [f"{wrench}: {slow}"] if (slow := samples.problem()) else []
    moves = motion(robot.model, q, state.q, seconds)
    found += [moves] if moves else []
    params = pack(config, robot.model)
    unexplained = preflight.problem(robot.model, params, config, state.q, state.wrench)
    found += [f"{wrench}: {unexplained}"] if unexplained else []
    expected = config.tip if robot.wrench_compensated else config.ft_frame
    if robot.wrench_frame not in ("", expected):
        key = "tip" if robot.wrench_compensated else "ft_frame"
        found.append(
            f"the wrench on {wrench} is given in {robot.wrench_frame!r}, {key} is {expected!r}; "
            "make them agree"
        )
    return found
