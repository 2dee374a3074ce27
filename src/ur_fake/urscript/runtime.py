"""A program that runs: its threads, each run in every cycle until it waits.

The order is that of their start. A thread that has used its share of a cycle goes on in the next
one; one that goes on like that for long, never waiting, is in an infinite loop and ends the program
(Universal Robots, script manual, "Thread scheduling").
"""

from __future__ import annotations

import functools
import inspect
import marshal
import random
from collections.abc import Generator
from types import CodeType, TracebackType
from typing import Any

from ur_admittance.errors import AdmittanceError
from ur_fake.urscript import values
from ur_fake.urscript.builtins import arithmetic
from ur_fake.urscript.builtins.sockets import Connection
from ur_fake.urscript.catalogue import CATALOGUE
from ur_fake.urscript.compiler import FILE, MAIN, Program
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import METER

SHARE = 1000  # statements of one thread in one cycle
POOL = 2500  # statements of all threads in one cycle
ENDLESS = 300_000  # statements without a wait
_OVERDRAFT = 20_000  # statements of functions that cannot wait, before they are endless too
MOST_THREADS = 64


class _Halt(BaseException):
    """The program ends here: `halt`, or a thread that kills itself."""


class Thread:
    """One thread of a program."""

    __slots__ = ("critical", "generator", "handle", "name", "spent")

    def __init__(self, generator: Generator, handle: int, name: str) -> None:
        self.generator, self.handle, self.name = generator, handle, name
        self.spent, self.critical = 0, 0


