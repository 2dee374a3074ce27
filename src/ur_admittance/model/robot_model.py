"""The arm: chain of joints, limits, links and tool, from the maker's tables or from a URDF."""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config.validate import as_numbers, as_transform, frozen, pose, suggest
from ur_admittance.errors import ModelError
from ur_admittance.kernel import layout
from ur_admittance.kernel.kinematics import pose_and_jacobian
from ur_admittance.model.calibration import read_calibration
from ur_admittance.model.link import Link
from ur_admittance.model.ur_arms import UR_HOME, UR_JOINTS, X_W_base, ur_links, ur_tables
from ur_admittance.model.urdf import read_urdf
from ur_admittance.model.urdf_writer import write_urdf

# A factory calibration moves the flange by millimetres. More is another arm's, or another chain.
_LONGEST_TOOL = 3.0  # m
_CALIBRATION_METRES, _CALIBRATION_RADIANS = 0.05, 0.1


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A six-joint arm and the tool on it. Its arrays are read-only; `with_...` makes a new model.

        X_WP = prod_i ( X_chain[i] Rz(q_i) ) X_chain[6] X_EP

    Attributes:
        name: "ur5e", or the name in the URDF.
        base: name of W. For UR arms "base" (the controller's) or "base_link" (ROS's, half a turn
            about z from it).
        tip: name of E, the flange: "tool0" for UR arms.
        joint_names: six, base to tip.
        X_chain: (7, 4, 4). X_chain[i] is the pose of joint i's frame, whose z is the joint's axis,
            in the moved frame of joint i - 1 (in W for i = 0); X_chain[6] is the pose of E in joint
            5's. For UR arms these are the link frames of the maker's ROS description.
        q_min, q_max: (6,) rad; infinite for joints that turn without end.
        qd_max: (6,) rad/s.
        qdd_max: (6,) rad/s^2.
        X_EP: (4, 4) probe (TCP) in the flange; identity by default.
        X_ES: (4, 4) sensor in the flange; X_EP by default.
        links: the six moving bodies, or () if unknown.
        tau_max: (6,) N m; infinite where unknown.
    """

    name: str
    base: str
    tip: str
    joint_names: tuple[str, ...]
    X_chain: np.ndarray
    q_min: np.ndarray
    q_max: np.ndarray
    qd_max: np.ndarray
    qdd_max: np.ndarray
    X_EP: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    X_ES: np.ndarray = None  # pyright: ignore[reportAssignmentType]
    links: tuple[Link, ...] = ()
    tau_max: np.ndarray = None  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        if len(names) != 6 or len(set(names)) != 6:
            raise ModelError(f"{self.name}: joint_names must be six different names, got {names}")
        if self.base == self.tip:
            raise ModelError(f"{self.name}: base and tip are both {self.base!r}; they must differ")
        if len(self.links) not in (0, 6):
            raise ModelError(f"{self.name}: links must be six or none, got {len(self.links)}")
        X_chain = as_numbers(self.X_chain, "X_chain", (7, 4, 4))
        X_EP = np.eye(4) if self.X_EP is None else self.X_EP
        X_ES = X_EP if self.X_ES is None else self.X_ES
        checked = {
            "joint_names": names,
            "links": tuple(self.links),
            "X_chain": frozen([as_transform(X, f"X_chain[{i}]") for i, X in enumerate(X_chain)]),
            "X_EP": as_transform(X_EP, "X_EP"),
            "X_ES": as_transform(X_ES, "X_ES"),
        }
        for name in ("X_EP", "X_ES"):
            far = float(np.linalg.norm(checked[name][:3, 3]))
            if not far <= _LONGEST_TOOL:
                raise ModelError(
                    f"{name}: its origin is {far:g} m from the flange, at most {_LONGEST_TOOL:g} m "
                    "is a tool; are these millimetres?"
                )
        for field in ("q_min", "q_max", "qd_max", "qdd_max", "tau_max"):
            value = getattr(self, field)
            value = np.full(6, np.inf) if value is None else value
            checked[field] = as_numbers(value, field, (6,), finite=field.startswith("qd"))
        for field, value in checked.items():
            object.__setattr__(self, field, value)
        for i, joint in enumerate(names):
            low, high = self.q_min[i], self.q_max[i]
            if not low < high or math.isinf(low) != math.isinf(high):
                raise ModelError(
                    f"joint {joint!r}: position limits are {low} to {high} rad; the lower must be "
                    "below the upper, and both finite or both infinite"
                )
            for field, unit in (("qd_max", "rad/s"), ("qdd_max", "rad/s^2"), ("tau_max", "N m")):
                got = getattr(self, field)[i]
                if not got > 0:
                    raise ModelError(f"joint {joint!r}: {field} is {got} {unit}; must be above 0")

    def __reduce__(self) -> tuple:
        return RobotModel, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        parts = [f"{self.name!r}", f"{self.base} -> {self.tip}"]
        parts += [f"{label} at {X[:3, 3].round(4).tolist()} m" for label, X in self._attached()]
        if self.links:
            parts.append(f"{sum(link.mass for link in self.links):.1f} kg")
        return f"RobotModel({', '.join(parts)})"

    @staticmethod
    def arms() -> tuple[str, ...]:
        """The names `RobotModel.ur` knows."""
        return tuple(ur_tables())

    @classmethod
    def ur(
        cls,
        name: str,
        *,
        base: str = "base_link",
        X_EP: ArrayLike | None = None,
        X_ES: ArrayLike | None = None,
        calibration: str | os.PathLike | None = None,
    ) -> RobotModel:
        """A Universal Robots arm from the maker's tables.

        Args:
            name: one of `RobotModel.arms()`, in any case.
            base: which frame is W: "base_link" (ROS) or "base" (the robot's controller, RTDE).
            X_EP: (4, 4) probe (TCP) in the flange; identity by default.
            X_ES: (4, 4) sensor in the flange; X_EP by default.
            calibration: this very arm's factory calibration, see `with_calibration`.
        """
        table = ur_tables().get(name.strip().lower() if isinstance(name, str) else "")
        if table is None:
            raise ModelError(
                f"unknown arm {name!r}: there are {', '.join(cls.arms())}; for any other, use "
                f"RobotModel.from_urdf{suggest(str(name).lower(), cls.arms())}"
            )
        if base not in ("base", "base_link"):
            raise ModelError(
                f"base is {base!r}; it must be 'base' (the controller's) or 'base_link' (ROS's)"
            )
        a, d, alpha = (table[key] for key in ("a", "d", "alpha"))
        # Tz(d_i) slides along the axis of joint i, so it may as well come before the turn: the
        # frame of joint i is Tx(a) Rx(alpha) of the link before it, then Tz(d_i).
        X_link = [pose((a[i], 0, 0), roll=math.radians(alpha[i])) for i in range(6)]
        X_before = [X_W_base(base), *X_link[:5]]
        X_chain = [X_before[i] @ pose((0, 0, d[i])) for i in range(6)] + [X_link[5]]
        model = cls(
            name=name.strip().lower(),
            base=base,
            tip="tool0",
            joint_names=UR_JOINTS,
            X_chain=np.array(X_chain),
            q_min=-np.radians(table["position"]),
            q_max=np.radians(table["position"]),
            qd_max=np.radians(table["velocity"]),
            qdd_max=table["acceleration"],
            X_EP=X_EP,  # pyright: ignore[reportArgumentType]
            X_ES=X_ES,  # pyright: ignore[reportArgumentType]
            links=ur_links(table, X_link),
            tau_max=table["torque"],
        )
        return model if calibration is None else model.with_calibration(calibration)

    @classmethod
    def from_urdf(
        cls,
        text: str | os.PathLike,
        *,
        base: str = "base_link",
        tip: str = "tool0",
        X_EP: ArrayLike | None = None,
        X_ES: ArrayLike | None = None,
        joint_acceleration: ArrayLike = 10.0,
        joint_velocity: float | None = None,
    ) -> RobotModel:
        """The six-joint chain from `base` to `tip` of a URDF.

        Args:
            text: the URDF itself, or the path of a file.
            base: link that becomes W.
            tip: link that becomes E.
            X_EP: (4, 4) probe (TCP) in the flange; identity by default.
            X_ES: (4, 4) sensor in the flange; X_EP by default.
            joint_acceleration: rad/s^2, one for all or six: a URDF has none.
            joint_velocity: rad/s, for joints whose speed the URDF does not say; ROS writes the
                endless last joint of a UR3e so.
        """
        if joint_velocity is not None:
            joint_velocity = float(as_numbers(joint_velocity, "joint_velocity (rad/s)", ()))
        one = isinstance(joint_acceleration, int | float | np.number)
        six = [joint_acceleration] * 6 if one else joint_acceleration
        qdd_max = as_numbers(six, "joint_acceleration (rad/s^2)", (6,))
        chain = read_urdf(text, base=base, tip=tip, joint_velocity=joint_velocity)
        model = cls(**chain, base=base, tip=tip, qdd_max=qdd_max)
        return model.with_tool(X_EP, X_ES)

    def to_urdf(self) -> str:
        """This model as a URDF: W, six links, E, and a "probe" fixed to E if there is a tool."""
        return write_urdf(self)

    def with_tool(self, X_EP: ArrayLike | None = None, X_ES: ArrayLike | None = None) -> RobotModel:
        """The same arm with another tool or sensor; None keeps what there is.

        A sensor that sits at P goes with P; one that was placed elsewhere stays there.
        """
        if X_ES is None and not np.array_equal(self.X_ES, self.X_EP):
            X_ES = self.X_ES
        return replace(self, X_EP=self.X_EP if X_EP is None else X_EP, X_ES=X_ES)

    def with_calibration(self, source: str | os.PathLike) -> RobotModel:
        """The same UR arm with the chain that the factory measured, instead of the nominal one.

        Args:
            source: what `ur_calibration` (of the UR ROS driver) writes: path of the file, or its
                text. A mapping `kinematics` with shoulder, upper_arm, forearm, wrist_1, wrist_2,
                wrist_3, each with x, y, z [m] and roll, pitch, yaw [rad]: the URDF origin of the
                joint that moves it.
        """
        prefix = self._ur_prefix()
        base = self.base.removeprefix(prefix or "")
        if prefix is None or base not in ("base", "base_link"):
            raise ModelError(
                f"{self.name}: a UR calibration needs a UR arm, with the joints "
                f"{', '.join(UR_JOINTS)} and base 'base' or 'base_link'; this has "
                f"{', '.join(self.joint_names)} and base {self.base!r}"
            )
        X_joints = read_calibration(source)
        X_chain = [X_W_base(base) @ X_joints[0], *X_joints[1:], self.X_chain[6]]
        calibrated = replace(self, X_chain=np.array(X_chain))
        flange, flange_calibrated = self.with_tool(np.eye(4)), calibrated.with_tool(np.eye(4))
        for q in (self.home, np.zeros(6)):
            X = np.linalg.inv(flange.fk(q)) @ flange_calibrated.fk(q)
            metres = float(np.linalg.norm(X[:3, 3]))
            radians = math.acos(min(1.0, max(-1.0, (np.trace(X[:3, :3]) - 1) / 2)))
            if not (metres <= _CALIBRATION_METRES and radians <= _CALIBRATION_RADIANS):
                raise ModelError(
                    f"calibration: it puts the flange of this {self.name} {metres:.3f} m and "
                    f"{radians:.3f} rad from where its nominal chain has it; at most "
                    f"{_CALIBRATION_METRES} m and {_CALIBRATION_RADIANS} rad are plausible. Is it "
                    "the file of another arm?"
                )
        return calibrated

    @property
    def home(self) -> np.ndarray:
        """(6,) rad. UR arms: far from limits and singularities; else zeros, put inside limits."""
        q = UR_HOME if self._ur_prefix() is not None else np.zeros(6)
        return np.clip(q, self.q_min, self.q_max)

    @functools.cached_property
    def chain_R(self) -> np.ndarray:
        """(7, 3, 3) rotations of the chain that ends in P: the last is X_chain[6] X_EP."""
        return frozen([*self.X_chain[:6, :3, :3], (self.X_chain[6] @ self.X_EP)[:3, :3]])

    @functools.cached_property
    def chain_p(self) -> np.ndarray:
        """(7, 3) origins of the chain that ends in P: the last is X_chain[6] X_EP, m."""
        return frozen([*self.X_chain[:6, :3, 3], (self.X_chain[6] @ self.X_EP)[:3, 3]])

    def fk(self, q: ArrayLike) -> np.ndarray:
        """X_WP (4, 4), the pose of the probe at joint positions `q` (6,) rad."""
        state = self._kinematics(q)
        X_WP = np.eye(4)
        X_WP[:3, :3], X_WP[:3, 3] = state["R_WP"], state["p_WP"]
        return X_WP

    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """J (6, 6): joint rates [rad/s] to V_WP = [velocity of Po; angular velocity], in W axes."""
        return self._kinematics(q)["J"].copy()

    def _kinematics(self, q: ArrayLike) -> Any:
        state = layout.new_state()
        state["q"][0] = as_numbers(q, "q (joint positions, rad)", (6,))
        pose_and_jacobian(self._params, state)
        return state[0]

    @functools.cached_property
    def _params(self) -> np.ndarray:
        params = layout.new_params()
        params["chain_R"][0], params["chain_p"][0] = self.chain_R, self.chain_p
        return params

    def _attached(self) -> list[tuple[str, np.ndarray]]:
        """Probe and sensor, where they are not simply the flange and the probe."""
        attached = [] if np.array_equal(self.X_EP, np.eye(4)) else [("probe", self.X_EP)]
        sensor = [] if np.array_equal(self.X_ES, self.X_EP) else [("sensor", self.X_ES)]
        return attached + sensor

    def _ur_prefix(self) -> str | None:
        """What comes before the UR joint names, mostly "" (ROS has prefixes); None: no UR arm."""
        prefix = self.joint_names[0].removesuffix(UR_JOINTS[0])
        return prefix if self.joint_names == tuple(prefix + joint for joint in UR_JOINTS) else None
