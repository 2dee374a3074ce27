"""The primary interface: which arm this is, its calibrated kinematics, and where scripts go.

Source: Universal Robots, "Primary and secondary client interfaces", robot state and messages.
"""

from __future__ import annotations

import contextlib
import math
import socket
import struct
import time
from dataclasses import dataclass, replace

import numpy as np

from ur_admittance.config.validate import pose_of
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.model.ur_arms import UR_JOINTS
from ur_admittance.robots.rtde.connection import Dial, connected, dial, receive

PORT = 30001
_STATE, _MESSAGE = 16, 20  # packets
_CARTESIAN, _KINEMATICS, _CONFIGURATION = 4, 5, 6  # parts of a state
_TEXT, _ERROR, _EXCEPTION = 0, 6, 10  # kinds of messages
_LARGEST = 1 << 16  # bytes of a packet
_PATIENCE = 3.0  # s for a state, of which there are ten a second
# `robot_type`; e-Series and later, then CB3. UR7e and UR12e are UR5e and UR10e by another name.
_ARMS = {1: "ur5e", 2: "ur10e", 3: "ur3e", 4: "ur16e", 7: "ur20", 8: "ur30"}
_CB3 = {1: "ur5", 2: "ur10", 3: "ur3"}
_NEAR = 0.03  # m and rad by which a calibrated table may differ from the nominal one


@dataclass(frozen=True)
class Arm:
    """What the controller says of its arm.

    Attributes:
        name: such as "ur5e"; "" if it is not known here.
        checksums: six, of the calibration of each joint.
        dh: (4, 6) theta, a, d, alpha, rad and m, as the factory measured them.
        q_min, q_max, qd_max, qdd_max: (6,) limits, rad, rad/s, rad/s^2.
        tcp: (6,) TCP in the flange: m, and rotation vector, rad.
    """

    name: str
    checksums: tuple[int, ...]
    dh: np.ndarray
    q_min: np.ndarray
    q_max: np.ndarray
    qd_max: np.ndarray
    qdd_max: np.ndarray
    tcp: np.ndarray

    @property
    def calibration(self) -> str:
        """The checksums as the maker's tools print them."""
        return "-".join(f"{number:08x}" for number in self.checksums)

    def model(self, name: str = "") -> RobotModel:
        """Its kinematics in the frame `base`, calibrated, with the TCP that is set as P.

        Args:
            name: of the arm, where the controller's own is not known.

        Raises:
            RobotError: the table it sent is not that of such an arm.
        """
        name = name or self.name
        chain = chain_of(self.dh)
        X_EP = pose_of(self.tcp)
        if name not in RobotModel.arms():
            if not name:
                raise RobotError("which arm this is cannot be read; say it with --model")
            return RobotModel(
                name=name,
                base="base",
                tip="tool0",
                joint_names=UR_JOINTS,
                X_chain=chain,
                q_min=self.q_min,
                q_max=self.q_max,
                qd_max=self.qd_max,
                qdd_max=self.qdd_max,
                X_EP=X_EP,
            )
        nominal = RobotModel.ur(name, base="base", X_EP=X_EP)
        calibrated = replace(nominal, X_chain=chain)
        for q in (nominal.home, np.zeros(6)):
            X = np.linalg.inv(nominal.fk(q)) @ calibrated.fk(q)
            off = float(np.linalg.norm(X[:3, 3]))
            turn = math.acos(min(1.0, max(-1.0, (np.trace(X[:3, :3]) - 1) / 2)))
            if not (off <= _NEAR and turn <= _NEAR):
                raise RobotError(
                    f"the kinematics that the controller sent put the tool {off:.3f} m and "
                    f"{turn:.3f} rad from where those of a {name} do, at most {_NEAR} is a "
                    "calibration; is it another arm?"
                )
        return replace(
            calibrated,
            q_min=np.maximum(nominal.q_min, self.q_min),
            q_max=np.minimum(nominal.q_max, self.q_max),
            qd_max=np.minimum(nominal.qd_max, self.qd_max),
            qdd_max=np.minimum(nominal.qdd_max, self.qdd_max),
        )


