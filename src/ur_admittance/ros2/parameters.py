"""Every parameter of the configuration as a ROS parameter: its descriptor, its value, its changes.

A change is checked whole, as everywhere: one wrong value, and nothing has changed. What is none
in the configuration is the text "none" in ROS, which has no such value.
"""

from __future__ import annotations

import json
import traceback
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterType,
    SetParametersResult,
)
from rclpy.parameter import Parameter

from ur_admittance.config import Config, Field
from ur_admittance.controller.packing import Change
from ur_admittance.errors import AdmittanceError, ConfigError, RobotError

NONE = "none"
SIM_TIME = "use_sim_time"
NO_SIM_TIME = (
    f"{SIM_TIME}: must be false: ages of samples, timeouts and the law's time step go by this "
    "machine's own clock, on which a simulator slower than real time would be a stalled robot; let "
    "the simulator run in real time and publish /joint_states as an arm does"
)
_EARLY = (
    "may not change from the graph before the node is configured and hears the arm, unless it was "
    "started with --allow-loosening"
)
_FIELDS = {field.name: field for field in Config.fields()}
_KINDS = {
    "number": (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_DOUBLE_ARRAY),
    "integer": (ParameterType.PARAMETER_INTEGER, ParameterType.PARAMETER_INTEGER_ARRAY),
    "boolean": (ParameterType.PARAMETER_BOOL, ParameterType.PARAMETER_BOOL_ARRAY),
    "choice": (ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING_ARRAY),
    "text": (ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING_ARRAY),
    "pose": (ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING_ARRAY),
    "file": (ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING_ARRAY),
}


def given_to(node: Any) -> dict[str, Any]:
    """The parameters that a user gave a node at its start: `-p name:=value` and parameter files.

    The node must have been made with `automatically_declare_parameters_from_overrides`; they are
    undeclared again, so that they can be declared properly.
    """
    own = (SIM_TIME, "start_type_description_service", "qos_overrides")
    given = {}
    for name, parameter in node.get_parameters_by_prefix("").items():
        if not name.startswith(own):
            given[name] = parameter.value
            node.undeclare_parameter(name)
    return given


def descriptor(field: Field, why_fixed: str = "") -> ParameterDescriptor:
    """What tools show of a parameter: text, unit, range, and whether it may change."""
    unit = f" [{field.unit}]" if field.unit else ""
    made = ParameterDescriptor(
        name=field.name,
        type=_KINDS[field.kind][bool(field.size)],
        description=field.text + unit,
        additional_constraints=field.allowed + (f"; {why_fixed}" if why_fixed else ""),
        read_only=bool(why_fixed),
        dynamic_typing=field.optional or field.or_scalar,
    )
    if field.bounds:
        low, high = field.bounds
        if field.kind == "integer":
            made.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
        else:
            made.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return made


def to_ros(value: Any) -> Any:
    """A value of a configuration as ROS has it."""
    if value is None:
        return NONE
    if isinstance(value, Mapping):
        return json.dumps(value)
    return list(value) if isinstance(value, tuple) else value


# What whoever publishes a compensated wrench has done already, and must not be done twice.
COMPENSATED = {
    "payload.mass": 0.0,
    "payload.center_of_mass": (0.0,) * 3,
    "payload.inertia": (0.0,) * 6,
    "payload.force_bias": (0.0,) * 3,
    "payload.torque_bias": (0.0,) * 3,
    "payload.compensate_inertia": False,
    "admittance.filter_cutoff_hz": None,
    "admittance.filter_coefficient": 1.0,
    "admittance.min_motion_threshold": None,
    "admittance.deadband_force": 0.0,
    "admittance.deadband_torque": 0.0,
    "safety.frozen_samples": 0,
}


