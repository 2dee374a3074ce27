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
REPOSITORY = Path(__file__).parents[1]
FAKE = ROOT.with_name("ur_fake")
FAKE_FILES = sorted(FAKE.rglob("*.py"))
FILES = sorted(file for file in ROOT.rglob("*.py"))
BESIDE = sorted(
    file
    for folder in ("tests", "benchmarks", "docs", "examples", "ros")
    for file in (REPOSITORY / folder).rglob("*.py")
)
KERNEL = [file for file in FILES if file.parent.name == "kernel"]
PACKAGE = "ur_admittance"

# Bottom to top: a module imports from its own room and from those above it in this list. A folder
# is a room; modules that those below their folder need have an entry of their own.
ROOMS = (
    ("errors", "_version"),
    ("kernel",),
    ("faults", "config.validate"),
    ("model",),
    ("config",),
    ("controller",),
    ("rollout",),
    ("tune",),
    ("realtime",),
    ("blackboard",),
    ("motion",),
    ("sensors.base", "robots.base"),
    ("robots.wrench_rate",),
    ("robots.modes",),
    ("sensors",),
    ("robots.sim",),
    ("robots.rtde",),
    ("robots.ros2",),
    ("robots",),  # which address leads to which robot
    ("telemetry",),
    ("run",),
    (PACKAGE,),  # what users import
    ("chain",),
    ("calibration",),
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
    "live",
    "cockpit",
)  # live: a socket to its own process

# A whole, and the parts of it that have files of their own and speak of it by its type alone.
PARTS = {
    "model.robot_model": ("model.urdf_writer",),
    "config.schema": ("config.rules",),
    "ros2.node": (
        "ros2.arming",
        "ros2.driving",
        "ros2.follow_action",
        "ros2.services",
        "ros2.upkeep",
    ),
}
# Folders of tests that are of no one room: of all together, of what judges them, and of the pages.
BESIDES = {"docs", "end_to_end", "oracle"}
# Folders whose tests stand in the one above: they are parts of what is tested whole.
TESTED_ABOVE = ("ur_fake/urscript/builtins",)

each_file = pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))


def name_of(file: Path) -> str:
    """The dotted name of a module."""
    parts = [PACKAGE, *file.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def inner(file: Path) -> str:
    """Its name without that of the package in front."""
    return name_of(file).removeprefix(f"{PACKAGE}.")


def imports_of(file: Path, *, at_load: bool = True) -> set[str]:
    """Dotted names of what a file imports: when it is loaded, or ever.

    Inside functions and under TYPE_CHECKING nothing is imported at load. What `import_module` is
    given counts, and has to be plain to see.
    """
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                module = node.module or ""
                place = ROOT.parent.joinpath(*module.split("."), alias.name)
                is_module = place.with_suffix(".py").exists() or place.is_dir()
                found.add(f"{module}.{alias.name}" if is_module else module)
        elif isinstance(node, ast.Call) and called(node) == "import_module":
            name = node.args[0]
            assert isinstance(name, ast.Constant), f"{file}:{node.lineno}: which module?"
            found.add(str(name.value))
        lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        )
        if not (at_load and lazy):
            for child in ast.iter_child_nodes(node):
                visit(child)

    visit(ast.parse(file.read_text()))
    return found


def called(node: ast.Call) -> str:
    """The name of the function that is called, without where it comes from."""
    return ast.unparse(node.func).rpartition(".")[2]


def inner_imports(file: Path, *, at_load: bool) -> set[str]:
    """Of `imports_of`, what is ours, but for the package itself, without its name in front."""
    names = imports_of(file, at_load=at_load)
    return {n.removeprefix(f"{PACKAGE}.") for n in names if n.startswith(f"{PACKAGE}.")}


def circle_in(graph: dict[str, set[str]]) -> str:
    """A way from a module back to itself, in words; "" if there is none."""
    done: set[str] = set()

    def follow(module: str, way: tuple[str, ...]) -> str:
        if module in way:
            return " -> ".join([*way[way.index(module) :], module])
        if module in done or module not in graph:
            return ""
        for other in sorted(graph[module]):
            if circle := follow(other, (*way, module)):
                return circle
        done.add(module)
        return ""

    return next(filter(None, (follow(module, ()) for module in sorted(graph))), "")


def room_of(module: str) -> int:
    """The place of a module's room in the list; the most particular entry counts."""
    name = module.removeprefix(PACKAGE).lstrip(".") or PACKAGE
    while name:
        for place, names in enumerate(ROOMS):
            if name in names:
                return place
        name = name.rpartition(".")[0]
    raise AssertionError(f"{module} has no place in ROOMS")


@pytest.mark.parametrize("file", KERNEL, ids=lambda f: f.stem)
def test_the_kernel_imports_only_numpy_numba_math_and_its_siblings(file: Path) -> None:
    """What compiles it may also use the standard library: it never runs inside a tick."""
    for module in imports_of(file, at_load=False):
        head = module.split(".")[0]
        allowed = head in ("numpy", "numba", "math", "__future__")
        allowed = allowed or module.startswith(f"{PACKAGE}.kernel")
        if file.name in ("compile.py", "inner.py"):
            allowed = allowed or head in sys.stdlib_module_names
        assert allowed, f"{file.name} imports {module}"