def chain_of(dh: np.ndarray) -> np.ndarray:
    """(7, 4, 4) the chain of theta, a, d, alpha: Rz(q + theta) Tz(d) Tx(a) Rx(alpha)."""
    chain = [np.eye(4)]
    for theta, a, d, alpha in dh.T:
        c, s = math.cos(theta), math.sin(theta)
        chain[-1] = chain[-1] @ [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]]
        c, s = math.cos(alpha), math.sin(alpha)
        chain.append(np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]]))
    return np.array(chain)


class Primary:
    """A connection to port 30001.

    Attributes:
        said: error codes, exceptions and texts that came while it was read, oldest first.
    """

    def __init__(self, host: str, port: int = PORT, *, make: Dial = dial) -> None:
        self.said: list[str] = []
        self._what = f"primary interface at {host}:{port}"
        self._sock: socket.socket | None = connected(host, port, "primary interface", make)

    def arm(self, *, cb3: bool = False) -> Arm:
        """What the next state says of the arm.

        Args:
            cb3: the controller is of that series, whose arms share numbers with newer ones.

        Raises:
            RobotError: none comes, or it is not all there.
        """
        parts: dict[int, bytes] = {}
        deadline = time.monotonic() + _PATIENCE
        needed = {_CARTESIAN, _KINEMATICS, _CONFIGURATION}
        while not needed <= parts.keys():
            if time.monotonic() > deadline:
                raise RobotError(f"{self._what}: no state with the arm's kinematics came")
            kind, body = self._packet()
            if kind == _STATE:
                parts |= _parts(body)
        try:
            return _arm(parts, cb3)
        except struct.error:
            raise RobotError(
                f"{self._what}: its state is shorter than that of any known version; name the arm "
                "with --model"
            ) from None

    def run(self, script: str) -> None:
        """Send a script, which the controller starts in place of what runs."""
        if self._sock is not None:
            self._sock.settimeout(_PATIENCE)
            self._sock.sendall(script.encode() + b"\n")

    def look(self) -> None:
        """Take what has come, without waiting."""
        sock = self._sock
        while sock is not None:
            sock.settimeout(0.0)
            try:
                if not sock.recv(1, socket.MSG_PEEK):
                    return
                self._packet()
            except (OSError, RobotError):
                return

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def _packet(self) -> tuple[int, bytes]:
        if self._sock is None:
            raise RobotError(f"{self._what}: closed")
        size, kind = struct.unpack(">iB", receive(self._sock, 5, self._what))
        if not 5 <= size <= _LARGEST:
            raise RobotError(f"{self._what}: a packet of {size} bytes; is it a UR controller?")
        body = receive(self._sock, size - 5, self._what)
        if kind == _MESSAGE:
            self._hear(body)
        return kind, body

    def _hear(self, body: bytes) -> None:
        with contextlib.suppress(struct.error, IndexError):
            kind = body[9]
            if kind == _ERROR:
                code, argument = struct.unpack_from(">ii", body, 10)
                words = body[30:].decode("utf-8", "replace").strip()
                self.said.append(f"C{code}A{argument} {words}".strip())
            elif kind == _EXCEPTION:
                line, _ = struct.unpack_from(">ii", body, 10)
                self.said.append(f"line {line}: {body[18:].decode('utf-8', 'replace').strip()}")
            elif kind == _TEXT:
                self.said.append(body[10:].decode("utf-8", "replace").strip())
        del self.said[:-20]


def _parts(body: bytes) -> dict[int, bytes]:
    """The parts of a state by their kind."""
    found, at = {}, 0
    while at + 5 <= len(body):
        size, kind = struct.unpack_from(">iB", body, at)
        if size < 5:
            break
        found[kind] = body[at + 5 : at + size]
        at += size
    return found


def _arm(parts: dict[int, bytes], cb3: bool) -> Arm:
    checksums = struct.unpack_from(">6I", parts[_KINEMATICS])
    dh = np.array(struct.unpack_from(">24d", parts[_KINEMATICS], 24)).reshape(4, 6)
    numbers = struct.unpack_from(">53d4i", parts[_CONFIGURATION])
    limits = np.array(numbers[:24]).reshape(2, 6, 2)
    tcp = np.array(struct.unpack_from(">6d", parts[_CARTESIAN], 48))
    name = (_CB3 if cb3 else _ARMS).get(numbers[55], "")
    (q_min, q_max), (qd_max, qdd_max) = limits[0].T, limits[1].T
    return Arm(name, checksums, dh, q_min, q_max, qd_max, qdd_max, tcp)