class Parameters:
    """The ROS parameters of a node, which show what is in force and change it."""

    def __init__(self, node: Any, config: Config, fixed: Mapping[str, str] | None = None) -> None:
        """
        Args:
            node: an `AdmittanceNode`, to declare them on.
            config: the values to begin with.
            fixed: names that may not change here, and why.
        """
        self._config = self._shown = config
        self._node, self._own = node, False
        self._why = {name: _why_fixed(field, config) for name, field in _FIELDS.items()}
        self._why |= fixed or {}
        values = config.flat()
        for name, field in _FIELDS.items():
            node.declare_parameter(
                name, to_ros(values[name]), descriptor(field, self._why[name]), ignore_override=True
            )
        node.add_pre_set_parameters_callback(_kindly)
        node.add_on_set_parameters_callback(self._on_set)

    @property
    def config(self) -> Config:
        """What is in force: on the blackboard, as soon as there is one."""
        node = self._node
        if node.board is not None:
            self._config = node.board.config()
        elif node.controller is not None:
            self._config = node.controller.config
        return self._config

    def change(self, changes: Mapping[str, Any]) -> None:
        """Put some values in force, and show them, also such as the graph may not choose.

        Raises:
            AdmittanceError: nothing has changed.
        """
        _, controller = self._node.configured("change")
        self._warn(controller.set(changes))
        self.follow()

    def without_repetitions(self, parameters: Sequence[Parameter]) -> list[Parameter]:
        """All but read-only ones that would stay as they are: files that nodes wrote have them."""
        node = self._node
        return [
            p
            for p in parameters
            if not node.has_parameter(p.name)
            or not node.describe_parameter(p.name).read_only
            or not _same(node.get_parameter(p.name).value, p.value)
        ]

    def refusal(self, parameters: Sequence[Parameter]) -> SetParametersResult | None:
        """Why these may not be set at all, with words that say more than rclpy's own; or None."""
        reasons = []
        for parameter in parameters:
            if parameter.name not in _FIELDS and not self._node.has_parameter(parameter.name):
                reasons.append(_unknown(parameter.name))
            elif parameter.name == SIM_TIME and parameter.value:
                reasons.append(NO_SIM_TIME)
            elif self._why.get(parameter.name):
                reasons.append(f"{parameter.name}: {self._why[parameter.name]}")
        if not reasons:
            return None
        return SetParametersResult(successful=False, reason="; ".join(reasons))

    def follow(self) -> None:
        """Show what is in force, whoever changed it; a change may have changed others with it."""
        config = self.config
        if config is self._shown:
            return
        self._shown = config
        live = [
            Parameter(name, value=to_ros(value))
            for name, value in config.flat().items()
            if not self._why[name]
            and not _same(self._node.get_parameter(name).value, to_ros(value))
        ]
        if live:
            self._own = True
            try:
                self._node.set_parameters_atomically(live)
            finally:
                self._own = False

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        changes = {p.name: p.value for p in parameters if p.name in _FIELDS}
        if changes and not self._own:
            try:
                self._put(changes)
            except AdmittanceError as error:
                words = getattr(error, "problems", None) or (str(error),)
                return SetParametersResult(successful=False, reason="; ".join(words))
            except Exception as error:  # the run goes on; whoever asked learns of it
                self._node.get_logger().error(f"set_parameters: {traceback.format_exc()}")
                reason = f"{type(error).__name__}: {error}"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _put(self, changes: Mapping[str, Any]) -> None:
        node = self._node
        if node.board is not None:
            self._warn(node.board.set(changes))
            return
        config = self.config.replace(changes, live=True)
        if config != self.config and not node.assent.permits("loosen"):
            raise RobotError(f"{', '.join(changes)}: {_EARLY}")  # only a board knows what is looser
        if node.controller is not None:
            self._warn(node.controller.set(changes))
        self._config = config

    def _warn(self, change: Change) -> None:
        if change.warning:
            words = f"{', '.join(change.values)}: {change.warning}"
            self._node.get_logger().warning(words)


def _why_fixed(field: Field, config: Config) -> str:
    if not field.live:
        return "cannot change while the node lives; start it with another value"
    return "" if config.dynamic_parameters else "is frozen: dynamic_parameters is false"


def _kindly(parameters: Sequence[Parameter]) -> list[Parameter]:
    """`ros2 param set ... 1` says a whole number where 1.0 is meant."""
    return [_as_number(parameter) for parameter in parameters]


def _as_number(parameter: Parameter) -> Parameter:
    field = _FIELDS.get(parameter.name)
    if field is not None and field.kind == "number":
        if parameter.type_ == Parameter.Type.INTEGER:
            return Parameter(parameter.name, value=float(parameter.value))
        if parameter.type_ == Parameter.Type.INTEGER_ARRAY:
            return Parameter(parameter.name, value=[float(number) for number in parameter.value])
    return parameter


def _unknown(name: str) -> str:
    try:
        Config().replace({name: 0})
    except ConfigError as error:
        return str(error)
    return f"{name}: unknown"


def _same(a: Any, b: Any) -> bool:
    a, b = (list(v) if isinstance(v, Sequence | array) else v for v in (a, b))
    return a == b
