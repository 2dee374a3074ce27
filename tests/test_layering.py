"""Imports point one way, the tables agree, and no file grows past what one can read."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import ur_admittance
from ur_admittance.faults import BY_NAME, FAULTS
from ur_admittance.kernel import bits

ROOT = Path(ur_admittance.__file__).parent
FILES = sorted(file for file in ROOT.rglob("*.py"))
KERNEL = [file for file in FILES if file.parent.name == "kernel"]
PACKAGE = "ur_admittance"

# Bottom to top: a module imports from its own room and from those above it in this list.
ROOMS = (
    ("errors", "_version"),
    ("kernel",),
    ("faults", "validate", "stops"),
    ("model",),
    ("config",),
    ("preflight",),
    ("packing", "streaming"),
    ("controller",),
    ("rollout",),
    ("tune",),
    ("approach", "trajectory"),
    ("realtime_memory", "run_summary", "signals"),
    ("realtime",),
    ("robots.base",),
    ("robots.wrench_rate", "driver"),
    ("loop",),
    (PACKAGE,),  # what users import
    ("blackboard",),
    ("teaching",),
    ("chain",),
    ("robots.modes",),
    ("sensors",),
    ("robots.sim",),
    ("robots.rtde",),
    ("robots.ros2",),
    ("robots",),  # which address leads to which robot
    ("fake_robot",),
    ("calibration",),
    ("telemetry",),
    ("report",),
    ("scenarios",),
    ("ros2",),
    ("live",),
    ("cockpit",),
    ("bench",),
    ("doctor",),
    ("cli",),
)
TRANSPORTS = {"mujoco", "rtde_control", "rtde_receive", "rclpy", "websockets", "socket", "foxglove"}
MAY_USE_TRANSPORTS = (
    "robots.",
    "sensors",
    "ros2",
    "fake_robot",
    "live",
    "cockpit",
)  # live: a socket to its own process

each_file = pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))


def name_of(file: Path) -> str:
    """The dotted name of a module."""
    parts = [PACKAGE, *file.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(file: Path, *, at_load: bool = True) -> set[str]:
    """Dotted names of what a file imports: when it is loaded, or ever.

    Inside functions and under TYPE_CHECKING nothing is imported at load.
    """
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                module = node.module or ""
                inner = ROOT.parent.joinpath(*module.split("."), alias.name)
                is_module = inner.with_suffix(".py").exists() or inner.is_dir()
                found.add(f"{module}.{alias.name}" if is_module else module)
        lazy = isinstance(node, ast.FunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        )
        if not (at_load and lazy):
            for child in ast.iter_child_nodes(node):
                visit(child)

    visit(ast.parse(file.read_text()))
    return found


def room_of(module: str) -> int:
    """The place of a module's room in the list; the most particular entry counts."""
    inner = module.removeprefix(PACKAGE).lstrip(".") or PACKAGE
    while inner:
        for place, names in enumerate(ROOMS):
            if inner in names:
                return place
        inner = inner.rpartition(".")[0]
    raise AssertionError(f"{module} has no place in ROOMS")


@pytest.mark.parametrize("file", KERNEL, ids=lambda f: f.stem)
def test_the_kernel_imports_only_numpy_numba_math_and_its_siblings(file: Path) -> None:
    """What compiles it may also use LLVM and the standard library: it never runs inside a tick."""
    for module in imports_of(file, at_load=False):
        head = module.split(".")[0]
        allowed = head in ("numpy", "numba", "math", "__future__")
        allowed = allowed or module.startswith(f"{PACKAGE}.kernel")
        if file.name in ("compile.py", "inner.py", "shortcuts.py", "translation.py"):
            allowed = allowed or head in {"llvmlite", *sys.stdlib_module_names}
        assert allowed, f"{file.name} imports {module}"


@each_file
def test_every_room_imports_only_from_those_before_it(file: Path) -> None:
    own = room_of(name_of(file))
    for module in imports_of(file):
        if module == PACKAGE or module.startswith(f"{PACKAGE}."):
            assert room_of(module) <= own, f"{file.name} imports {module}, which is above it"


