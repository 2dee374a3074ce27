"""Scripts on a machine, in simulated time."""

from __future__ import annotations

from ur_fake.machine import Machine


def machine_at_rest(**options) -> Machine:
    """A machine that is powered and holds its arm, with a sensor that does not rattle."""
    machine = Machine(**{"noise": (0.0, 0.0), **options})
    machine.start()
    return machine


def program(body: str, name: str = "prog") -> str:
    """`body` as a program; its first line is line 2."""
    return f"def {name}():\n{body}\nend\n"


def play(machine: Machine, body: str, cycles: int = 5000) -> int:
    """Run a program of `body` until it ends: how many cycles that took."""
    machine.messages.clear()
    machine.load_script(program(body))
    for n in range(cycles):
        if machine.program is None:
            return n
        machine.step()
    assert machine.program is None, f"still running after {cycles} cycles"
    return cycles


def said(machine: Machine, kind: str = "text") -> list[str]:
    """The texts of messages of a kind."""
    return [message.text for message in machine.messages if message.kind == kind]


def failure(machine: Machine) -> tuple[str, int]:
    """Text and line of the exception that ended the program."""
    (message,) = [message for message in machine.messages if message.kind == "exception"]
    return message.text, message.line


def steps(machine: Machine, count: int) -> None:
    for _ in range(count):
        machine.step()
