"""Configurations and poses in YAML files: plain, in the shape of ROS 2 parameter files, presets."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ur_admittance.config.collect import EXTENDS, Schema, Source, twice
from ur_admittance.config.field import Entry, Problem, refuse, shown
from ur_admittance.config.pose import POSE_KEYS, Pose, pose_of
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError

_PRESETS = Path(__file__).with_name("presets")
_MOST_BYTES, _MOST_VALUES, _MOST_DEPTH = 1_000_000, 10_000, 20
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None, ".nan": math.nan}
_WORDS |= {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf}
_IN_FILES = ("tool", "payload")  # sections that may have a file of their own
_PATHS = ("equilibrium", "tool.mesh")
_ROS_OWN = ("use_sim_time", "qos_overrides", "start_type_description_service")


def read(path: str | os.PathLike[str], schema: Schema, above: tuple[str, ...] = ()) -> Source:
    """The entries of a configuration file. A relative equilibrium, mesh, or file that it extends,
    is beside that file; `above` are the files that extend this one.
    """
    text, file = _text_of(path)
    folder = os.path.dirname(os.path.abspath(path))
    source = parse(text, file, schema, folder, (*above, os.path.realpath(path)))
    source.entries = [_beside(entry, folder) for entry in source.entries]
    _take_files(source, folder, schema)
    return source


def _beside(entry: Entry, folder: str) -> Entry:
    """An entry whose path, if it is one, is not relative any more."""
    where = entry.value
    if entry.name in _PATHS and isinstance(where, str) and where not in ("", "none"):
        return entry._replace(value=os.path.join(folder, where))
    return entry


def _take_files(source: Source, folder: str, schema: Schema) -> None:
    """`tool: my-probe.yaml` and `payload: payload.yaml` stand for the keys in that file: bare, or
    below `tool` and `payload`, as calibrations write both.
    """
    files = [e for e in source.entries if e.name in _IN_FILES and isinstance(e.value, str)]
    for entry in files:
        source.entries.remove(entry)
        at = (entry.line, entry.column)
        path = os.path.join(folder, entry.value)
        try:
            text, file = _text_of(path)
            inner = Source([], file)
            _flatten(_tree(text, file), "", inner, _IN_FILES)
            if inner.problems:
                refuse(inner.problems, file)
        except ConfigError as error:
            source.problems += [Problem(entry.name, line, *at) for line in error.problems]
            continue
        keys = {f"{section}.{key}" for section in _IN_FILES for key in schema.sections[section]}
        given = {e.name for e in source.entries}
        for found in inner.entries:
            below = found.name.startswith(tuple(f"{section}." for section in _IN_FILES))
            name = found.name if below else f"{entry.name}.{found.name}"
            where = f"{file}:{found.line}"
            if name not in keys:
                words = f"{where}: {schema.unknown(name)}"
                source.problems.append(Problem(entry.name, words, *at))
            elif name in given:
                words = f"{where}: {name} is given beside it, too; keep one of the two"
                source.problems.append(Problem(entry.name, words, *at))
            else:
                whole = _beside(Entry(name, found.value, *at), os.path.dirname(path))
                source.entries.append(whole)


def parse(
    text: str, file: str, schema: Schema, folder: str = "", above: tuple[str, ...] = ()
) -> Source:
    """The entries of a YAML text, plain or in the shape of a ROS 2 parameter file."""
    source = Source([], file)
    root = _tree(text, file)
    mapping = _parameters(root, source, schema.heads)
    _flatten(mapping, "", source, schema.sections)
    if mapping is not root:  # every ROS 2 node has some parameters that are not ours
        source.entries = [e for e in source.entries if e.name.partition(".")[0] not in _ROS_OWN]
    for entry in [e for e in source.entries if e.name == EXTENDS]:
        source.entries.remove(entry)
        try:
            source.base = _base(entry.value, folder, schema, above)
        except ConfigError as error:
            at = (entry.line, entry.column)
            source.problems += [Problem(EXTENDS, line, *at) for line in error.problems]
    return source


def _base(where: Any, folder: str, schema: Schema, above: tuple[str, ...]) -> Source:
    """What a file extends: `preset:NAME`, or another file."""
    if not isinstance(where, str) or not where:
        raise ConfigError(f"must be preset:NAME or the path of a YAML file, got {shown(where)}")
    scheme, _, name = where.partition(":")
    if scheme == "preset":
        return read_preset(name, schema)
    path = os.path.join(folder, where)
    if os.path.realpath(path) in above or len(above) >= _MOST_DEPTH:
        raise ConfigError(f"{path}: extends itself, by way of {len(above)} files; name another")
    return read(path, schema, above)


def preset_names() -> tuple[str, ...]:
    """Names of the configurations that come with the package."""
    return tuple(sorted(path.stem for path in _PRESETS.glob("*.yaml")))


def preset_text(name: str) -> str:
    """The YAML of a configuration that comes with the package."""
    names = preset_names()
    if name not in names:
        close = suggest(str(name), names)
        raise ConfigError(f"no preset {shown(name)}{close}; the presets are {', '.join(names)}")
    return _text_of(_PRESETS / f"{name}.yaml")[0]


def read_preset(name: str, schema: Schema) -> Source:
    """The entries of a configuration that comes with the package."""
    return parse(preset_text(name), f"preset:{name}", schema)


def load_equilibrium(path: str | os.PathLike[str]) -> Pose:
    """Position [m] and orientation [w, x, y, z] from a pose file.

    Accepts `position` and `orientation`, as lists or by letter, bare or below `equilibrium` or
    `equilibrium_pose`, plain or in the shape of a ROS 2 parameter file.
    """
    text, file = _text_of(path)
    source = Source([], file)
    above = ("equilibrium", "equilibrium_pose")
    _flatten(_parameters(_tree(text, file), source, (*above, *POSE_KEYS)), "", source, above)
    bare = [e._replace(name=re.sub(r"^equilibrium(_pose)?\.", "", e.name)) for e in source.entries]
    pose, problems = pose_of(bare)
    if pose is not None and not source.problems:
        return pose
    refuse([*source.problems, *problems], file)


def dump(values: Mapping[str, Any], shape: str = "plain") -> str:
    """Values by full name as YAML text in either shape; what is none is left out."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Sections one key a line, vectors in brackets, nothing by reference."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

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
            source.problems.append(twice(name, first[name], *_at(key)))
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
