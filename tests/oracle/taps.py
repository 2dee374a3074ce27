"""Whatever drives an arm under a test is watched, in this process and in all that it starts.

Taps on controllers, chains, robots and rollouts write down what these say and are told, to a file
of each process in one folder. The process of the tests reads these files (`watched.py`) and holds
them to the oracle. So a process that is killed loses nothing, and one that
keeps time is not made late by a judge: a tick costs it a call of `writev`. Only rollouts, which
keep no time and would fill the disk, are judged where they run.

Python loads `everywhere/sitecustomize.py` wherever a test starts it, and that calls `begin()`: the
code that is watched has no part in it, and commands are started as users start them. A process
that drives nothing writes nothing, nor does a copy that another makes of itself (`fork`) of what
the other drives.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import itertools
import os
import struct
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = "UR_ADMITTANCE_TRACES"  # in the environment: where to write
ROOT = Path(__file__).parents[2]
PROCESS, PARAMS, EVENTS, TICK, CHAIN, CYCLE, ROBOT, COMMAND, FOUND, END = range(10)  # records
HEAD = struct.Struct("<IIQ")  # of a record: kind, source, bytes that follow
CYCLES = struct.Struct("<dq12d")  # as `sent.CYCLE`
COMMANDS = struct.Struct("<dq6d")  # as `sent.COMMAND`
ROBOTS = struct.Struct("<13d")  # greatest rates and accelerations of the joints; s of a cycle
KINDS = ("send_velocity", "send_position", "send_trajectory", "stop")  # of commands
VELOCITY, POSITION, TRAJECTORY, REST = range(4)
LEADERS = ("ur_admittance.run.", "ur_admittance.calibration.")  # whose commands to robots count
MANY = 1 << 27  # bytes, after which this process's own are judged in the middle of a test


class Trace:
    """The file of this process, which is there as soon as there is something to write.

    Attributes:
        full: called when there is much in it.
    """

    def __init__(self) -> None:
        self.full: Callable[[], None] | None = None
        self._name = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._parts, self._size = itertools.count(), 0
        self._file: int | None = None
        self._over = False

    def write(self, kind: int, source: int, *parts: Any) -> None:
        """One record, of one source."""
        self.put(HEAD.pack(kind, source, sum(map(len, parts))), *parts)

    def put(self, head: bytes, *parts: Any) -> None:
        """The same, with a head that was made before."""
        if self._over:
            return
        if self._file is None:
            path = Path(os.environ[FOLDER], f"{self._name}.{next(self._parts):06}")
            self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            self._size = 0
            self.write(PROCESS, 0, " ".join(sys.orig_argv)[:300].encode())
        self._size += os.writev(self._file, (head, *parts))
        if self._size > MANY and self.full is not None:
            self._size = 0
            self.full()

    def turn_over(self) -> None:
        """Go on in another file: this one can be thrown away when it was read."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def leave(self) -> None:
        """Write no more: this is a copy of the process, and the file is not its own."""
        self._over = True
        self.turn_over()


here = Trace()
_sources = itertools.count(1)


def begin() -> None:
    """Watch what this process drives from now on."""
    os.register_at_fork(after_in_child=_in_a_copy)
    sys.meta_path.insert(0, _Taps())


def _in_a_copy() -> None:
    global here
    here.leave()
    here = Trace()


