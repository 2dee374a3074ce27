"""From what a user wrote to checked values: mappings, YAML files in both shapes, presets, poses."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ur_admittance.config_check import BadValue, Entry, Field, Problem, refuse, shown, suggest
from ur_admittance.errors import ConfigError

ALIASES = {"period": "control_rate", "trajectory_time_from_start": "output.time_from_start"}
"""Other names that are accepted, and the parameters they stand for (period = 1/control_rate)."""

_PERIOD = Field("number", "time of one tick", "s", (0.0005, 0.05))
_POSE = {
    "position": (Field("number", "", "m", (-100.0, 100.0), size=3), "xyz"),
    "orientation": (Field("number", "", "w, x, y, z", (-1.001, 1.001), size=4), "wxyz"),
}
_PRESETS = Path(__file__).with_name("presets")
_MOST_BYTES, _MOST_VALUES, _MOST_DEPTH = 1_000_000, 10_000, 20
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None, ".nan": math.nan}
_WORDS |= {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf}
_ROS_OWN = ("use_sim_time", "qos_overrides", "start_type_description_service")


class Pose(NamedTuple):
    """A pose in the base frame: position [m], orientation as unit quaternion [w, x, y, z]."""

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]


class Schema:
    """The parameters by full name, and the keys of each section."""

    def __init__(self, top: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> None:
        self.sections = {name: tuple(section) for name, section in sections.items()}
        self.fields: dict[str, Field] = {}
        for name, info in top.items():
            inner = {f"{name}.{key}": part for key, part in sections.get(name, {}).items()}
            for full, part in (inner or {name: info}).items():
                self.fields[full] = dataclasses.replace(part.metadata[0], name=full)
        self.heads = {name.partition(".")[0] for name in (*self.fields, *ALIASES)}

    def unknown(self, name: str) -> str:
        """What to say of a name that is no parameter."""
        known = suggest(name, (*self.fields, *self.sections, *ALIASES))
        keys = self.sections.get(name.partition(".")[0]) or sorted(self.heads)
        return f"unknown key{known or '; the keys here are ' + ', '.join(keys)}"


@dataclasses.dataclass
class Source:
    """What was written, where it came from, and what is wrong with it so far."""

    entries: list[Entry]
    file: str = ""
    problems: list[Problem] = dataclasses.field(default_factory=list)
    places: dict[str, Entry] = dataclasses.field(default_factory=dict)

    def line(self, *names: str) -> int:
        """The line of the first of these parameters that was written; 0 if none was."""
        return next((self.places[name].line for name in names if name in self.places), 0)


def given(values: Mapping[str, Any], schema: Schema) -> Source:
    """Keys and values of a mapping, nested or dotted; a model stands for what was set in it."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"parameters must be a mapping, got {shown(values)}")

    def walk(mapping: Mapping[str, Any], prefix: str) -> Iterator[Entry]:
        for key, value in mapping.items():
            if hasattr(value, "model_fields_set"):
                value = {name: getattr(value, name) for name in sorted(value.model_fields_set)}
            if isinstance(value, Mapping) and f"{prefix}{key}" in schema.sections:
                yield from walk(value, f"{prefix}{key}.")
            else:
                yield Entry(f"{prefix}{key}", value)

    return Source(list(walk(values, "")))


def collect(source: Source, schema: Schema) -> tuple[dict[str, Any], Source]:
    """Checked values by full name; what is wrong, and where things are, goes into the source."""
    values: dict[str, Any] = {}
    for entry in _whole(source.entries):
        name = ALIASES.get(entry.name, entry.name)
        place = (entry.line, entry.column)
        if name not in schema.fields:
            if name not in schema.sections:
                source.problems.append(Problem(name, schema.unknown(name), *place))
            elif entry.value is not None:
                wanted = f"must be a section with keys such as {schema.sections[name][0]}"
                message = f"{wanted}, got {shown(entry.value)}"
                source.problems.append(Problem(name, message, entry.line))
            continue
        try:
            if entry.name == "period":
                value = 1.0 / _PERIOD.clean(entry.value)
            else:
                value = schema.fields[name].clean(entry.value)
        except BadValue as error:
            source.problems.append(Problem(entry.name, str(error), entry.line))
            continue
        first = source.places.setdefault(name, entry)
        if first is not entry and first.name == entry.name:
            source.problems.append(_twice(name, first.line, *place))
        elif first is not entry and not math.isclose(value, values[name], rel_tol=1e-6):
            message = f"disagrees with {first.name} ({shown(first.value)}); keep one of the two"
            source.problems.append(Problem(entry.name, message, *place))
        else:
            values[name] = value
    return values, source


