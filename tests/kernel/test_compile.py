"""Where compiled code is kept, what the user hears while it is made, and what Ctrl-C does."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numba
import pytest
from numba.core import event
from numba.core.errors import NumbaError

from ur_admittance.kernel import compile as compiling
from ur_admittance.kernel import tick

# A module with compiled functions, to be imported by a process of its own.
SMALL = """
from ur_admittance.kernel.compile import announced, jit

@jit
def twice(x, really):
    return 2.0 * x if really else x

@jit(entry=True)
def four_times(x):
    return twice(twice(x, True), True) + twice(x, False) - x

@jit(entry=True)
def thrice(x):
    return twice(x, True) + x
"""


@pytest.fixture(autouse=True)
def forget_the_folder():
    compiling.cache_directory.cache_clear()
    yield
    compiling.cache_directory.cache_clear()


@pytest.fixture
def small(tmp_path: Path):
    """Runs a program that has `small` to import, with a cache of its own."""
    (tmp_path / "small.py").write_text(SMALL)
    cache = tmp_path / "cache"

    def run(program: str, **more: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(tmp_path), *sys.path])
        chosen = {"UR_ADMITTANCE_CACHE": str(cache), "UR_ADMITTANCE_PLAIN_NUMBA": "0"}
        environment = os.environ | {"PYTHONPATH": path} | chosen | more
        program = f"import small\nfrom small import announced, four_times\n{program}"
        return subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


# Another that Python calls and that solves boxes, but deeper inside.
DEEP = """
from ur_admittance.kernel import layout
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.ik import inverse_kinematics

@jit(entry=True)
def deep(params, state):
    return inverse_kinematics(params[0], state[0])

deep(layout.new_params(), layout.new_state())
"""
SOLVE = """
import numpy as np
from ur_admittance.kernel import layout
from tests.kernel.boxes import solve_boxes

H, low = np.tile(np.eye(6), (10, 1, 1)), np.full((10, 6), -1.0)
g, x = np.tile(np.linspace(-2.0, 2.0, 6), (10, 1)), np.zeros((10, 6))
print(solve_boxes(layout.new_state(), H, g, low, -low, x), (x == np.clip(-g, -1.0, 1.0)).all())
"""


CALL = "with announced('a thing', four_times): print(four_times(3.0))"
HITS = "print(sum(four_times.stats.cache_hits.values()))"


# --- what is compiled ---


def test_a_function_that_only_compiled_code_calls_runs_as_python_when_python_calls_it(small):
    done = small("print(small.twice(1.5, True), small.twice.overloads)")
    assert done.stdout == "3.0 OrderedDict()\n", done.stderr


def test_it_is_compiled_once_for_all_constants_it_is_given(small):
    done = small(f"{CALL}; print(len(small.twice.overloads))")
    assert done.stdout == "12.0\n1\n", done.stderr


def test_nothing_in_the_tick_can_allocate():
    @compiling.jit
    def allocates(n):
        return [0.0] * n

    @numba.njit
    def calls(n):
        return len(allocates(n))

    with pytest.raises(NumbaError, match="NRT"):
        calls(3)


@pytest.mark.slow
def test_what_two_entries_have_in_common_is_the_same_function_in_both(small, tmp_path):
    """Once the second found the first one's version of it by its name, whose arguments LLVM had
    changed: no box was solved, and the next call crashed.
    """
    (tmp_path / "deeper.py").write_text(DEEP)
    for start in ("compiled", "loaded"):
        done = small(f"import deeper\n{SOLVE}\n{SOLVE}")
        assert done.stdout == "0 True\n0 True\n", (start, done.stderr)


@pytest.mark.slow
def test_one_switch_and_everything_is_compiled_by_plain_numba_in_a_folder_of_its_own(
    small, tmp_path
):
    program = f"{CALL}; {HITS}; print(type(small.twice).__name__)"
    patched, plain = "12.0\n{}\nInner\n", "12.0\n{}\nCPUDispatcher\n"
    for hits in (0, 1):
        assert small(program).stdout == patched.format(hits)
        assert small(program, UR_ADMITTANCE_PLAIN_NUMBA="1").stdout == plain.format(hits)
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_numba_that_was_not_tested_is_used_plain(small):
    program = """
import importlib, numba, ur_admittance.kernel.compile as c
numba.__version__ = "0.67.9"
print(c.PLAIN, importlib.reload(c).PLAIN)
"""
    done = small(program)
    assert done.stdout == "False True\n", done.stderr


# --- where it is kept ---


def test_the_cache_is_named_after_the_source_so_that_no_change_goes_unnoticed(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("UR_ADMITTANCE_CACHE", str(tmp_path))
    folder = compiling.cache_directory()
    assert folder is not None
    assert folder.parent == tmp_path
    assert folder.is_dir()
    compiling.cache_directory.cache_clear()
    monkeypatch.setattr(compiling.numba, "__version__", "another")
    assert compiling.cache_directory() != folder


@pytest.mark.slow
def test_the_second_start_loads_what_the_first_has_compiled(small):
    program = f"{CALL}; {HITS}"
    assert small(program).stdout == "12.0\n0\n"
    assert small(program).stdout == "12.0\n1\n"


def test_where_no_cache_can_be_written_code_lives_in_memory_and_the_user_is_told(small, tmp_path):
    (tmp_path / "file").write_text("in the way")
    place = str(tmp_path / "file" / "cache")
    done = small(
        f"import ur_admittance.kernel.compile as c; c._QUIET_SECONDS = 0.0\n{CALL}",
        UR_ADMITTANCE_CACHE=place,
    )
    assert done.stdout == "12.0\n", done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "not kept" in line]
    assert f"{place} cannot be written to" in said


def open_to_all(root: Path) -> None:
    root.chmod(0o777)


def a_link(root: Path) -> None:
    root.rename(root.with_name("elsewhere"))
    root.symlink_to(root.with_name("elsewhere"))


def of_another_user(root: Path) -> None:
    os.chown(root, 12345, 12345)


def read_by_others_inside(root: Path) -> None:
    for folder in root.iterdir():
        folder.chmod(0o755)  # and Numba's folders in it may be open to a group


@pytest.mark.parametrize("spoil", [open_to_all, a_link, of_another_user, read_by_others_inside])
def test_a_folder_that_is_not_ours_alone_is_not_used_and_the_user_is_told(small, tmp_path, spoil):
    """Whoever writes there runs code as the robot's user."""
    if spoil is of_another_user and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    small(CALL)
    spoil(tmp_path / "cache")
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}
    assert before
    talkative = "import ur_admittance.kernel.compile as c; c._QUIET_SECONDS = 0.0"
    done = small(f"{talkative}\n{CALL}; {HITS}")
    assert done.stdout == "12.0\n0\n", done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "not kept" in line]
    assert f"not kept ({tmp_path / 'cache'}" in said
    assert f"is not a folder of user {os.geteuid()} alone" in said
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")} == before