class _Taps(importlib.abc.MetaPathFinder):
    """Puts the taps in as soon as what they sit on is loaded."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        tap = TAPS.get(fullname)
        spec = tap and importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if tap is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def executed(module: Any) -> None:
            execute(module)
            tap(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


# --- the taps ---


def _tap_controllers(module: Any) -> None:
    Controller = module.Controller
    warm_up = Controller._warm_up

    def warmed_up(controller: Any) -> None:
        warm_up(controller)
        controller._tick = tapped(controller, controller._tick)

    Controller._warm_up = warmed_up


def tapped(controller: Any, tick: Callable[..., int]) -> Callable[..., int]:
    """A tick that writes down what the controller says, and when it is told other parameters."""
    trace, source = here, next(_sources)
    outputs, params, events = (
        array.view("u1").data
        for array in (controller.outputs, controller.params, controller.state["events"][0])
    )
    generation, count = controller.params["generation"].data, controller.state["event_count"].data
    seeding = controller.state["seeding"].data
    more = memoryview(bytearray(16)).cast("q")  # as in `piece.ROW`
    head = HEAD.pack(TICK, source, len(outputs) + 16)
    known: list[int] = []
    _at_its_end(controller, source)

    def ticked(*arguments: Any) -> int:
        if generation[0] not in known:
            known[:] = [generation[0]]
            trace.write(PARAMS, source, params)
        more[1] = seeding[0]
        code = tick(*arguments)
        if code in (0, 3):  # done, or done with a stop
            if count[0] != more[0]:
                more[0] = count[0]
                trace.write(EVENTS, source, events)
            trace.put(head, outputs, more)
        return code

    return ticked


def _tap_chains(module: Any) -> None:
    Manager = module.ControllerManager
    activate, update = Manager.activate, Manager.update
    sources: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def activated(manager: Any, *arguments: Any) -> None:
        activate(manager, *arguments)
        if manager not in sources:
            sources[manager] = next(_sources)
            _at_its_end(manager, sources[manager])
        here.write(CHAIN, sources[manager], manager._guard._limits[:2].tobytes())

    def updated(manager: Any, q: Any, wrench: Any, dt: float, *ages: float, **more: Any) -> Any:
        out = update(manager, q, wrench, dt, *ages, **more)
        seconds = dt if 0.0 < dt <= 0.1 else manager._period
        numbers = (*out["qd"].tolist(), *out["q_ref"].tolist())
        row = CYCLES.pack(seconds, manager.sends == "position", *numbers)
        here.write(CYCLE, sources[manager], row)
        return out

    Manager.activate, Manager.update = activated, updated


def _tap_robots(module: Any) -> None:
    """What our own code tells a robot, whoever leads it; what a test tells one is the test's."""
    sources: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def note(robot: Any, kind: int, numbers: Any = (0.0,) * 6) -> None:
        if not sys._getframe(2).f_globals["__name__"].startswith(LEADERS):
            return
        if robot not in sources:
            sources[robot] = next(_sources)
            model = robot.model
            limits = ROBOTS.pack(*model.qd_max, *model.qdd_max, 1.0 / robot.rate)
            here.write(ROBOT, sources[robot], limits, robot.name.encode())
            _at_its_end(robot, sources[robot])
        row = COMMANDS.pack(robot.clock(), kind, *map(float, numbers))
        here.write(COMMAND, sources[robot], row)

    def told(method: Callable[..., None], kind: int) -> Callable[..., None]:
        @functools.wraps(method)
        def tell(robot: Any, *arguments: Any) -> None:
            method(robot, *arguments)
            note(robot, kind, *arguments[:1])

        return tell

    for name in ("SimRobot", "RtdeRobot", "Ros2Robot"):
        if Robot := getattr(module, name, None):
            for kind, method in enumerate(KINDS):
                setattr(Robot, method, told(getattr(Robot, method), kind))


def _tap_rollouts(module: Any) -> None:
    rollout = module.rollout

    @functools.wraps(rollout)
    def judged(model: Any, configs: Any, *arguments: Any, **more: Any) -> Any:
        result = rollout(model, configs, *arguments, **more)
        for name, where in _oracle().of_rollout(model, configs, result.outputs).items():
            here.write(FOUND, 0, f"{name}\n{where}".encode())
        return result

    module.rollout = judged


def _oracle() -> Any:
    sys.path.append(str(ROOT))
    try:
        return importlib.import_module("tests.oracle.judge")
    finally:
        sys.path.remove(str(ROOT))


def _at_its_end(what: Any, source: int) -> None:
    weakref.finalize(what, here.write, END, source).atexit = False


TAPS: dict[str, Callable[[Any], None]] = {
    "ur_admittance.controller.controller": _tap_controllers,
    "ur_admittance.chain.manager": _tap_chains,
    "ur_admittance.robots.sim.robot": _tap_robots,
    "ur_admittance.robots.rtde.robot": _tap_robots,
    "ur_admittance.robots.ros2.robot": _tap_robots,
    "ur_admittance.rollout.rollout": _tap_rollouts,
}
