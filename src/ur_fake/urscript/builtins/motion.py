"""Commands that move the arm. Each takes the cycles that its motion takes, at least one."""

from __future__ import annotations

from typing import Any

from ur_fake.arm import commands, paths
from ur_fake.arm.arm import CYCLE
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import Pose, number, numbers


def _moved(rt: Any, command: Any) -> Any:
    """Give the arm a command, and wait until it is done."""
    if rt.program.secondary:
        raise ScriptError("a secondary program must not move the robot")
    rt.machine.motion.begin(rt.current, command)
    while not command.done:
        yield


def _positive(value: Any, what: str) -> float:
    x = number(value)
    if not 0 < x < 1e6:
        raise ScriptError(f"{what} must be above 0, got {x:g}")
    return x


def _time(value: Any) -> float:
    x = number(value)
    if not 0 <= x < 1e6:
        raise ScriptError(f"a time must be 0 or more, got {x:g}")
    return x


def _radius(value: Any) -> float:
    x = number(value)
    if not 0 <= x < 1e6:
        raise ScriptError(f"a blend radius must be 0 or more, got {x:g}")
    return x


def _joints(rt: Any, value: Any) -> tuple[float, ...]:
    """Joint positions, or those nearest to the target that bring the TCP to a pose."""
    six = numbers(value, 6, "the target")
    if type(value) is not Pose:
        return six
    machine = rt.machine
    rt.left -= 200
    found = machine.inverse.solve(six, machine.target_q, machine.kinematics.tcp)
    if found is None:
        raise ScriptError("no joint positions bring the tool to the target")
    return found


def _goal(rt: Any, value: Any) -> tuple[float, ...]:
    """A pose, or where joint positions bring the TCP."""
    six = numbers(value, 6, "the target")
    return six if type(value) is Pose else rt.machine.kinematics.pose(six)


def movej(rt: Any, q: Any, a: Any = 1.4, v: Any = 1.05, t: Any = 0, r: Any = 0) -> Any:
    """To joint positions, or a pose, straight in joint space; a, v of the leading axis."""
    command = paths.MoveJ(
        _joints(rt, q), _positive(a, "a"), _positive(v, "v"), _time(t), _radius(r)
    )
    yield from _moved(rt, command)


def movel(rt: Any, pose: Any, a: Any = 1.2, v: Any = 0.25, t: Any = 0, r: Any = 0) -> Any:
    """To a pose, or joint positions, the TCP on a straight line; a [m/s^2], v [m/s]."""
    command = paths.MoveL(
        _goal(rt, pose), _positive(a, "a"), _positive(v, "v"), _time(t), _radius(r)
    )
    yield from _moved(rt, command)


def movep(rt: Any, pose: Any, a: Any = 1.2, v: Any = 0.25, r: Any = 0) -> Any:
    """As movel, at a constant speed of the tool."""
    yield from movel(rt, pose, a, v, 0, r)


def movec(
    rt: Any, pose_via: Any, pose_to: Any, a: Any = 1.2, v: Any = 0.25, r: Any = 0, mode: Any = 0
) -> Any:
    """Through a pose to another, the TCP on a circle."""
    command = paths.MoveC(
        _goal(rt, pose_via),
        _goal(rt, pose_to),
        _positive(a, "a"),
        _positive(v, "v"),
        _radius(r),
        fixed=number(mode) == 1,
    )
    yield from _moved(rt, command)


def optimovej(rt: Any, q: Any, a: Any = 0.3, v: Any = 0.3, r: Any = 0) -> Any:
    """As movej; a and v are fractions, 0 to 1, of what the arm can do."""
    model = rt.machine.model
    top, most = float(model.qd_max.min()), float(model.qdd_max.min())
    yield from movej(rt, q, most * _fraction(a), top * _fraction(v), 0, r)


def optimovel(rt: Any, pose: Any, a: Any = 0.3, v: Any = 0.3, r: Any = 0) -> Any:
    """As movel; a and v are fractions, 0 to 1, of what the arm can do."""
    top = rt.machine.safety.limits.tcp_speed
    yield from movel(rt, pose, 4.0 * _fraction(a), top * _fraction(v), 0, r)


def _fraction(value: Any) -> float:
    x = number(value)
    if not 0 < x <= 1:
        raise ScriptError(f"a fraction must be above 0 and at most 1, got {x:g}")
    return x


def speedj(rt: Any, qd: Any, a: Any = 1.4, t: Any = 0) -> Any:
    """Accelerate to joint speeds; returns after t [s] or, without it, at the speed."""
    yield from _moved(rt, commands.SpeedJ(numbers(qd, 6, "qd"), max(1e-9, number(a)), _time(t)))


def speedl(rt: Any, xd: Any, a: Any = 1.2, t: Any = 0, aRot: Any = 0) -> Any:
    """Accelerate the TCP to a twist in base axes; returns after t [s] or at the speed."""
    turn = number(aRot)
    command = commands.SpeedL(
        numbers(xd, 6, "xd"), max(1e-9, number(a)), _time(t), turn if turn > 0 else None
    )
    yield from _moved(rt, command)


def servoj(
    rt: Any,
    q: Any,
    a: Any = 0,
    v: Any = 0,
    t: Any = CYCLE,
    lookahead_time: Any = 0.1,
    gain: Any = 300,
) -> Any:
    """Follow joint positions for t [s]; a and v are not used."""
    lookahead, stiffness = number(lookahead_time), number(gain)
    if not 0.03 - 1e-9 <= lookahead <= 0.2 + 1e-9:
        raise ScriptError(f"servoj: lookahead_time must be 0.03 to 0.2 s, got {lookahead:g}")
    if not 100 <= stiffness <= 2000:
        raise ScriptError(f"servoj: gain must be 100 to 2000, got {stiffness:g}")
    yield from _moved(rt, commands.ServoJ(_joints(rt, q), _time(t), lookahead, stiffness))


def servoc(rt: Any, pose: Any, a: Any = 1.2, v: Any = 0.25, r: Any = 0) -> Any:
    """Let the TCP follow a pose at speed v at most; ends one cycle later."""
    yield from _moved(rt, commands.ServoC(_goal(rt, pose), _positive(a, "a"), _positive(v, "v")))


def stopj(rt: Any, a: Any = 2.0) -> Any:
    """Joints to rest, a [rad/s^2] for the leading one."""
    yield from _moved(rt, commands.SpeedJ((0.0,) * 6, _positive(a, "a"), 0.0))


def stopl(rt: Any, a: Any = 20.0, aRot: Any = 0) -> Any:
    """The TCP to rest, a [m/s^2]."""
    turn = number(aRot)
    command = commands.SpeedL((0.0,) * 6, _positive(a, "a"), 0.0, turn if turn > 0 else None)
    yield from _moved(rt, command)


def direct_torque(
    rt: Any,
    torque: Any,
    friction_comp: Any = True,
    viscous_scale: Any = None,
    coulomb_scale: Any = None,
) -> Any:
    """Joint torques beyond what gravity needs, for one cycle, N m."""
    yield from _moved(rt, commands.Torque(numbers(torque, 6, "torque")))


def torque_command(rt: Any, tau: Any, friction_comp: Any = True) -> Any:
    yield from direct_torque(rt, tau, friction_comp)


def sleep(rt: Any, t: Any) -> Any:
    """Wait for t [s]: so many cycles, at least one."""
    cycles = max(1, round(_time(t) / CYCLE))
    for _ in range(cycles):
        yield


def sync(rt: Any) -> Any:
    """Wait for the next cycle."""
    yield
