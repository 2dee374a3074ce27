"""YAML: both shapes, line numbers, everything malformed, round trips."""

from __future__ import annotations

import contextlib
import math
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ur_admittance.config import Config, Field
from ur_admittance.errors import ConfigError


def problems_of(text: str, name: str = "a.yaml") -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        Config.loads(text, name)
    return caught.value.problems


def test_both_shapes_and_both_ways_of_keys_are_equal() -> None:
    plain = "admittance:\n  mass: [4, 4, 4, 1, 1, 1]\nmax_linear_velocity: 0.1\n"
    dotted = "admittance.mass: [4, 4, 4, 1, 1, 1]\nmax_linear_velocity: 0.1\n"
    block = "admittance:\n  mass:\n    - 4\n    - 4\n    - 4\n    - 1\n    - 1\n    - 1\n"
    expected = Config.loads(plain)
    assert Config.loads(dotted) == Config.loads(block + "max_linear_velocity: 0.1") == expected
    for head in ("/**", "my_node", "/ns/my_node"):
        for body in (plain, dotted):
            inner = "".join(f"    {line}\n" for line in body.splitlines())
            assert Config.loads(f"{head}:\n  ros__parameters:\n{inner}") == expected


def test_one_of_several_nodes_is_taken_only_when_it_is_clear_which() -> None:
    ours = "adm:\n  ros__parameters:\n    max_linear_velocity: 0.1\n"
    other = "driver:\n  ros__parameters:\n    robot_ip: a\n"
    assert Config.loads(other + ours).max_linear_velocity == 0.1
    (problem,) = problems_of(ours + ours.replace("adm", "adm2"))
    assert "several nodes: adm, adm2" in problem
    (problem,) = problems_of(other + other.replace("driver", "camera"))
    assert "several nodes: driver, camera" in problem


def test_keys_outside_ros_parameters_are_not_lost_silently() -> None:
    text = "adm:\n  ros__parameters:\n    tip: tool0\n  tip: x\nmax_linear_velocity: 0.1\n"
    problems = problems_of(text)
    assert [p.split(": ")[0] for p in problems] == ["a.yaml:4:3", "a.yaml:5:1"]
    assert all("outside ros__parameters" in p for p in problems)


def test_parameters_that_every_ros_node_has_are_ignored_only_there() -> None:
    text = "use_sim_time: true\ntip: probe\n"
    ros = "n:\n  ros__parameters:\n    use_sim_time: true\n    tip: probe\n"
    assert Config.loads(ros).tip == "probe"
    assert "use_sim_time: unknown key" in problems_of(text)[0]


def test_every_problem_has_its_line_and_they_come_in_file_order() -> None:
    text = """\
safety:
  lost_timeout: 0.001
max_linear_velocity: 8 m/s
admittance:
  mas: [1, 1, 1, 1, 1, 1]
  mass: [1, 2, 3, 4, 5]
  damping_ratio: yes
  filter_coefficient: .nan
  enabled_axes: [1, 1, 1, 1, 1, 1]
  frame: prob
tracking:
  velocity_gain: .inf
tip: tool0
tip: tool1
"""
    problems = problems_of(text, "surface.yaml")
    assert [p.partition(": ")[2].partition(":")[0] for p in problems] == [
        *("safety.lost_timeout", "safety.lost_timeout", "max_linear_velocity", "admittance.mas"),
        *("admittance.mass", "admittance.damping_ratio", "admittance.filter_coefficient"),
        *("admittance.enabled_axes", "admittance.frame", "tracking.velocity_gain", "tip"),
    ]
    joined = "\n".join(problems)
    for words in (
        "surface.yaml:2: safety.lost_timeout: must be longer than wrench_timeout 0.01 s, got 0.001",
        "surface.yaml:3: max_linear_velocity: must be a number > 0 and <= 5 (m/s), got '8 m/s'; "
        "write 8 alone",
        "surface.yaml:5:3: admittance.mas: unknown key; did you mean admittance.mass?",
        "surface.yaml:6: admittance.mass: must be six numbers > 0 and <= 1000 (kg, kg m^2), got 5",
        "surface.yaml:8: admittance.filter_coefficient: must be a number > 0 and <= 1, got nan",
        "got 1 as value 1; write true or false",
        "must be one of probe, base, got 'prob'; did you mean probe?",
        "surface.yaml:14:1: tip: written twice, on lines 13 and 14",
    ):
        assert words in joined