class Execution:
    """A program under way.

    Attributes:
        machine: the controller it runs on.
        left: statements that the current thread has left in this cycle.
        current: the thread that runs.
        sockets: open ones, by name.
    """

    def __init__(self, program: Program, machine: Any) -> None:
        self.program, self.machine = program, machine
        self.sockets: dict[str, Connection] = {}
        self.random = random.Random(0)
        self._watchdogs: dict[str, tuple[float, str, float]] = {}
        self._handles = 0
        self._space = space = self._namespace()
        exec(marshal.loads(program.code), space)  # only what the compiler wrote
        self._threads = [Thread(space[MAIN](), 0, program.name)]
        self.main = self.current = self._threads[0]

    def run_cycle(self) -> bool:
        """One cycle of every thread. False once the program has ended."""
        if self._watchdogs and not self._fed():
            return False
        pool = POOL
        threads = self._threads
        n = 0
        while n < len(threads) and pool > 0:  # a thread that is started now runs now
            thread = threads[n]
            if thread.generator is not None:
                METER.left = SHARE
                if not self._resume(thread):
                    return False
                pool -= SHARE - METER.left
                if METER.left < 0 and thread.critical > 0:
                    break  # nobody else runs before it leaves the section, or waits in it
            n += 1
        if n < len(threads):  # the others come first in the next cycle
            self._threads = threads = threads[n:] + threads[:n]
        if any(thread.generator is None for thread in threads):
            self._threads = [thread for thread in threads if thread.generator is not None]
        return True

    @property
    def left(self) -> int:
        return METER.left

    @left.setter
    def left(self, value: int) -> None:
        METER.left = value

    def values(self) -> list[Any]:
        """Of the program's variables, in the order of their names; None where there is none yet."""
        return [self._space.get(f"v_{name}") for name in self.program.variables]

    def _resume(self, thread: Thread) -> bool:
        """Run a thread until it waits. False if that ended the program."""
        self.current = thread
        try:
            thread.generator.send(None)
        except StopIteration:
            self._end(thread)
            return thread is not self.main
        except _Halt:
            self._end(thread)
            return False
        except ScriptError as error:
            raise _placed(error, error.__traceback__) from None
        except (NameError, UnboundLocalError) as error:
            name = str(error.name or "").removeprefix("v_")
            if error.name is None:  # an unbound local says it in words only
                name = str(error).split("'")[1].removeprefix("v_") if "'" in str(error) else "?"
            problem = ScriptError(f"variable {name} has no value")
            raise _placed(problem, error.__traceback__) from None
        except RecursionError as error:
            problem = ScriptError("functions call each other too deeply")
            raise _placed(problem, error.__traceback__) from None
        except (
            TypeError,
            ValueError,
            ArithmeticError,
            LookupError,
            AttributeError,
            MemoryError,
            OSError,
            AdmittanceError,
        ) as error:  # of one program: the controller and its other clients go on
            problem = ScriptError(f"runtime error: {error}")
            raise _placed(problem, error.__traceback__) from None
        if METER.left >= 0:
            thread.spent = 0
            return True
        thread.spent += SHARE - METER.left
        if thread.spent > ENDLESS:
            raise ScriptError(
                f"infinite loop: thread {thread.name} never waits; use sync() in the loop",
                _line(thread.generator),
            )
        return True

    def close(self) -> None:
        """End all threads and close the sockets."""
        for thread in self._threads:
            if thread.generator is not None:
                self._end(thread)
        for connection in self.sockets.values():
            connection.close()
        self.sockets.clear()

    def _end(self, thread: Thread) -> None:
        generator, thread.generator = thread.generator, None  # pyright: ignore
        if inspect.getgeneratorstate(generator) != inspect.GEN_RUNNING:
            generator.close()
        self.machine.motion.release(thread)

    # --- what the compiled code calls ---

    def run(self, generator: Generator, name: str) -> int:
        if sum(thread.generator is not None for thread in self._threads) >= MOST_THREADS:
            raise ScriptError(f"a program may have {MOST_THREADS} threads at most")
        self._handles += 1
        self._threads.append(Thread(generator, self._handles, name))
        return self._handles

    def _find(self, handle: Any) -> Thread | None:
        n = values.whole(handle)
        if n <= 0:
            return None
        alive = (t for t in self._threads if t.handle == n and t.generator is not None)
        return next(alive, None)

    def kill(self, handle: Any) -> Generator:
        thread = self._find(handle)
        if thread is not None:
            if thread is self.current:
                thread.handle = -1
                self.machine.motion.release(thread)
                while True:
                    self._end_soon(thread)
                    yield
            self._end(thread)
        return
        yield

    def _end_soon(self, thread: Thread) -> None:
        """A thread that kills itself is not run again."""
        thread.generator = None  # pyright: ignore[reportAttributeAccessIssue]

    def join(self, handle: Any) -> Generator:
        while self._find(handle) is not None:
            yield

    def halt(self) -> None:
        raise _Halt

    def enter_critical(self) -> None:
        """No other thread runs before this one leaves the section, or waits in it."""
        self.current.critical += 1

    def exit_critical(self) -> None:
        self.current.critical = max(0, self.current.critical - 1)

    def spent(self) -> None:
        """A function that cannot wait has used up the share: it may overdraw it, not for ever."""
        if METER.left < -_OVERDRAFT:
            raise ScriptError("infinite loop: functions that call each other never wait")

    def items(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return value
        raise ScriptError(f"type error: for needs a list, got {values.kind(value)}")

    # --- watchdogs on RTDE inputs ---

    def watch(self, name: str, seconds: float, action: str) -> None:
        """See `rtde_set_watchdog`."""
        if seconds <= 0.0 or action == "ignore":
            self._watchdogs.pop(name, None)
        else:
            self._watchdogs[name] = (seconds, action, self.machine.time)

    def _fed(self) -> bool:
        """Whether every watched input came in time; False if one ends the program."""
        machine = self.machine
        for name, (seconds, action, since) in list(self._watchdogs.items()):
            seen = max(since, machine.input_seen.get(name, since))
            if machine.time - seen <= seconds + 1e-9:
                continue
            machine.say("error", f"RTDE watchdog: {name} was not updated", code=0, level=2)
            del self._watchdogs[name]
            if action == "stop":
                return False
            machine.pause_program()
        return True

    def _namespace(self) -> dict[str, Any]:
        space: dict[str, Any] = {
            "__builtins__": {},
            "_meter": METER,
            "_MISSING": object(),
            "_spent": self.spent,
            "_run": self.run,
            "_kill": self.kill,
            "_join": self.join,
            "_halt": self.halt,
            "_enter_critical": self.enter_critical,
            "_exit_critical": self.exit_critical,
            "_items": self.items,
            **_OPERATIONS,
        }
        for name, entry in CATALOGUE.items():
            value = entry.value
            space[f"b_{name}"] = value if entry.constant else functools.partial(value, self)
        return space


def _given(value: Any) -> Any:
    """A value that a function returned, to be kept."""
    if value is None:
        raise ScriptError("the function returns nothing that could be assigned")
    return value


_OPERATIONS = {
    "_given": _given,
    "_list": values.make_list,
    "_pose": values.make_pose,
    "_struct": values.make_struct,
    "_truth": values.truth,
    "_element": values.element,
    "_member": values.member,
    "_replaced": values.replaced,
    "_put": values.put,
    "_method": arithmetic._method,
    **{
        f"_{name}": getattr(values, name)
        for name in (
            "add", "subtract", "multiply", "divide", "modulo", "negative", "less", "less_equal",
            "greater", "greater_equal", "exclusive",
        )
    },
}  # fmt: skip


def _placed(error: ScriptError, trace: TracebackType | None) -> ScriptError:
    """The error with the line and column of the script at which it happened."""
    while trace is not None:
        code: CodeType = trace.tb_frame.f_code
        if code.co_filename == FILE:
            error.line = trace.tb_lineno
            positions = list(code.co_positions())
            _, _, column, _ = positions[trace.tb_lasti // 2]
            error.column = -1 if column is None else column + 1
        trace = trace.tb_next
    return error


def _line(generator: Any) -> int:
    """Where a generator stands, in the innermost function of the script."""
    line = -1
    while generator is not None:
        frame = getattr(generator, "gi_frame", None)
        if frame is not None and frame.f_code.co_filename == FILE:
            line = frame.f_lineno
        generator = getattr(generator, "gi_yieldfrom", None)
    return line