def _twice(name: str, first: int, line: int, column: int) -> Problem:
    lines = f", on lines {first} and {line}" if line else ""
    return Problem(name, f"written twice{lines}; merge the two into one", line, column)


def _whole(entries: list[Entry]) -> list[Entry]:
    """Entries such as equilibrium.position gathered into one equilibrium."""
    whole: list[Entry] = []
    pose: dict[str, Any] = {}
    for entry in entries:
        head, _, part = entry.name.partition(".")
        if head != "equilibrium" or not part:
            whole.append(entry)
            continue
        if not pose:
            whole.append(entry._replace(name=head, value=pose))
        pose[part] = entry.value
    return whole


def read(path: str | os.PathLike[str], schema: Schema) -> Source:
    """The entries of a configuration file. A relative equilibrium is beside that file."""
    source = parse(*_text_of(path), schema)
    folder = os.path.dirname(os.path.abspath(path))
    for index, entry in enumerate(source.entries):
        where = entry.value
        if entry.name == "equilibrium" and isinstance(where, str) and where not in ("", "none"):
            source.entries[index] = entry._replace(value=os.path.join(folder, where))
    return source


def parse(text: str, file: str, schema: Schema) -> Source:
    """The entries of a YAML text, plain or in the shape of a ROS 2 parameter file."""
    source = Source([], file)
    root = _tree(text, file)
    mapping = _parameters(root, source, schema.heads)
    _flatten(mapping, "", source, schema.sections)
    if mapping is not root:  # every ROS 2 node has some parameters that are not ours
        source.entries = [e for e in source.entries if e.name.partition(".")[0] not in _ROS_OWN]
    return source


def preset_names() -> tuple[str, ...]:
    """Names of the configurations that come with the package."""
    return tuple(sorted(path.stem for path in _PRESETS.glob("*.yaml")))


def read_preset(name: str, schema: Schema) -> Source:
    """The entries of a configuration that comes with the package."""
    names = preset_names()
    if name not in names:
        close = suggest(str(name), names)
        raise ConfigError(f"no preset {shown(name)}{close}; the presets are {', '.join(names)}")
    return parse(_text_of(_PRESETS / f"{name}.yaml")[0], f"preset:{name}", schema)


def clean_equilibrium(value: Any) -> str | Pose:
    """The path of a pose file, or a pose from position and orientation."""
    if isinstance(value, str):
        if not value.isprintable() or not value.endswith((".yaml", ".yml")) or len(value) > 1000:
            raise BadValue(f"must be the path of a .yaml file, got {shown(value)}")
        if ".." in re.split(r"[/\\]", value):
            raise BadValue(f"must not climb with '..', got {shown(value)}; give the full path")
        return value
    value = value._asdict() if isinstance(value, Pose) else value
    if not isinstance(value, Mapping):
        raise BadValue(f"must be a path, or position and orientation, got {shown(value)}")
    pose, problems = _pose([Entry(str(key), part) for key, part in value.items()])
    if pose is None:
        raise BadValue("; ".join(f"{p.name} {p.message}" for p in problems))
    return pose


