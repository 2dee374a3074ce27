"""`fake-robot`: a UR controller on this machine, for clients that have no robot at hand."""

from __future__ import annotations

import gc
import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from ur_admittance.cli.attend import to_and_fro
from ur_admittance.cli.common import (
    FORCE,
    ArmModel,
    AsJson,
    RunSeconds,
    check_seconds,
    explained,
    flag,
    option,
    read_config,
)
from ur_admittance.cli.useless import refuse_useless
from ur_admittance.config.validate import pose_of
from ur_admittance.errors import ConfigError
from ur_admittance.realtime import RealTime, prepare, restore
from ur_admittance.run.signals import signals


@explained()
def fake_robot(
    context: typer.Context,
    arm: ArmModel = "ur5e",
    host: Annotated[
        str,
        option(
            "Address to listen on. Nobody beyond this machine can connect unless told so: "
            "whoever can connect can run scripts.",
            "ADDRESS",
        ),
    ] = "127.0.0.1",
    ports: Annotated[int, option("Added to the ports of a real controller.", "OFFSET")] = 0,
    free_ports: Annotated[
        bool, flag("--free-ports", "Any ports that are free; it says which.")
    ] = False,
    scene: Annotated[
        list[str] | None,
        option(
            "What stands around: table=Z or wall=X, at that height or distance [m]. May be "
            "repeated; the arm then holds a ball of 2 cm radius.",
            "WHAT=M",
        ),
    ] = None,
    tool: Annotated[
        str,
        option(
            "A configuration whose `tool` the arm carries: mass [kg], centre [m], point [m, "
            "rad]; the pendant is told of it.",
            "FILE",
        ),
    ] = "",
    push: Annotated[
        tuple[float, float, float] | None,
        option(
            "Push the flange with this force [N], x y z of the base, 1 s forth, 1 s rest, 1 s "
            "back, 1 s rest, and so on.",
            FORCE,
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        option(
            "Break something: WHERE:WHAT[=VALUE][@SECONDS], such as rtde:drop=0.01 or "
            "sensor:freeze@10. May be repeated. `--fault help` lists all.",
            "FAULT",
        ),
    ] = None,
    program: Annotated[
        list[Path] | None,
        option("A script that the dashboard can load by the file's name. May be repeated.", "FILE"),
    ] = None,
    state: Annotated[
        list[str] | None,
        option(
            "Start in this state: off, idle, local, reduced, safeguard-stop, protective-stop, "
            "emergency-stop or violation. May be repeated; else powered, brakes released and in "
            "remote control.",
            "STATE",
        ),
    ] = None,
    fieldbus: Annotated[
        bool, flag("--fieldbus", "A field bus is in use and has the lower registers.")
    ] = False,
    seed: Annotated[int, option("Of the sensor's noise and the faults.", min=0)] = 0,
    priority: Annotated[
        int,
        option(
            "Real-time priority, 1 to 99: as punctual as a controller with a computer of its "
            "own; 0 asks for none.",
            min=0,
            max=99,
        ),
    ] = 0,
    seconds: RunSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Run a fake UR controller (PolyScope 5) with a simulated arm.

    It has the controller's interfaces (primary 30001, secondary 30002, real-time 30003, RTDE 30004,
    dashboard 29999) and executes the URScript that clients send, in cycles of 2 ms. Port 29997 is
    its own: JSON lines to pull the emergency stop, push the arm or break the wire. It listens on
    127.0.0.1 unless told otherwise.
    """
    from ur_fake.faults import PLACES

    if fault and "help" in fault:
        for place, known in PLACES.items():
            for what, meaning in known.items():
                typer.echo(f"{place}:{what}{f'=...  {meaning}' if meaning else ''}")
        return
    if free_ports:
        refuse_useless(context, "--free-ports takes any; leave one of them out", "ports")
    check_seconds(seconds)

    from ur_fake.server import LOOPBACK, Controller

    held = _Held(tool) if tool else None
    controller = Controller(
        arm,
        host=host,
        ports=None if free_ports else ports,
        faults=fault or (),
        programs={path.name: _script(path) for path in program or ()},
        fieldbus=fieldbus,
        states=state or (),
        own_reader=True,
        seed=seed,
        hand=None if push is None else to_and_fro(push),
        **_surroundings(scene or []),
        **({"tool": held.tool, "grip": held.grip} if held else {}),
    )
    if held:
        held.tell(controller.machine)
    with signals() as asked, closing(controller):
        if as_json:
            typer.echo(json.dumps({"host": host, "ports": controller.ports}))
        else:
            listed = ", ".join(f"{name} {port}" for name, port in controller.ports.items())
            reach = (
                "nobody beyond this machine can connect"
                if host.startswith("127.") or host == "localhost"
                else f"anybody who reaches {host} can run scripts; {LOOPBACK} would be this machine"
            )
            typer.echo(f"{arm} at {host}: {listed}\n{reach}; Ctrl-C ends it")
        if priority:
            for line in prepare(RealTime(priority, lock_memory=False)):
                typer.echo(f"warning: {line}", err=True)
            gc.enable()  # a program may run for days
        machine = controller.machine
        try:
            controller.run(lambda: not asked and (seconds is None or machine.time < seconds))
        finally:
            restore()
    if not as_json:
        missed = f"; {controller.missed} cycles were given up" if controller.missed else ""
        typer.echo(f"{machine.time:.1f} s, {machine.cycle} cycles{missed}")


def _script(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"--program {path}: must be a script, as text (UTF-8)") from None


class _Held:
    """The tool of a configuration, as an arm whose sensor is at the flange carries it."""

    def __init__(self, file: str) -> None:
        from dataclasses import replace

        from ur_admittance.robots.sim.carried import tool_of

        config = read_config(file)
        X_ES = pose_of(config.tool.sensor or (0.0,) * 6)
        tool, self.point = tool_of(config), config.tool.point or (0.0,) * 6
        self.grip = pose_of(self.point)
        x, y, z = (X_ES @ [*tool.com, 1.0])[:3].tolist()
        self.tool = replace(tool, com=(x, y, z))

    def tell(self, machine: Any) -> None:
        """What a person would set on the pendant."""
        machine.payload = self.tool.mass
        machine.payload_cog[:] = self.tool.com
        machine.set_tcp(self.point)


def _surroundings(names: list[str]) -> dict[str, Any]:
    """What stands around the arm, and what it holds to touch it with."""
    if not names:
        return {}
    from ur_admittance.robots.sim.scene import Scene, Tool, table, wall

    bodies = []
    for name in names:
        kind, _, number = name.partition("=")
        try:
            metres = float(number)
        except ValueError:
            metres = float("nan")
        if kind not in ("table", "wall") or not -3.0 <= metres <= 3.0:
            raise ConfigError(f"--scene {name!r}: must be table=Z or wall=X, -3 to 3 m")
        bodies.append(table(metres) if kind == "table" else wall(metres))
    return {"scene": Scene(tuple(bodies)), "tool": Tool()}
