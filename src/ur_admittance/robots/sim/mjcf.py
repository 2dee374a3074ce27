"""A MuJoCo model of an arm, its tool, its wrist sensor and what stands around it.

The kinematics are `RobotModel.X_chain`, number for number; masses and inertias are
`RobotModel.links`. Everything beyond the flange is one body, welded to the last link at S, so that
the sensor there feels all of it: weight, inertia, contact and hands.

Contact is a spring and a damper in plain units, whatever the masses that meet:

    f_n = stiffness * depth - damping * (velocity along the normal),   never pulling
"""

from __future__ import annotations

import importlib
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.config.validate import as_numbers
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.robots.sim.meshes import dress
from ur_admittance.robots.sim.scene import Box, Cylinder, Scene, Shape, Tool
from ur_admittance.robots.sim.tool_mesh import read_mesh

STEP = 0.001  # s, the longest physics step
PROBE, SENSOR, TOOL = "probe", "sensor", "tool"

# MuJoCo's contact obeys f = (k depth - b v - a) / R. With an impedance this small R is large, and
# the mass 1 / R by which it differs from a spring and damper is a thousandth of the arm's.
_IMPEDANCE = 0.001

# Servo behind the bandwidth the user chooses: stiff as geared joints are, slow enough for the step.
_SERVO = 2 * math.pi * 25.0  # rad/s
_ROTOR = 0.01  # kg m^2 of rotor, as the joint feels it, for each N m the joint can give
_GUESSED_TORQUE = 100.0  # N m, for joints of a URDF that does not say
_RADII = (0.060, 0.055, 0.045, 0.040, 0.040, 0.035)  # m, of a UR5e's links
_UR5E_REACH = 0.85  # m


def load_mujoco() -> Any:
    """The `mujoco` module, or how to get it."""
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise RobotError(
            f"the simulated robot needs MuJoCo, which cannot be imported here ({error}): "
            'pip install "ur-admittance[sim]"'
        ) from error
    except (AttributeError, OSError, RuntimeError) as error:  # of the OpenGL it was told to use
        raise RobotError(
            f"MuJoCo cannot be imported with MUJOCO_GL={os.environ.get('MUJOCO_GL', '')!r} "
            f"({error}): unset it, or install that kind of OpenGL"
        ) from error


@dataclass(frozen=True)
class Simulation:
    """A compiled model and its servo gains.

    The actuator of joint i gives kp (u - q) - kd qd [N m], at most its greatest torque.

    Attributes:
        model: mujoco.MjModel, joints 0 to 5 those of the arm.
        kp: (6,) N m/rad.
        kd: (6,) N m s/rad.
    """

    model: Any
    kp: np.ndarray
    kd: np.ndarray


def build(
    model: RobotModel,
    *,
    tool: Tool | None = None,
    scene: Scene | None = None,
    step: float = STEP,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
    looks: bool = False,
) -> Simulation:
    """The MuJoCo model of `model` with `tool`, in `scene`.

    Args:
        model: the arm. Without links (a URDF without masses) the capsules get those of plastic.
        tool: default: a massless ball of 2 cm radius.
        scene: default: nothing around.
        step: of the physics, s.
        gravity: m/s^2, in W.
        looks: show the arm's meshes, where there are some; they touch and weigh nothing.
    """
    mj = load_mujoco()
    tool, scene = tool or Tool(), scene or Scene()
    spec = mj.MjSpec()
    spec.modelname = model.name
    spec.compiler.degree = False
    option = spec.option
    option.timestep, option.gravity = step, gravity
    option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    option.jacobian = mj.mjtJacobian.mjJAC_DENSE
    # No silent jump back to the start, should the physics ever diverge.
    option.disableflags |= int(mj.mjtDisableBit.mjDSBL_AUTORESET)
    for n, shape in enumerate(scene.shapes):
        geom = spec.worldbody.add_geom(
            name=f"scene_{n}", contype=0, conaffinity=1, rgba=(0.55, 0.6, 0.65, 1.0)
        )
        _shape(mj, geom, shape)
    links = _add_links(mj, spec, model)
    if looks:
        dress(mj, spec, links, model)
    _add_tool(mj, spec, links[-1], model, tool)
    tau_max = np.where(np.isfinite(model.tau_max), model.tau_max, _GUESSED_TORQUE)
    for n, name in enumerate(model.joint_names):
        joint = spec.joint(name)
        joint.armature = _ROTOR * tau_max[n]
        actuator = spec.add_actuator(name=name, target=name)
        actuator.trntype = mj.mjtTrn.mjTRN_JOINT
        actuator.biastype = mj.mjtBias.mjBIAS_AFFINE
        actuator.forcelimited = True
        actuator.forcerange = (-tau_max[n], tau_max[n])
    try:
        compiled = spec.compile()
    except ValueError as error:
        raise RobotError(f"{model.name}: MuJoCo does not take this arm or scene: {error}") from None
    kp, kd = _tune(mj, compiled, model)
    _soften(compiled, scene)
    return Simulation(compiled, kp, kd)


