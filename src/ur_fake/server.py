"""The controller as a process has it: a machine, its interfaces and its clock, in one thread."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ur_admittance.errors import ConfigError
from ur_admittance.realtime import sleep_until
from ur_fake import control_socket, dashboard
from ur_fake.control_socket import ControlSocket
from ur_fake.dashboard import Dashboard
from ur_fake.faults import WIRES, BadLine, BadSensor, Fault, other_identity
from ur_fake.identity import Identity
from ur_fake.machine import Machine
from ur_fake.modes import RobotMode, SafetyMode
from ur_fake.primary.server import ClientInterface, Feed
from ur_fake.primary.state import ROBOT_TYPES
from ur_fake.reader import Reader
from ur_fake.rtde.server import Rtde
from ur_fake.urscript import ScriptError
from ur_fake.wire import Client, Hub, Service

CYCLE = 0.002  # s
# The ports of a controller, and one that no controller has.
PORTS = {
    "primary": 30001,
    "secondary": 30002,
    "realtime": 30003,
    "rtde": 30004,
    "dashboard": dashboard.PORT,
    "control": control_socket.PORT,
}
LOOPBACK = "127.0.0.1"
# In which a controller can start, beside powered, brakes released and in remote control.
STATES: dict[str, Callable[[Machine], Any]] = {
    "off": lambda machine: machine.power_off(),
    "idle": lambda machine: (machine.power_off(), machine.power_on()),
    "local": lambda machine: machine.set_remote(False),
    "reduced": lambda machine: machine.set_reduced(True),
    "safeguard-stop": lambda machine: machine.safeguard_stop(True),
    "protective-stop": lambda machine: machine.protective_stop(),
    "emergency-stop": lambda machine: machine.emergency_stop(),
    "violation": lambda machine: machine.safety_violation(),
}


class Controller:
    """A machine with open ports.

    Attributes:
        machine: the controller without sockets.
        ports: name of each interface to the port it listens on.
    """

    def __init__(
        self,
        model: str = "ur5e",
        *,
        host: str = LOOPBACK,
        ports: int | None = 0,
        faults: Iterable[str] = (),
        programs: Mapping[str, str] | None = None,
        fieldbus: bool = False,
        states: Iterable[str] = (),
        own_reader: bool = False,
        identity: Identity | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        """
        Args:
            model: name of the arm.
            host: address to listen on.
            ports: added to the ports of a real controller; None for any that are free.
            faults: see `faults`.
            programs: what the dashboard can load: name to script.
            fieldbus: a field bus is in use and has the lower registers.
            states: of `STATES`; without any the arm is powered, brakes released, in remote control.
            own_reader: scripts are compiled in a process of their own and start when they are
                ready; else between two cycles, however long that takes.
            identity: who the controller says it is.
            seed: of noise and faults.
            options: to `Machine`: scene, tool, hand, q0, noise.
        """
        self._faults = [Fault.parse(text) for text in faults]
        identity = other_identity(identity or Identity(), self._faults)
        model_said = self._reported_model(model)
        states = tuple(states)
        unknown = [state for state in states if state not in STATES]
        if unknown:
            raise ConfigError(f"state {unknown[0]!r}: there are {', '.join(STATES)}")
        least, most = 1 - min(PORTS.values()), 65535 - max(PORTS.values())
        if ports is not None and not least <= ports <= most:
            raise ConfigError(f"--ports {ports}: must be {least} to {most}; ports end at 65535")
        self._given_up = 0.0  # s
        self._seed = seed
        self._hub = Hub()
        self._reader = Reader() if own_reader else None  # it starts while the arm is built
        try:
            self.machine = Machine(model, identity=identity, seed=seed, **options)
            self.machine.start()
            for state in states:
                STATES[state](self.machine)
            self._furnish(model_said, programs, fieldbus)
            if self._reader is not None:
                self._reader.wait()  # a client may allow a script very little time to start
            self.ports: dict[str, int] = {}
            for name, service in self._services.items():
                port = 0 if ports is None else PORTS[name] + ports
                self.ports[name] = self._hub.listen(service, host, port)
        except BaseException:
            self.close()
            raise

    def _furnish(self, model: str, programs: Mapping[str, str] | None, fieldbus: bool) -> None:
        """A hand on the arm, and all interfaces of the machine."""
        machine = self.machine
        self._hand = machine.arm.hand = Push(machine)
        self._feed = Feed(machine, model)
        self._services: dict[str, Service] = {
            name: ClientInterface(name, self._feed, self.run_script)
            for name in ("primary", "secondary", "realtime")
        }
        self.rtde = self._services["rtde"] = Rtde(machine, fieldbus=fieldbus)
        self.dashboard = Dashboard(machine, model, self.run_script, programs)
        self._services["dashboard"] = self.dashboard
        self._services["control"] = ControlSocket(self._actions())
        self._watched: set[Client] = set()
        self._fired: set[Fault] = set()
        self._sick: tuple[Fault, ...] = ()

    def run_script(self, text: str) -> None:
        """A client, or the dashboard, starts a script."""
        if self._reader is None:
            self.machine.load_script(text)
        elif not self._reader.submit(text):
            self.machine.reject_script(ScriptError("too many scripts wait"))

    def step(self) -> None:
        """One cycle: what came is heard, the machine makes a step, every interface speaks."""
        machine = self.machine
        self._hub.poll(machine.time)
        if self._reader is not None:
            done = self._reader.poll()
            if isinstance(done, ScriptError):
                machine.reject_script(done)
            elif done is not None:
                machine.start_program(done)
        if self._faults:
            self._break()
        machine.step()
        self._feed.next()
        self._hub.cycle(machine.time)

    def run(self, going: Callable[[], bool]) -> None:
        """Step at 500 Hz by absolute deadlines, for as long as `going()`.

        A real controller has a computer of its own and never sends two states at once. So when
        this one was held up for half a cycle or longer, that time is given up, see `missed`.
        """
        gc.collect()
        gc.freeze()
        deadline = time.monotonic()
        try:
            while going():
                deadline += CYCLE
                sleep_until(deadline, spin=False)
                late = time.monotonic() - deadline
                if late > 0.5 * CYCLE:
                    deadline += late
                    self._given_up += late
                self.step()
        finally:
            gc.unfreeze()

    @property
    def missed(self) -> int:
        """Cycles that were given up, since this machine was elsewhere."""
        return int(self._given_up / CYCLE)

    def close(self) -> None:
        """Close every port and connection."""
        self._hub.close()
        if self._reader is not None:
            self._reader.close()

    def inject(self, fault: str) -> None:
        """Break something, see `faults`; on top of what is broken already.

        Raises:
            ConfigError: if there is no such fault.
        """
        parsed = Fault.parse(fault)
        if parsed.where == "identity":
            raise ConfigError(f"fault {fault!r}: who a controller is can only be said at its start")
        self._faults.append(parsed)

    @property
    def broken(self) -> bool:
        """Whether anything is, or is to be."""
        return bool(self._faults)

    def heal(self) -> None:
        """Nothing is broken any more; connections that were closed stay closed."""
        self._faults.clear()
        self._fired.clear()
        for service in self._services.values():
            for client in service.clients:
                client.frozen = False
        self._break()

    def _break(self) -> None:
        """Let everything suffer what is due."""
        now = self.machine.time
        due = tuple(fault for fault in self._faults if now >= fault.at)
        if due != self._sick:
            self._sick = due
            self.rtde.refused = {fault.value for fault in due if fault.what == "refuse"}
            sensor = [fault for fault in due if fault.where == "sensor"]
            self.machine.sensor_fault = BadSensor(sensor) if sensor else None
            slow = [fault.number for fault in due if fault.what == "slow"]
            self.machine.slowness = max(slow, default=1.0)
            self._watched.clear()
        for name in WIRES:
            self._break_wire(name, [fault for fault in due if fault.where == name])

    def _break_wire(self, name: str, faults: list[Fault]) -> None:
        clients = self._services[name].clients
        for fault in faults:
            if fault.what in ("close", "freeze") and fault not in self._fired and clients:
                self._fired.add(fault)
                for client in clients:
                    client.closed |= fault.what == "close"
                    client.frozen |= fault.what == "freeze"
        lasting = [fault for fault in faults if fault.what not in ("close", "freeze", "refuse")]
        for i, client in enumerate(clients):
            if client not in self._watched:
                self._watched.add(client)
                client.line = BadLine(lasting, self._seed + i) if lasting else None
        if len(self._watched) > 1000:
            self._watched = {client for client in self._watched if not client.closed}

    def _reported_model(self, model: str) -> str:
        said = [fault.value for fault in self._faults if fault.what == "model"]
        unknown = [name for name in said if name not in ROBOT_TYPES]
        if unknown:
            known = ", ".join(ROBOT_TYPES)
            raise ConfigError(f"fault model={unknown[0]!r}: no such arm; there are {known}")
        return said[-1] if said else model

    def _actions(self) -> dict[str, Callable[..., dict[str, Any] | None]]:
        """What the control socket can do."""
        machine = self.machine
        actions: dict[str, Callable[..., Any]] = {
            name: getattr(machine, name)
            for name in (
                "power_on", "power_off", "brake_release", "start", "protective_stop",
                "unlock_protective_stop", "safeguard_stop", "emergency_stop",
                "release_emergency_stop", "safety_violation", "restart_safety", "set_reduced",
                "set_remote", "set_freedrive", "set_speed_slider", "set_digital_input",
                "stop_program", "pause_program", "resume_program",
            )
        }  # fmt: skip
        silent = {name: _silent(action) for name, action in actions.items()}
        return {
            **silent,
            "hand_move": self._hand_move,
            "push": self._push,
            "run_script": lambda text: self.run_script(str(text)),
            "fault": lambda fault: self.inject(str(fault)),
            "heal": self.heal,
            "state": self.state,
        }

    def _hand_move(self, q: list[float]) -> None:
        if not isinstance(q, list) or len(q) != 6 or not all(_finite(x) for x in q):
            raise ConfigError(f"control: hand_move: q must be six numbers [rad], got {q!r}")
        self.machine.hand_move(q)

    def _push(self, wrench: list[float], seconds: float = 1.0) -> None:
        """Push the flange with force [N] and torque [N m] in the axes of the base."""
        if not isinstance(wrench, list) or len(wrench) != 6 or not all(_finite(x) for x in wrench):
            raise ConfigError(f"control: push: wrench must be six numbers [N, N m], got {wrench!r}")
        if not _finite(seconds):
            raise ConfigError(f"control: push: seconds must be a number, got {seconds!r}")
        hand = self._hand
        hand.wrench, hand.until = np.array(wrench, dtype=float), self.machine.time + float(seconds)

    def state(self) -> dict[str, Any]:
        """What a person would see on the pendant."""
        machine = self.machine
        return {
            "time": machine.time,
            "missed": self.missed,
            "robot_mode": RobotMode(machine.robot_mode).name,
            "safety_mode": SafetyMode(machine.safety_mode).name,
            "remote_control": machine.remote_control,
            "program": machine.program_name,
            "program_state": machine.program_state,
            "actual_q": machine.actual_q.tolist(),
            "actual_qd": machine.actual_qd.tolist(),
            "actual_TCP_pose": machine.actual_TCP_pose.tolist(),
            "actual_TCP_force": machine.actual_TCP_force.tolist(),
            "speed_scaling": float(machine.speed_scaling),
            "clients": {name: len(service.clients) for name, service in self._services.items()},
            "dropped": self._hub.dropped,
            "faults": len(self._faults),
        }


class Push:
    """A hand at the flange that can be told to push now, beside the one that was there before."""

    def __init__(self, machine: Machine) -> None:
        self.wrench, self.until = np.zeros(6), 0.0
        self._machine, self._other = machine, machine.arm.hand

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        pushed = self.wrench if self._machine.time < self.until else np.zeros(6)
        if self._other is not None:
            pushed = pushed + np.asarray(self._other(t, X_WP, V_WP))
        return pushed


def _silent(action: Callable[..., Any]) -> Callable[..., None]:
    """The action, without what it returns."""

    @functools.wraps(action)
    def done(**arguments: Any) -> None:
        action(**arguments)

    return done


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e6