def load_equilibrium(path: str | os.PathLike[str]) -> Pose:
    """Position [m] and orientation [w, x, y, z] from a pose file.

    Accepts `position` and `orientation`, as lists or by letter, bare or below `equilibrium` or
    `equilibrium_pose`, plain or in the shape of a ROS 2 parameter file.
    """
    text, file = _text_of(path)
    source = Source([], file)
    above = ("equilibrium", "equilibrium_pose")
    _flatten(_parameters(_tree(text, file), source, (*above, *_POSE)), "", source, above)
    bare = [e._replace(name=re.sub(r"^equilibrium(_pose)?\.", "", e.name)) for e in source.entries]
    pose, problems = _pose(bare)
    if pose is not None and not source.problems:
        return pose
    refuse([*source.problems, *problems], file)


def _pose(entries: Sequence[Entry]) -> tuple[Pose | None, list[Problem]]:
    """The pose in entries named position and orientation, each a list or a mapping by letter."""
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for name, value, line, column in entries:
        try:
            if name not in _POSE or name in found:
                known = suggest(name, _POSE)
                raise BadValue("written twice" if name in found else f"unknown key{known}")
            field, letters = _POSE[name]
            if isinstance(value, Mapping):
                if set(value) != set(letters):
                    got = ", ".join(map(str, value))
                    raise BadValue(f"must have the keys {', '.join(letters)}, got {got}")
                value = [value[letter] for letter in letters]
            found[name] = field.clean(value)
            norm = math.hypot(*found[name])
            if name == "orientation" and not abs(norm - 1.0) <= 1e-3:
                raise BadValue(f"must be a unit quaternion [w, x, y, z], got norm {norm:.6g}")
            if name == "orientation" and abs(norm - 1.0) > 1e-12:
                found[name] = tuple(part / norm for part in found[name])
        except BadValue as error:
            problems.append(Problem(name, str(error), line, column))
    missing = [name for name in _POSE if all(entry.name != name for entry in entries)]
    problems += [Problem(name, f"is missing; give {_POSE[name][0].allowed}") for name in missing]
    return (None if problems else Pose(**found)), problems


def dump(values: Mapping[str, Any], shape: str = "plain") -> str:
    """Values by full name as YAML text in either shape; what is none is left out."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Sections one key a line, vectors in brackets."""

    Dumper.add_representer(
        tuple, lambda dumper, value: dumper.represent_sequence("tag:yaml.org,2002:seq", value, True)
    )
    nested: dict[str, Any] = {}
    for name, value in values.items():
        head, _, key = name.rpartition(".")
        if value is not None:
            (nested.setdefault(head, {}) if head else nested)[key] = value
    if shape == "ros2":
        nested = {"ur_admittance_controller": {"ros__parameters": nested}}
    elif shape != "plain":
        raise ConfigError(f"shape must be plain or ros2, got {shown(shape)}")
    return yaml.dump(nested, Dumper=Dumper, sort_keys=False, width=1000, allow_unicode=True)