def _add_links(mj: Any, spec: Any, model: RobotModel) -> list[Any]:
    """A body for each joint, its frame the joint's moved frame, z the axis."""
    reach = sum(float(np.linalg.norm(X[:3, 3])) for X in model.X_chain[2:4])
    scale = min(2.0, max(0.5, reach / _UR5E_REACH))
    parent, bodies = spec.worldbody, []
    for n, joint in enumerate(model.joint_names):
        name = model.links[n].name if model.links else f"link_{n + 1}"
        body = parent.add_body(name=name, gravcomp=1.0, **_placed(mj, model.X_chain[n]))
        body.add_joint(name=joint, type=mj.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1))
        if model.links:
            link = model.links[n]
            body.explicitinertial = True
            body.mass, body.ipos = link.mass, link.com
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia
            body.fullinertia = (xx, yy, zz, xy, xz, yz)
        end = model.X_chain[n + 1][:3, 3]
        geom = body.add_geom(
            name=f"link_{n + 1}", contype=1, conaffinity=0, rgba=(0.8, 0.82, 0.85, 1.0)
        )
        radius, length = scale * _RADII[n], float(np.linalg.norm(end))
        if n == 4 and length > radius:  # round end in the plane of the flange, not beyond it
            end = end * (1 - radius / length)
        if length > 1e-3:
            geom.type, geom.fromto = mj.mjtGeom.mjGEOM_CAPSULE, (0, 0, 0, *end)
        else:
            geom.type = mj.mjtGeom.mjGEOM_SPHERE
        geom.size = (radius, 0, 0)
        if n in (0, 5):  # one stands on what carries the arm, the other ends inside the tool
            geom.contype = 0
        parent = body
        bodies.append(body)
    return bodies


def _add_tool(mj: Any, spec: Any, wrist: Any, model: RobotModel, tool: Tool) -> None:
    """The body beyond the flange, its frame S, and the two sensors there."""
    X_SE = np.linalg.inv(model.X_ES)
    X_SP = X_SE @ model.X_EP
    body = wrist.add_body(name=TOOL, gravcomp=1.0, **_placed(mj, model.X_chain[6] @ model.X_ES))
    body.explicitinertial = True
    body.mass, body.ipos = tool.mass, _three("com", "m", tool.com)
    inertia = (0.4 * tool.mass * 0.05**2,) * 3 if tool.inertia is None else tool.inertia
    body.inertia = _three("inertia", "kg m^2", inertia)
    body.add_site(name=SENSOR)
    body.add_site(name=PROBE, **_placed(mj, X_SP))
    looks = {"contype": 1, "conaffinity": 0, "mass": 0.0, "rgba": (0.9, 0.45, 0.1, 1.0)}
    if tool.mesh is not None:
        vertices, faces = read_mesh(mj, tool.mesh, tool.mesh_scale)
        shell = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL
        spec.add_mesh(name=TOOL, inertia=shell, uservert=vertices, userface=faces)
        kind = mj.mjtGeom.mjGEOM_MESH
        body.add_geom(name=TOOL, type=kind, meshname=TOOL, **_placed(mj, X_SE), **looks)
    elif tool.length > 0:
        p, z = X_SP[:3, 3], X_SP[:3, 2]
        body.add_geom(
            name=TOOL,
            type=mj.mjtGeom.mjGEOM_CAPSULE,
            fromto=(*(p - (tool.length - tool.radius) * z), *(p - tool.radius * z)),
            size=(tool.radius, 0, 0),
            **looks,
        )
    else:
        body.add_geom(
            name=TOOL,
            type=mj.mjtGeom.mjGEOM_SPHERE,
            pos=X_SP[:3, 3],
            size=(tool.radius, 0, 0),
            **looks,
        )
        if float(np.linalg.norm(X_SP[:3, 3] - X_SE[:3, 3])) > 1e-3:
            body.add_geom(
                name="stem",
                type=mj.mjtGeom.mjGEOM_CAPSULE,
                fromto=(*X_SE[:3, 3], *X_SP[:3, 3]),
                size=(0.5 * tool.radius, 0, 0),
                **{**looks, "contype": 0},
            )
    for kind in ("force", "torque"):
        spec.add_sensor(
            name=kind,
            type=getattr(mj.mjtSensor, f"mjSENS_{kind.upper()}"),
            objtype=mj.mjtObj.mjOBJ_SITE,
            objname=SENSOR,
        )