@pytest.mark.slow
def test_a_disk_that_is_full_costs_a_line_and_not_the_start(small):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))"
    patient = "import ur_admittance.kernel.compile as c; c._QUIET_SECONDS = 1e9"
    done = small(f"{full}\n{patient}\n{CALL}; {HITS}")
    assert done.stdout == "12.0\n0\n"
    (said,) = done.stderr.splitlines()
    assert "not kept" in said
    assert "File too large" in said
    assert small(f"{CALL}; {HITS}").stdout == "12.0\n0\n", "and nothing half written was believed"


@pytest.mark.slow
def test_a_damaged_file_is_replaced(small, tmp_path):
    small(CALL)
    for file in (tmp_path / "cache").rglob("*.nb?"):
        file.write_bytes(file.read_bytes()[:20])
    assert small(f"{CALL}; {HITS}").stdout == "12.0\n0\n"
    assert small(f"{CALL}; {HITS}").stdout == "12.0\n1\n"


def test_a_user_without_a_home_can_compile_too(monkeypatch):
    for name in ("UR_ADMITTANCE_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(compiling.Path, "home", homeless)
    assert compiling.cache_directory() is None


# --- what the user hears ---


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def talkative(monkeypatch):
    monkeypatch.setattr(compiling, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(compiling, "_REDRAW_SECONDS", 0.0)


def as_if_compiled(functions) -> None:
    for function in functions:
        with event.trigger_event("numba:compile", data={"dispatcher": function}):
            pass


@pytest.fixture
def functions(monkeypatch):
    """All functions of the tick, as if none were compiled yet."""
    found = compiling._called_by((tick.update,))
    for function in found:
        monkeypatch.setattr(function, "overloads", {})
    return sorted(found, key=lambda f: f.py_func.__name__)


def test_a_terminal_is_shown_how_far_the_compiler_is(monkeypatch, talkative, functions):
    monkeypatch.setattr(sys, "stderr", said := Terminal())
    with compiling.announced("a thing", tick.update):
        as_if_compiled(functions)
    lines = said.getvalue().split("\r")
    shares = [int(line.split()[-2]) for line in lines if line.endswith("% ")]
    assert len(shares) == len(functions) > 100
    assert shares == sorted(shares)
    assert shares[0] <= 5
    assert shares[-1] == 85
    assert "compiled a thing in" in lines[-1]


def test_elsewhere_it_is_two_lines(capsys, talkative, functions):
    with compiling.announced("a thing", tick.update):
        as_if_compiled(functions)
    first, last = capsys.readouterr().err.splitlines()
    assert "compiling a thing, once for this installation, version and processor" in first
    assert "compiled a thing in" in last


def test_code_that_is_there_already_is_not_spoken_of(capsys):
    with compiling.announced("a thing"):
        pass
    assert capsys.readouterr().err == ""


# --- Ctrl-C ---


def compile_with_an_interrupt_that_is_swallowed(functions, reached: list[str]) -> None:
    with compiling.announced("a thing", tick.update):
        as_if_compiled(functions[:1])
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        reached.append("swallowed")
        as_if_compiled(functions[1:])
        reached.append("went on")


def test_an_interrupt_that_someone_swallowed_counts_with_the_next_function(
    capsys, talkative, functions
):
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        compile_with_an_interrupt_that_is_swallowed(functions, reached)
    assert reached == ["swallowed"]
    assert "compiled a thing in" not in capsys.readouterr().err, "it was not"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_someone_swallowed_counts_at_the_end(capsys, talkative, functions):
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        compile_with_an_interrupt_that_is_swallowed(functions[:1], reached)
    assert reached == ["swallowed", "went on"]
    assert "compiled a thing in" not in capsys.readouterr().err


@pytest.mark.parametrize("then", ["pass", "raise RuntimeError('something is missing')"])
def test_an_interrupt_that_the_compiler_swallowed_counts_where_nothing_is_announced(small, then):
    program = f"""
import signal
from numba.core import event

class Swallow(event.Listener):
    def on_start(self, event): pass
    def on_end(self, event):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            print("swallowed")
        {then}

with event.install_listener("numba:compile", Swallow()):
    try:
        four_times(3.0)
    except KeyboardInterrupt:
        print("and raised")
"""
    done = small(program)
    assert done.stdout.endswith("swallowed\nand raised\n"), done.stderr


def test_who_ignores_interrupts_is_not_interrupted():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with compiling.announced("a thing"):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