def _text_of(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a file, and its name for messages."""
    file = str(path) if str(path).isprintable() else shown(str(path), 200)
    try:
        with open(str(path), "rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = {FileNotFoundError: "no such file", IsADirectoryError: "is a folder, not a file"}
        reason = why.get(type(error)) or getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{file}: {reason}") from None
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{file}: larger than 1 MB, which no configuration is")
    try:
        return data.decode("utf-8-sig"), file
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: not UTF-8 text; save the file as UTF-8") from None


def _tree(text: str, file: str) -> Any:
    """The YAML node of the mapping in a text; anchors, tags and huge texts are refused."""
    import yaml

    if not isinstance(text, str) or len(text) > _MOST_BYTES:
        raise ConfigError(f"{file}: must be a text of at most 1 MB")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            why = ""
            if getattr(event, "anchor", None) is not None:
                why = "anchors and aliases (& and *) are not accepted; write the values out"
            elif getattr(event, "tag", None) is not None:
                why = "tags (!) are not accepted; write the plain value"
            elif count > _MOST_VALUES or depth > _MOST_DEPTH:
                why = f"more than {_MOST_VALUES} values or {_MOST_DEPTH} levels"
            if why:
                refuse([Problem("", why, *_at(event))], file)
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        refuse([_syntax_problem(error, text)], file)
    except UnicodeEncodeError:
        raise ConfigError(f"{file}: not valid Unicode text") from None
    if root is None:
        raise ConfigError(f"{file}: is empty; a configuration holds keys such as admittance:")
    if root.id != "mapping":
        refuse([Problem("", "must hold keys and values, as in 'key: value'", *_at(root))], file)
    return root


def _at(node: Any) -> tuple[int, int]:
    """Line and column, from 1."""
    return node.start_mark.line + 1, node.start_mark.column + 1


def _syntax_problem(error: Any, text: str) -> Problem:
    """One sentence, with line and column, for what PyYAML could not read."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow
        before = text[: getattr(error, "position", None) or 0]
        place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        return Problem("", "not valid YAML: a character that text may not contain", *place)
    rows = text.split("\n")
    for row in (mark.line, mark.line - 1):
        if 0 <= row < len(rows) and re.match(r" *\t", rows[row]):
            return Problem("", "not valid YAML: a tab in the indentation; use spaces", row + 1, 1)
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or "unreadable"
    return Problem("", f"not valid YAML: {problem}", mark.line + 1, mark.column + 1)


def _scalar(node: Any) -> Any:
    """What a person means by a YAML value: 1e3 is a number, yes is a text."""
    if node.style in ("'", '"', "|", ">"):
        return node.value
    if node.value.lower() in _WORDS:
        return _WORDS[node.value.lower()]
    if not _NUMBER.fullmatch(node.value):
        return node.value
    number = float(node.value)
    return int(number) if abs(number) < 1e15 and node.value.lstrip("+-").isdigit() else number


def _items(node: Any, prefix: str, source: Source) -> list[tuple[str, Any, Any]]:
    """Full name, key node and value node of a mapping; a key written twice is a problem."""
    items: list[tuple[str, Any, Any]] = []
    first: dict[str, int] = {}
    for key, value in node.value:
        name = prefix + (key.value if key.id == "scalar" else f"<{key.id}>")
        if name in first:
            source.problems.append(_twice(name, first[name], *_at(key)))
        if name not in first or value.id == "mapping":
            items.append((name, key, value))
        first.setdefault(name, _at(key)[0])
    return items


def _plain(node: Any, source: Source) -> Any:
    """A node as Python value."""
    if node.id == "sequence":
        return [_plain(part, source) for part in node.value]
    if node.id == "mapping":
        return {name: _plain(value, source) for name, _, value in _items(node, "", source)}
    return _scalar(node)


def _flatten(node: Any, prefix: str, source: Source, sections: Iterable[str]) -> None:
    """Append the entries below a mapping, those in its sections by their full names."""
    for name, key, value in _items(node, prefix, source):
        if value.id == "mapping" and name in sections:
            _flatten(value, f"{name}.", source, sections)
        else:
            source.entries.append(Entry(name, _plain(value, source), *_at(key)))


def _parameters(root: Any, source: Source, ours: Iterable[str]) -> Any:
    """The mapping with the parameters: the root, or the ros__parameters of one ROS 2 node."""
    nodes: dict[str, Any] = {}
    seen = Source([])
    for name, key, value in _items(root, "", seen):
        inner = _items(value, f"{name}/", seen) if value.id == "mapping" else []
        for part, part_key, below in inner or [(name, key, value)]:
            if part == f"{name}/ros__parameters" and below.id == "mapping":
                nodes[name] = below
            else:
                message = "is outside ros__parameters, where ROS 2 looks for parameters"
                seen.problems.append(Problem(part, message, *_at(part_key)))
    if not nodes:
        return root
    fit = []
    for below in nodes.values():
        heads = {key.value.partition(".")[0] for key, _ in below.value if key.id == "scalar"}
        fit += [] if heads.isdisjoint(ours) else [below]
    if len(nodes) > 1 and len(fit) != 1:
        names = ", ".join(nodes)
        raise ConfigError(f"{source.file}: parameters of several nodes: {names}; keep one node")
    source.problems += seen.problems
    return (fit or list(nodes.values()))[0]