@pytest.mark.parametrize("field", Config.fields(), ids=lambda field: field.name)
def test_every_field_refuses_yaml_that_is_no_value_of_it_with_its_line(field: Field) -> None:
    words = {"number": "yes", "integer": "yes", "boolean": "1", "choice": "8 kg", "text": "8.0"}
    bad = words.get(field.kind, "12")
    bad = f"[{', '.join([bad] * field.size)}]" if field.size else bad
    texts = [f"# comment\n{field.name}: {bad}\n"]
    section, _, key = field.name.rpartition(".")
    texts += [f"{section}:\n  {key}: {bad}\n"] if section else []
    for text in texts:
        (problem,) = problems_of(text)
        assert problem.startswith(f"a.yaml:2: {field.name}: must be "), problem


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "a.yaml: is empty"),
        ("# only a comment\n", "a.yaml: is empty"),
        ("---\n---\n", "a.yaml:"),
        ("tip: a\n---\ntip: b\n", "a.yaml:2:1: not valid YAML: but found another document"),
        ("- 1\n- 2\n", "a.yaml:1:1: must hold keys and values"),
        ("just words", "a.yaml:1:1: must hold keys and values"),
        ("admittance:\n\tmass: 1\n", "a.yaml:2:1: not valid YAML: a tab in the indentation"),
        ("admittance:\n  mass: [1, 2\n", "a.yaml:3:1: not valid YAML: "),
        ("a: b: c\n", "a.yaml:1:5: not valid YAML: mapping values"),
        ("tip: 'open\n", "a.yaml:2:1: not valid YAML"),
        ("tip: \x01\n", "a.yaml:1:6: not valid YAML: a character"),
        ("a: &x 1\nb: *x\n", "a.yaml:1:4: anchors and aliases"),
        ("tip: !!python/object:os.system x\n", "a.yaml:1:6: tags"),
        ("[1]: 2\n", "a.yaml:1:1: <sequence>: unknown key"),
        ("admittance: 5\n", "a.yaml:1: admittance: must be a section"),
        ("admittance: []\n", "a.yaml:1: admittance: must be a section"),
        ("admittance:\n  mass:\n", "a.yaml:2: admittance.mass: must be six numbers"),
    ],
)
def test_malformed_text_is_refused_in_one_sentence_with_its_place(text: str, start: str) -> None:
    (problem,) = problems_of(text)
    assert problem.startswith(start)
    assert "\n" not in problem


@pytest.mark.parametrize("text", ["{}", "admittance:\n", "admittance: {}\ntracking:\n"])
def test_a_section_with_nothing_in_it_changes_nothing(text: str) -> None:
    assert Config.loads(text) == Config()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1e3", 1000.0), ("1E+3", 1000.0), ("1.e3", 1000.0), ("+1000", 1000.0)),
        *((".5", 0.5), ("010", 10.0), ("1000", 1000.0), ("2.5e-1", 0.25)),
    ],
)
def test_numbers_are_read_as_people_mean_them(text: str, value: float) -> None:
    assert Config.loads(f"payload:\n  force_bias: [{text}, 0, 0]").payload.force_bias[0] == value


@pytest.mark.parametrize("text", ["1_000", "0x10", "1:30", "'8'", '"8"', "8,0", "2020-01-01", "e3"])
def test_what_only_looks_like_a_number_is_refused(text: str) -> None:
    assert "max_linear_velocity: must be a number" in problems_of(f"max_linear_velocity: {text}")[0]


def test_a_key_given_nested_and_dotted_is_given_twice() -> None:
    (problem,) = problems_of("admittance:\n  frame: base\nadmittance.frame: base\n")
    assert "a.yaml:3:1: admittance.frame: written twice, on lines 2 and 3" in problem
    (problem,) = problems_of("admittance: {frame: base, frame: base}\n")
    assert "admittance.frame: written twice, on lines 1 and 1" in problem


