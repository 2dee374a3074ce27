"""The dashboard server of PolyScope 5, port 29999: one line in, one line out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ur_fake.modes import RobotMode, SafetyMode
from ur_fake.wire import Caps, Client, Service

PORT = 29999
GREETING = "Connected: Universal Robots Dashboard Server"
NOT_ALLOWED = "Command is not allowed due to safety reasons"
UNLOCK_SECONDS = 5.0  # after a protective stop, before which it cannot be unlocked
LINES_A_CYCLE = 16

# What asks and does not change anything is answered in local control, too.
_ANYWHERE = {
    "robotmode",
    "safetystatus",
    "safetymode",
    "programState",
    "running",
    "get loaded program",
    "isProgramSaved",
    "PolyscopeVersion",
    "version",
    "get serial number",
    "get robot model",
    "is in remote control",
    "get operational mode",
    "addToLog",
    "saveLog",
    "popup",
    "close popup",
    "quit",
}


class Dashboard(Service):
    """Port 29999.

    Attributes:
        programs: name of a program, such as "wait.urp", to its script; `load` finds them here.
        model: the arm it says it is.
    """

    name = "dashboard"
    caps = Caps(clients=16, inbox=1 << 14, outbox=1 << 16)

    def __init__(
        self,
        machine: Any,
        model: str,
        run: Callable[[str], None],
        programs: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.programs = dict(programs or {})
        self.model = model
        self._machine, self._run = machine, run
        self._loaded = ""
        self._mode = "NONE"
        self._commands: dict[str, Callable[[str], str]] = {
            "load": self._load,
            "play": self._play,
            "stop": self._stop,
            "pause": self._pause,
            "running": lambda _: f"Program running: {_word(self._playing)}",
            "robotmode": lambda _: f"Robotmode: {RobotMode(machine.robot_mode).name}",
            "safetystatus": lambda _: f"Safetystatus: {SafetyMode(machine.safety_status).name}",
            "safetymode": lambda _: f"Safetymode: {SafetyMode(machine.safety_mode).name}",
            "get loaded program": self._get_loaded,
            "programState": lambda _: f"{machine.program_state} {self._program or '<unnamed>'}",
            "isProgramSaved": lambda _: f"{_word(True)} {self._program or '<unnamed>'}",
            "popup": self._popup,
            "close popup": self._close_popup,
            "close safety popup": lambda _: "closing safety popup",
            "addToLog": lambda text: "Added log message" if text else "No log message to add",
            "PolyscopeVersion": self._polyscope_version,
            "version": lambda _: ".".join(map(str, machine.identity.version)),
            "get serial number": lambda _: machine.identity.serial_number,
            "get robot model": lambda _: self.model.removesuffix("e").upper(),
            "is in remote control": lambda _: _word(machine.remote_control),
            "set operational mode": self._set_mode,
            "get operational mode": lambda _: self._mode,
            "clear operational mode": self._clear_mode,
            "power on": self._do(machine.power_on, "Powering on"),
            "power off": self._do(machine.power_off, "Powering off"),
            "brake release": self._do(machine.brake_release, "Brake releasing"),
            "unlock protective stop": self._unlock,
            "restart safety": self._do(machine.restart_safety, "Restarting safety"),
            "saveLog": lambda _: "Log saved to disk",
            "generate flight report": lambda kind: f"Flight Report generated with id: {kind}",
            "generate support file": lambda folder: f"Completed successfully: {folder}",
            "load installation": lambda name: f"Loading installation: {name}",
            "shutdown": self._do(machine.power_off, "Shutting down"),
        }

    def connected(self, client: Client) -> None:
        client.send(f"{GREETING}\n".encode())

    def received(self, client: Client) -> None:
        for _ in range(LINES_A_CYCLE):
            line, found, _rest = bytes(client.inbox).partition(b"\n")
            if not found:
                return
            del client.inbox[: len(line) + 1]
            command = line.decode("utf-8", "replace").strip()
            if command in ("quit", "exit"):
                client.send(b"Disconnected\n")
                client.close()
                return
            if command:
                client.send(f"{self.answer(command)}\n".encode())

    def answer(self, command: str) -> str:
        """What the dashboard says to a line."""
        words = command.split(" ")
        for count in range(min(4, len(words)), 0, -1):
            name = " ".join(words[:count])
            if name in self._commands:
                if name not in _ANYWHERE and not self._machine.remote_control:
                    return NOT_ALLOWED
                return self._commands[name](" ".join(words[count:]).strip())
        return f"could not understand: '{command[:200]}'"

    @property
    def _playing(self) -> bool:
        return self._machine.program_state == "PLAYING"

    @property
    def _program(self) -> str:
        return self._loaded.rpartition("/")[2]

    @staticmethod
    def _do(act: Callable[[], Any], words: str) -> Callable[[str], str]:
        def done(_: str) -> str:
            act()
            return words

        return done

    def _load(self, name: str) -> str:
        if name.rpartition("/")[2] not in self.programs:
            return f"File not found: {name}"
        if self._machine.program_state != "STOPPED":
            return f"Error while loading program: {name}"
        self._loaded = name
        return f"Loading program: {name}"

    def _get_loaded(self, _: str) -> str:
        return f"Loaded program: {self._loaded}" if self._loaded else "No program loaded"

    def _play(self, _: str) -> str:
        machine = self._machine
        moving = machine.safety_mode in (SafetyMode.NORMAL, SafetyMode.REDUCED)
        if machine.robot_mode != RobotMode.RUNNING or not moving:
            return "Failed to execute: play"
        if machine.program_state == "PAUSED":
            machine.resume_program()
        elif self._loaded and not self._playing:
            self._run(self.programs[self._program])
        else:
            return "Failed to execute: play"
        return "Starting program"

    def _stop(self, _: str) -> str:
        self._machine.stop_program()
        return "Stopped"

    def _pause(self, _: str) -> str:
        if not self._playing:
            return "Failed to execute: pause"
        self._machine.pause_program()
        return "Pausing program"

    def _unlock(self, _: str) -> str:
        machine = self._machine
        if machine.safety_mode == SafetyMode.PROTECTIVE_STOP:
            if machine.time - machine.protective_stop_time < UNLOCK_SECONDS:
                return (
                    "Cannot unlock protective stop until 5s after occurrence. Always inspect cause "
                    "of protective stop before unlocking"
                )
            machine.unlock_protective_stop()
        return "Protective stop releasing"

    def _popup(self, text: str) -> str:
        self._machine.show_popup(text)
        return "showing popup"

    def _close_popup(self, _: str) -> str:
        self._machine.close_popup()
        return "closing popup"

    def _set_mode(self, mode: str) -> str:
        if mode.upper() not in ("MANUAL", "AUTOMATIC"):
            return f"Failed setting operational mode: {mode}"
        self._mode = mode.upper()
        return f"Operational mode {self._mode} is set"

    def _clear_mode(self, _: str) -> str:
        self._mode = "NONE"
        return "No longer controlling the operational mode. Current operational mode: 'NONE'."

    def _polyscope_version(self, _: str) -> str:
        who = self._machine.identity
        return f"URSoftware {'.'.join(map(str, who.version))} ({who.build_date})"


def _word(value: bool) -> str:
    return "true" if value else "false"