@each_file
def test_every_room_imports_only_from_those_before_it(file: Path) -> None:
    """When it is loaded, later, or for its types."""
    own = room_of(name_of(file))
    for module in imports_of(file, at_load=False):
        if module == PACKAGE or module.startswith(f"{PACKAGE}."):
            assert room_of(module) <= own, f"{file.name} imports {module}, which is above it"


def test_every_room_in_the_list_exists() -> None:
    names = {name_of(file) for file in FILES}
    for name in (name for names_ in ROOMS for name in names_):
        assert name == PACKAGE or f"{PACKAGE}.{name}" in names, name


def test_every_folder_has_a_room_of_its_own() -> None:
    """None passes for the folder around it."""
    rooms = {name for names in ROOMS for name in names}
    folders = {inner(file) for file in ROOT.rglob("__init__.py")}
    assert folders - rooms == set()
    holders = {file.parent for file in FILES}
    assert [folder for folder in holders if not (folder / "__init__.py").exists()] == []


def test_an_import_by_name_counts_as_one(tmp_path: Path) -> None:
    file = tmp_path / "late.py"
    file.write_text(
        "def plots():\n    return importlib.import_module('ur_admittance.report.plots')\n"
        "async def later():\n    import ur_admittance.cli\n"
    )
    assert imports_of(file) == set()
    assert imports_of(file, at_load=False) == {"ur_admittance.report.plots", "ur_admittance.cli"}
    file.write_text("import_module(f'{room}.plots')\n")
    with pytest.raises(AssertionError, match="which module"):
        imports_of(file)


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


def test_the_folders_of_tests_are_those_of_the_package() -> None:
    """A folder for every folder of it; and else for a module, or for what `BESIDES` names."""
    tests = Path(__file__).parent
    folders = {file.parent.relative_to(tests).as_posix() for file in tests.rglob("test_*.py")}
    rooms = {file.parent.relative_to(ROOT).as_posix() for file in FILES}
    rooms |= {file.parent.relative_to(FAKE.parent).as_posix() for file in FAKE_FILES}
    modules = {file.relative_to(ROOT).with_suffix("").as_posix() for file in FILES}
    assert [room for room in sorted(rooms - folders) if room not in TESTED_ABOVE] == []
    assert folders - rooms - modules == BESIDES


def test_no_two_modules_import_each_other_when_they_are_loaded() -> None:
    assert circle_in({inner(file): inner_imports(file, at_load=True) for file in FILES}) == ""


def test_no_two_modules_know_each_other_but_parts_and_their_whole() -> None:
    """Not for their types, nor inside a function."""
    graph = {inner(file): inner_imports(file, at_load=False) for file in FILES}
    for whole, parts in PARTS.items():
        for part in parts:
            assert part in graph[whole], f"{whole} does without {part}"
            graph[part].remove(whole)
    assert circle_in(graph) == ""


@each_file
def test_only_the_command_line_imports_the_command_line(file: Path) -> None:
    if not file.stem.startswith("cli") and "cli" not in file.parts:
        assert not any(m.startswith(f"{PACKAGE}.cli") for m in imports_of(file, at_load=False))


@each_file
def test_only_robots_and_nodes_use_a_transport(file: Path) -> None:
    if not inner(file).startswith(MAY_USE_TRANSPORTS):
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


def test_no_file_is_longer_than_one_can_read() -> None:
    long = {
        str(file.relative_to(REPOSITORY))
        for file in [*FILES, *FAKE_FILES, *BESIDE]
        if len(file.read_text().splitlines()) > 400
    }
    assert long == set()


@each_file
def test_nobody_asserts_what_a_user_gives_or_swallows_every_error(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        assert not isinstance(node, ast.Assert), f"{file.name}:{node.lineno}: assert"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{file.name}:{node.lineno}: bare except"
            silent = len(node.body) == 1 and isinstance(node.body[0], ast.Pass)
            wide = ast.unparse(node.type) in ("Exception", "BaseException")
            assert not (silent and wide), f"{file.name}:{node.lineno}: swallowed"


# What the fake controller may know of ours: the arms and their simulation, and what those stand on.
FAKE_KNOWS = ("errors", "kernel", "model", "realtime", "robots.sim")


@pytest.mark.parametrize("file", FAKE_FILES, ids=lambda f: str(f.relative_to(FAKE)))
def test_the_fake_controller_is_a_package_that_knows_only_arms_and_their_simulation(
    file: Path,
) -> None:
    for module in inner_imports(file, at_load=False):
        assert module.startswith(FAKE_KNOWS), f"{file.name} imports {module}"


def test_only_the_verb_knows_the_fake_controller() -> None:
    users = {inner(f) for f in FILES if any("ur_fake" in m for m in imports_of(f, at_load=False))}
    assert users == {"cli.fake_robot"}