def test_every_room_in_the_list_exists() -> None:
    names = {name_of(file) for file in FILES}
    for name in (name for names_ in ROOMS for name in names_):
        assert name == PACKAGE or f"{PACKAGE}.{name}" in names, name


def test_every_step_of_the_tick_has_a_file_of_tests() -> None:
    """What `tick` imports of the kernel, and what that imports; all but the tables."""
    folder, tables = ROOT / "kernel", {"bits", "inner", "layout", "state"}
    steps, left = set(), ["tick"]
    while left:
        steps.add(step := left.pop())
        modules = imports_of(folder / f"{step}.py")
        names = {module.rpartition(".")[2] for module in modules if ".kernel." in module}
        left += names - steps - set(left) - tables
    tests = Path(__file__).with_name("kernel")
    assert [step for step in sorted(steps) if not (tests / f"test_{step}.py").exists()] == []


def test_no_two_modules_import_each_other_when_they_are_loaded() -> None:
    graph = {name_of(file): imports_of(file) for file in FILES}
    done: set[str] = set()

    def follow(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way, module])
        if module in done or module not in graph:
            return
        for other in graph[module]:
            if other != PACKAGE:
                follow(other, (*way, module))
        done.add(module)

    for module in graph:
        follow(module, ())


@each_file
def test_only_the_command_line_imports_the_command_line(file: Path) -> None:
    if not file.stem.startswith("cli") and "cli" not in file.parts:
        assert not any(m.startswith(f"{PACKAGE}.cli") for m in imports_of(file, at_load=False))


@each_file
def test_only_robots_and_nodes_use_a_transport(file: Path) -> None:
    inner = name_of(file).removeprefix(f"{PACKAGE}.")
    if not inner.startswith(MAY_USE_TRANSPORTS):
        heads = {module.split(".")[0] for module in imports_of(file, at_load=False)}
        assert not heads & TRANSPORTS


def test_every_bit_has_a_fault_and_every_fault_a_bit() -> None:
    groups = {"LIMITS", "HOLDS", "STOPS"}
    modes = {"INACTIVE", "ACTIVE", "HOLDING", "STOPPED", "LEAVING"}
    choices = {"PROBE", "BASE", "EXACT", "RK4", "SEMI_IMPLICIT_EULER"}
    choices |= {"SEED_NOTHING", "SEED_ALL", "SEED_KEEPING_D"}
    constants = {
        name for name in vars(bits) if name.isupper() and name not in groups | modes | choices
    }
    assert constants == {fault.name.upper() for fault in FAULTS}


def test_every_bit_is_one_bit_of_its_own_in_the_group_of_its_reaction() -> None:
    masks = [fault.mask for fault in FAULTS]
    assert len(set(masks)) == len(masks) == len(BY_NAME)
    groups = {"limit": (0, 16), "warn": (16, 32), "hold": (32, 48), "stop": (48, 63)}
    for fault in FAULTS:
        assert fault.mask.bit_count() == 1
        first, after = groups[fault.reaction]
        assert first <= fault.mask.bit_length() - 1 < after, fault.name
    for fault in FAULTS:
        assert bool(fault.mask & bits.LIMITS) == (fault.reaction == "limit")
        assert bool(fault.mask & bits.HOLDS) == (fault.reaction == "hold")
        assert bool(fault.mask & bits.STOPS) == (fault.reaction == "stop")


def test_the_status_fits_into_a_signed_integer() -> None:
    assert sum(fault.mask for fault in FAULTS) < 2**63


@each_file
def test_a_module_says_in_its_first_line_what_it_is_for(file: Path) -> None:
    text = ast.get_docstring(ast.parse(file.read_text()))
    assert text, "no docstring"
    assert len(text.splitlines()[0]) > 15


@each_file
def test_a_file_is_no_longer_than_one_can_read(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 400


@each_file
def test_nobody_asserts_what_a_user_gives_or_swallows_every_error(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        assert not isinstance(node, ast.Assert), f"{file.name}:{node.lineno}: assert"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{file.name}:{node.lineno}: bare except"
            silent = len(node.body) == 1 and isinstance(node.body[0], ast.Pass)
            wide = ast.unparse(node.type) in ("Exception", "BaseException")
            assert not (silent and wide), f"{file.name}:{node.lineno}: swallowed"
