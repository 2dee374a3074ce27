"""The tool, the sensor, compliance, and stops."""

from __future__ import annotations

from typing import Any

from ur_admittance.kernel.spatial import LINEAR
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import number, numbers, truth, whole

_HEAVIEST = 50.0  # kg


def set_tcp(rt: Any, pose: Any, tcp_name: Any = "") -> None:
    rt.machine.set_tcp(numbers(pose, 6, "the TCP"))


def _mass(m: Any) -> float:
    mass = number(m)
    if not 0 <= mass <= _HEAVIEST:
        raise ScriptError(f"a payload is 0 to {_HEAVIEST:g} kg, got {mass:g}")
    return mass


def set_payload(rt: Any, m: Any, cog: Any = None) -> None:
    machine = rt.machine
    machine.payload = _mass(m)
    machine.payload_cog[:] = machine.tcp_offset[LINEAR] if cog is None else numbers(cog, 3, "cog")


def set_payload_mass(rt: Any, m: Any) -> None:
    rt.machine.payload = _mass(m)


def set_payload_cog(rt: Any, CoG: Any) -> None:
    rt.machine.payload_cog[:] = numbers(CoG, 3, "CoG")


def set_target_payload(
    rt: Any, m: Any, cog: Any = (0.0, 0.0, 0.0), inertia: Any = (0.0,) * 6, transition_time: Any = 0
) -> Any:
    """Payload, over `transition_time` s; the thread goes on at once."""
    machine = rt.machine
    mass, to, six = _mass(m), numbers(cog, 3, "cog"), numbers(inertia, 6, "inertia")
    number(transition_time)
    machine.payload = mass
    machine.payload_cog[:], machine.payload_inertia[:] = to, six


def set_gravity(rt: Any, d: Any) -> None:
    """What holds the arm up, m/s^2 in base axes: [0, 0, 9.82] on a floor."""
    rt.machine.gravity[:] = numbers(d, 3, "gravity")


def zero_ftsensor(rt: Any) -> None:
    rt.machine.zero_sensor()


def ft_rtde_input_enable(
    rt: Any,
    enable: Any,
    sensor_mass: Any = 0.0,
    sensor_measuring_offset: Any = (0.0, 0.0, 0.0),
    sensor_cog: Any = (0.0, 0.0, 0.0),
) -> None:
    """Use `external_force_torque` of an RTDE client instead of the arm's own sensor."""
    numbers(sensor_measuring_offset, 3, "sensor_measuring_offset")
    numbers(sensor_cog, 3, "sensor_cog")
    number(sensor_mass)
    rt.machine.external_sensor = truth(enable)


def enable_external_ft_sensor(
    rt: Any,
    enable: Any,
    sensor_mass: Any = 0.0,
    sensor_measuring_offset: Any = (0.0, 0.0, 0.0),
    sensor_cog: Any = (0.0, 0.0, 0.0),
) -> None:
    ft_rtde_input_enable(rt, enable, sensor_mass, sensor_measuring_offset, sensor_cog)


def force_mode(
    rt: Any, task_frame: Any, selection_vector: Any, wrench: Any, type: Any, limits: Any
) -> None:
    """Comply along the selected axes of the task frame, pushing with `wrench`."""
    kind = whole(type)
    if kind not in (1, 2, 3):
        raise ScriptError(f"force_mode: type must be 1, 2 or 3, got {kind}")
    rt.machine.motion.compliance.start(
        numbers(task_frame, 6, "task_frame"),
        [number(x) != 0 for x in numbers(selection_vector, 6, "selection_vector")],
        numbers(wrench, 6, "wrench"),
        numbers(limits, 6, "limits"),
    )


def end_force_mode(rt: Any) -> None:
    rt.machine.motion.compliance.end()


def force_mode_set_damping(rt: Any, damping: Any) -> None:
    rt.machine.motion.compliance.damping = _between("damping", damping, 0.0, 1.0)


def force_mode_set_gain_scaling(rt: Any, scaling: Any) -> None:
    rt.machine.motion.compliance.gain = _between("scaling", scaling, 0.0, 2.0)


def _between(name: str, value: Any, low: float, high: float) -> float:
    x = number(value)
    if not low <= x <= high:
        raise ScriptError(f"{name} must be {low:g} to {high:g}, got {x:g}")
    return x


def freedrive_mode(rt: Any, freeAxes: Any = (1, 1, 1, 1, 1, 1), feature: Any = (0.0,) * 6) -> None:
    numbers(freeAxes, 6, "freeAxes")
    numbers(feature, 6, "feature")
    rt.machine.set_freedrive(True)


def end_freedrive_mode(rt: Any) -> None:
    rt.machine.set_freedrive(False)


def teach_mode(rt: Any) -> None:
    rt.machine.set_freedrive(True)


def end_teach_mode(rt: Any) -> None:
    rt.machine.set_freedrive(False)


def protective_stop(rt: Any) -> Any:
    rt.machine.protective_stop("Protective stop by the program", 0, 0)
    yield


def set_speed_slider(rt: Any, fraction: Any) -> None:
    rt.machine.set_speed_slider(number(fraction))


def position_deviation_warning(rt: Any, enabled: Any, threshold: Any = 0.8) -> None:
    truth(enabled)
    number(threshold)


def reset_revolution_counter(rt: Any, qNear: Any = None) -> None:
    if qNear is not None:
        numbers(qNear, 6, "qNear")


def set_safety_mode_transition_hardness(rt: Any, type: Any) -> None:
    whole(type)