def _tune(mj: Any, compiled: Any, model: RobotModel) -> tuple[np.ndarray, np.ndarray]:
    """Gains for critical damping at the inertia of the arm stretched out, where it is greatest."""
    data, column = mj.MjData(compiled), np.zeros(6)
    inertia = np.zeros(6)
    for q in (np.zeros(6), model.home):
        data.qpos[:] = q
        mj.mj_forward(compiled, data)
        for n, unit in enumerate(np.eye(6)):
            mj.mj_mulM(compiled, data, column, unit)
            inertia[n] = max(inertia[n], column[n])
    kp, kd = inertia * _SERVO**2, 2 * inertia * _SERVO
    compiled.actuator_gainprm[:, 0] = kp
    compiled.actuator_biasprm[:, 1] = -kp
    compiled.actuator_biasprm[:, 2] = -kd
    return kp, kd


def _soften(compiled: Any, scene: Scene) -> None:
    """Give every geom of the arm the scene's contact, in N/m and N s/m.

    R = (1 - d) / d * w, where w is the body's mobility (1/kg) that MuJoCo keeps with the model.
    MuJoCo divides both numbers of solref by the impedance d before it uses them.
    """
    d = _IMPEDANCE
    for geom in range(compiled.ngeom):
        body = int(compiled.geom_bodyid[geom])
        if body == 0:
            continue
        R = (1 - d) / d * float(compiled.body_invweight0[body, 0])
        compiled.geom_priority[geom] = 1
        compiled.geom_solref[geom] = (-scene.stiffness * R * d, -scene.damping * R * d)
        compiled.geom_solimp[geom] = (d, d, 0.001, 0.5, 2.0)
        compiled.geom_friction[geom, 0] = scene.friction


def _shape(mj: Any, geom: Any, shape: Shape) -> None:
    for name, value in vars(shape).items():
        as_numbers(
            value,
            f"{type(shape).__name__}: {name}",
            np.shape(value),
            unit="m or rad",
            error=RobotError,
        )
    lengths = shape.size if isinstance(shape, Box) else (shape.radius,)
    if not all(length > 0 for length in lengths):
        raise RobotError(f"scene: every length and radius must be above 0 m, got {shape}")
    if isinstance(shape, Box):
        geom.type, geom.pos = mj.mjtGeom.mjGEOM_BOX, shape.center
        geom.size = [0.5 * length for length in shape.size]
        geom.quat = (math.cos(shape.yaw / 2), 0.0, 0.0, math.sin(shape.yaw / 2))
    elif isinstance(shape, Cylinder):
        geom.type, geom.fromto = mj.mjtGeom.mjGEOM_CYLINDER, (*shape.start, *shape.end)
        geom.size = (shape.radius, 0, 0)
    else:
        geom.type, geom.pos = mj.mjtGeom.mjGEOM_SPHERE, shape.center
        geom.size = (shape.radius, 0, 0)


def _three(name: str, unit: str, value: Any) -> np.ndarray:
    return as_numbers(value, f"tool: {name}", (3,), unit=unit, error=RobotError)


def _placed(mj: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    quat = np.empty(4)
    mj.mju_mat2Quat(quat, np.ascontiguousarray(X[:3, :3]).ravel())
    return {"pos": X[:3, 3].copy(), "quat": quat}