def bomb() -> str:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    return "\n".join(rows)


@pytest.mark.parametrize(
    "data",
    [
        bomb().encode(),
        b"a: " + b"x" * 10_000_000,
        b"a: [" + b"1, " * 300_000 + b"]",
        b"[" * 900_000,
        b"{" * 900_000,
        b"a:\n " * 200_000,
        b"- " * 450_000,
        b"\n".join(b"k%d: 1" % i for i in range(90_000)),
        b"#" * 999_999,
        b"\xff\xfe\x00t\x00i",
        b"tip: \xe9\n",
        b"\x00" * 1000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_hostile_files_are_refused_in_a_second_of_work(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_bytes(data)
    start = time.thread_time()  # what others do on this machine does not count
    with pytest.raises(ConfigError) as caught:
        Config.load(path)
    assert time.thread_time() - start < 1.0
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml: no such file"):
        Config.load(tmp_path / "missing.yaml")
    with pytest.raises(ConfigError, match="is a folder"):
        Config.load(tmp_path)
    with pytest.raises(ConfigError, match="null byte"):
        Config.load("a\0b")
    (tmp_path / "latin.yaml").write_bytes(b"tip: a\ntip2: \xe9\n")
    with pytest.raises(ConfigError, match=r"latin\.yaml:2: not UTF-8"):
        Config.load(tmp_path / "latin.yaml")


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfadmittance:\r\n  frame: base\r\n")
    assert Config.load(path).admittance.frame == "base"


SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]


def values_of(field: Field) -> st.SearchStrategy[object]:
    """Values that a field accepts."""
    one: st.SearchStrategy[object] = {
        "boolean": st.booleans(),
        "choice": st.sampled_from(field.choices or ("",)),
        "text": st.from_regex(r"\A[A-Za-z_/][A-Za-z0-9_./-]{0,20}\Z"),
        "file": st.sampled_from(["probe.obj", "/a b/ünïcode: #.STL"]),
        "pose": st.sampled_from(
            [
                "pose.yaml",
                "/a b/ünïcode: #.yml",
                {"position": [0.1, -2, 3e-9], "orientation": [0.6, 0, 0.8, 0]},
                {"position": [0, 0, 0], "orientation": [0.70710678, 0.70710678, 0, 0]},
            ]
        ),
    }.get(field.kind, st.none())
    if field.bounds:
        low, high = field.bounds
        one = st.floats(low, high, exclude_min=field.above)
        one = st.integers(int(low), int(high)) if field.kind == "integer" else one
    unique = field.kind == "text"
    many = st.lists(one, min_size=field.size, max_size=field.size, unique=unique)
    options = [many] if field.size else [one]
    options += [one] if field.or_scalar else []
    options += [st.none()] if field.optional else []
    return st.one_of(options)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    fields = draw(st.lists(st.sampled_from(Config.fields()), max_size=5, unique=True))
    try:
        return Config.from_dict({field.name: draw(values_of(field)) for field in fields})
    except ConfigError:
        assume(False)
        raise


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(config=configs())
def test_writing_and_reading_gives_an_equal_configuration(config: Config) -> None:
    assert Config.loads(config.to_yaml()) == config
    assert Config.loads(config.to_yaml("ros2")) == config
    assert Config.from_dict(config.flat()) == config
    assert config.replace({}) == config
    assert all(map(math.isfinite, config.effective_damping()))
    assert config.filter_time_constant() >= 0.0


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(ConfigError, match="shape must be plain or ros2"):
        Config().to_yaml("json")


YAMLISH = st.lists(
    st.sampled_from(
        [
            *("admittance", "mass", "tip", "ros__parameters", "/**", "equilibrium", "yes", "1e3"),
            *(": ", ":\n", "\n", "  ", "\t", "- ", "[", "]", "{", "}", ", ", "'", '"', "|", ">"),
            *("&a ", "*a", "!!t ", "%", "---", "...", "#", "? ", "<<", ".", "\x00", "\ud800"),
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(st.text(max_size=60), YAMLISH))
def test_no_text_raises_anything_but_our_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        Config.loads(text)
