"""Write the reference pages from the source: `python docs/generate.py`; `--check` only compares."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

from assent import assent_page
from commands import commands_page

import ur_admittance
from ur_admittance import faults
from ur_admittance.config import Config, Field
from ur_admittance.config.tighter import CLOSER, FIXED, FREE, HELD, NEAR, SHARES
from ur_admittance.kernel import layout
from ur_admittance.robots.ros2 import topics

HERE = Path(__file__).parent
KERNEL = Path(ur_admittance.__file__).parent / "kernel"
NOTE = "<!-- Written by docs/generate.py. Change the source it names, not this page. -->\n"

REACTIONS = {
    "limit": "The motion is held back and goes on. Nothing latches.",
    "warn": "Nothing changes; the tick used what it had.",
    "hold": "The arm brakes to rest inside its limits, waits, and goes on by itself, from zero "
    "speed, after 50 good cycles.",
    "stop": "The arm brakes to rest inside its limits and stays there until `reset()`; to "
    "*start again* is that, or a new run.",
}
UNDECIDED = (
    "A stop that the tick did not decide sets the bit `stop_requested`, and says why under a code "
    "of its own. Words that are given to `Controller.stop` are taken whole.\n"
)

# Unit, axes (and point), and meaning of each output; an empty meaning is the record's own comment.
OUTPUTS = {
    "tick": ("count", "", "ticks since activation"),
    "time": ("s", "", "time since activation"),
    "dt": ("s", "", "time step, as used"),
    "mode": ("0 to 4", "", "0 inactive, 1 active, 2 holding, 3 stopped, 4 leaving"),
    "status": ("bits", "", "what limits, warns, holds or stops: see [faults](faults.md)"),
    "qd": ("rad/s", "joints", "joint velocity command"),
    "q_ref": ("rad", "joints", "joint position command"),
    "V_WP_cmd": ("m/s, rad/s", "W axes, at P", ""),
    "V_WP_lim": ("m/s, rad/s", "W axes, at P", ""),
    "V_WP_law": ("m/s, rad/s", "W axes, at P", "the twist asked for, before any limit"),
    "X_WP": ("m", "P in W", "measured pose"),
    "X_WC": ("m", "C in W", "commanded pose, at the end of the tick"),
    "X_WD": ("m", "D in W", "desired pose"),
    "V_WD": ("m/s, rad/s", "W axes, at D", "twist of the desired pose"),
    "error": ("m, rad", "W axes", "from the measured pose to the pose commanded for now"),
    "offset": ("m, rad", "axes of the law", "of C from D; free axes return to 0 as D follows"),
    "offset_rate": ("m/s, rad/s", "axes of the law", "the velocity of the law"),
    "q": ("rad", "joints", "joint angles, as used: measured, or predicted without a good sample"),
    "wrench": ("N, Nm", "S axes, at S", "as it came, NaN included"),
    "F_S_comp": ("N, Nm", "S axes, at S", ""),
    "F_S_filt": ("N, Nm", "S axes, at S", ""),
    "F_S": ("N, Nm", "S axes, at S", ""),
    "F_P": ("N, Nm", "P axes, at P", "at the probe, after the deadband: what the law feels"),
    "engagement": ("0 to 1", "", "how far the springs have faded in"),
    "sigma": ("mixed", "", ""),
    "contact_stiffness": ("N/m", "", ""),
    "contact_normal": ("unit", "W axes", "normal of what is touched"),
    "contact_damping": ("N s/m", "", ""),
    "force_target": ("N, Nm", "axes of the law", ""),
    "tank": ("J", "", "energy that streamed springs may still give away"),
    "force_phase": ("0 to 3", "axes of the law", ""),
    "energy": ("J", "at S", ""),
    "energy_given": ("J", "at S", ""),
    "inputs": ("record", "", ""),
    "timing": ("record", "", ""),
}

LIFE_CYCLE = """\
    unconfigured --configure--> inactive --activate--> active --deactivate--> inactive

It is a lifecycle node (`ros2 lifecycle set /admittance_node ...`). `run` goes all the way up by \
itself, `run --inactive` and `run --unconfigured` part of it. Inactive, it runs the tick without \
commanding, for taring and diagnostics. With \
`--remote-reset`, going inactive ends a stop, too.
"""

WAYS = {
    FIXED: "not at all",
    NEAR: "near where the run began",
    CLOSER: "only closer to 0, same sign",
}

HELD_OUTSIDE = """\
Whoever can reach the process (`ur-admittance set`, a page of the cockpit, a node on the graph, \
any blackboard reader) is held to this table for the whole run, also while a node on the graph is \
inactive, unless it was started with `--allow-loosening`. What a run's own Python process does \
with `controller.set(...)` is not. \
In vectors it holds for every number. *Near where the run began* is, times what it was then: \
{times}; and mass over damping at most 4, or the arm would go on for long when it is let go. What \
a configuration must keep besides (`environment_stiffness`, the ramp) stays in force.
"""

PARAMETER_RULES = """\
- A request is checked whole. Of several values, one that is wrong refuses all of them, with the \
reason: `admittance.mass: must be six numbers > 0 and <= 1000 (kg, kg m^2), got -0.3 as value 6`. \
So do combinations that make no sense.
- A live one is in force at the next tick; gains move there over `admittance.ramp_seconds`.
- A read-only one says so: `control_rate: cannot change while the node lives; start it with \
another value`. Give it at the start, by `--config` or `--ros-args -p name:=value` or \
`--ros-args --params-file mine.yaml`.
- What `ros2 param dump` wrote, `ros2 param load` may bring back: read-only ones among it are \
passed over if they are the same, and refuse the whole if they are not.
- `dynamic_parameters: false` makes all of them read-only.
- What `ur-admittance set` changes shows in ROS within a second.
"""

# Title, picture and what is seen in it, of each example; its text is its own docstring.
EXAMPLES = {
    "01_push.py": ("A push", "push.png", "distance, speed and acceleration of a pushed arm"),
    "02_wall.py": ("A wall", "wall.png", "an arm pressed against a wall, let go, pulled away"),
    "03_rollout.py": ("A thousand contacts", "contact.png", "gains that settle and that bounce"),
    "04_report.py": (
        "A report",
        "report.png",
        "speed by the law, as measured, and why they differ",
    ),
    "05_chain.py": ("A chain", "chain.png", "a trajectory that is pushed aside and comes back"),
    "06_policy.py": ("A policy", "policy.png", "stiffness changed 50 times a second, and the way"),
    "07_ultrasound.py": ("An ultrasound scan", "ultrasound.png", "force and height along a line"),
}


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(
        f"| {' | '.join(c.replace('|', chr(92) + '|') for c in row)} |\n" for row in lines
    )


def faults_page() -> str:
    """Every bit of the status, by reaction."""
    parts = [
        "# Faults and limits\n",
        NOTE,
        "Everything the status can say, from `src/ur_admittance/faults.py`. The status is the "
        "field `status` of the [outputs](outputs.md): one bit for each row here, several where "
        "several things are so. `controller.status_words()` gives the sentences, "
        "`controller.events()` the last 32 warnings, holds and stops with the value that was seen "
        "and the limit it broke, and `controller.last_stop` the reason of the last hold or stop "
        "with the two seconds before it.\n",
        "A stop has one reason: a code, what happened, what to do (`StopReason`). The code is a "
        "name under [stop](#stop), or one [from outside the tick](#from-outside-the-tick). Of "
        "several faults in one tick the gravest gives the code, and all are told; what comes while "
        "the arm brakes is no longer why. `controller.reason`, `summary.reason`, `RunError.reason` "
        "and, from another process, `Reader.reason` have it; terminal, `--json`, page, ROS "
        "diagnostics and recording tell the same words.\n",
    ]
    for reaction, text in REACTIONS.items():
        rows = [
            (f"`{f.name}`", str(f.mask.bit_length() - 1), f.words, f.recovery)
            for f in faults.FAULTS
            if f.reaction == reaction
        ]
        parts += [f"## {reaction.capitalize()}\n", f"{text}\n"]
        parts.append(table(("name", "bit", "what is so", "what to do"), rows))
    parts += ["## From outside the tick\n", UNDECIDED]
    rows = [(f"`{c.code}`", c.text, c.advice or "nothing") for c in faults.CAUSES.values()]
    parts.append(table(("code", "who or what", "what to do, unless it says otherwise"), rows))
    return "\n".join(parts)


def written(value: Any) -> str:
    """A default as it would stand in a YAML file."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(written(v) for v in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def parameters_page() -> str:
    """Every parameter, by section."""
    parts = [
        "# Parameters\n",
        NOTE,
        "Every parameter with its default, from `src/ur_admittance/config/`. In a YAML file the "
        "dot is a level: `admittance.mass` is `mass` below `admittance`. Six numbers are "
        "`[x y z rx ry rz]`, and two units are those of translations and rotations. *Live* "
        "parameters may change while the controller runs, with `controller.set(...)`. Unknown "
        "keys, keys written twice and values outside their bounds are refused, all at once, with "
        "file and line. `period` (s) is accepted for `control_rate`, and "
        "`trajectory_time_from_start` for `output.time_from_start`.\n",
        "`extends: preset:NAME`, or the path of a YAML file beside this one, names what a file "
        "builds on; its own keys rule. Where two keys set one thing (`damping` and "
        "`damping_ratio`, `filter_cutoff_hz` and `filter_coefficient`, `min_motion_threshold` and "
        "the deadbands), the one in the later file does, and while running the one that was "
        "changed last.\n",
    ]
    sections: dict[str, list[tuple[str, ...]]] = {}
    for field in Config.fields():
        section = field.name.rpartition(".")[0]
        allowed = field.type
        if field.bounds:
            low, high = field.bounds
            allowed += f", {'>' if field.above else '>='} {low:g} and <= {high:g}"
        allowed += ", or none" if field.optional else ""
        row = (f"`{field.name}`", f"`{written(field.default)}`", field.unit, allowed)
        sections.setdefault(section, []).append((*row, "yes" if field.live else "no", field.text))
    for section, rows in sections.items():
        doc = type(getattr(Config(), section)).__doc__ if section else "Names, rate, speed limits."
        parts += [f"## {section or 'Top level'}\n", f"{doc}\n"]
        parts.append(table(("key", "default", "unit", "allowed", "live", "meaning"), rows))
    shares = [f"{name.replace('_', ' ')} {s.least:g} to {s.most:g}" for name, s in SHARES.items()]
    held = [(f"`{name}`", WAYS.get(h.way, f"only {h.way}"), h.why) for name, h in HELD.items()]
    held += [(f"`{name}`", "freely", why) for name, why in FREE.items()]
    parts += [
        "## From outside\n",
        HELD_OUTSIDE.format(times=", ".join(shares)),
        table(("key", "from outside", "because"), held),
    ]
    return "\n".join(parts)


def outputs_page() -> str:
    """Every field of the record that a tick returns."""
    file, source = next(
        (file, found)
        for file in sorted(KERNEL.rglob("*.py"))
        if (found := file.read_text("utf-8").partition("\nOUTPUTS = ")[2])
    )
    comments = dict(re.findall(r'^ +\("(\w+)", .*?\),(?:  # (.*))?$', source, re.MULTILINE))
    names = layout.OUTPUTS.names or ()
    if set(names) != set(OUTPUTS):
        raise SystemExit(f"docs/generate.py: OUTPUTS lacks or adds {set(names) ^ set(OUTPUTS)}")
    rows = []
    for name in names:
        unit, axes, meaning = OUTPUTS[name]
        shape = " x ".join(map(str, layout.OUTPUTS[name].shape)) or "1"
        rows.append((f"`{name}`", shape, unit, axes, meaning or comments[name]))
    return "\n".join(
        (
            "# Outputs\n",
            NOTE,
            "What `controller.update(...)` returns: one NumPy record, laid out in "
            f"`src/ur_admittance/{file.relative_to(KERNEL.parent)}`. It is a view that the next "
            "tick overwrites; keep a copy (`out.copy()`) of what you want to keep. "
            "`controller.trace()` returns copies of the last two seconds, and a rollout holds such "
            "records by run and tick.\n",
            "6-vectors are `[linear; angular]`. W is the base, P the probe, S the sensor, D the "
            "desired pose of P, C the commanded pose of P; see "
            "[how it works](how-it-works.md#frames-and-signs).\n",
            table(("field", "shape", "unit", "axes", "meaning"), rows),
        )
    )


def ros2_page() -> str:
    """Topics, services and parameters of the admittance node."""
    ways = {"in": "## Topics it listens to\n", "out": "## Topics it publishes\n"}
    heads = ("topic", "type", "quality of service", "what")
    parts = [
        "# ROS 2 reference\n",
        NOTE,
        "The admittance node, `ur-admittance run --robot ros2`: its names on the graph, from "
        "`src/ur_admittance/robots/ros2/topics.py`, and its parameters, from "
        "`src/ur_admittance/config/`. How they are used: [on a ROS 2 graph](ros2.md). `~` stands "
        f"for the node's own name, `/{topics.NODE}`. All names can be remapped. Every message type "
        "is a standard one.\n",
    ]
    for way, heading in ways.items():
        rows = [
            (f"`{topic.name}`", topic.kind, topic.quality, topic.text)
            for topic in topics.TOPICS
            if topic.way == way
        ]
        parts += [heading, table(heads, rows)]
    rows = [(f"`{name}`", text) for name, text in topics.SERVICES.items()]
    actions = topics.ACTIONS.items()
    parts += [
        "## Life cycle\n",
        LIFE_CYCLE,
        "## Services\n",
        "Answered between two ticks, one every 40 ms. All of type std_srvs/Trigger: `success`, and "
        "a `message` that says what was done, or why not. Those of every lifecycle node "
        "(`~/change_state`, `~/get_state`, ...) and of every node with parameters "
        "(`~/set_parameters`, `~/describe_parameters`, ...) come on top.\n",
        table(("service", "what"), rows),
        "## Actions\n",
        table(("action", "type", "what"), [(f"`{name}`", *row) for name, row in actions]),
        "## Parameters\n",
        "Their names are those of the configuration; [parameters](parameters.md) has the default, "
        "unit, range and meaning of each, and the node declares them with the same text, unit "
        "and range, so `ros2 param describe` shows them. Here is what ROS adds: the type, and "
        "whether it may change while the node lives. What is none in a configuration is the string "
        "`none` in ROS. A number may be written without a point.\n",
        PARAMETER_RULES,
        table(("parameter", "type in ROS", "change"), [_ros_row(f) for f in Config.fields()]),
    ]
    return "\n".join(parts)


def _ros_row(field: Field) -> tuple[str, str, str]:
    one = {"number": "double", "integer": "integer", "boolean": "bool"}.get(field.kind, "string")
    kind = f"{one} array" if field.size else one
    kind += f", or {one}" if field.or_scalar else ""
    kind += ", or `none`" if field.optional else ""
    return f"`{field.name}`", kind, "live" if field.live else "read-only"


def gallery_page() -> str:
    """Every example: its picture, what it is about, its code."""
    files = sorted((HERE.parent / "examples").glob("*.py"))
    if {file.name for file in files} != set(EXAMPLES):
        raise SystemExit(f"docs/generate.py: EXAMPLES is not what is in examples/: {[*EXAMPLES]}")
    parts = [
        "# Gallery\n",
        NOTE,
        "The scripts in `examples/`, each with the picture it makes. None needs a robot. They run "
        "as they stand, most of them in seconds once the kernel has been compiled:\n",
        "```sh\npython examples/01_push.py --out push.png\n```\n",
    ]
    for file in files:
        title, picture, seen = EXAMPLES[file.name]
        code = file.read_text("utf-8")
        text = (ast.get_docstring(ast.parse(code)) or "").strip()
        parts += [
            f"## {title}\n",
            f"{text}\n",
            f"![{seen.capitalize()}](images/{picture})\n",
            f'<details markdown="1">\n<summary>The code: examples/{file.name}</summary>\n',
            f"```python\n{code.strip()}\n```\n",
            "</details>\n",
        ]
    return "\n".join(parts)


PAGES = {
    "assent.md": lambda: assent_page(NOTE, table),
    "commands.md": lambda: commands_page(NOTE, table),
    "gallery.md": gallery_page,
    "faults.md": faults_page,
    "parameters.md": parameters_page,
    "outputs.md": outputs_page,
    "ros2-reference.md": ros2_page,
}


def main() -> int:
    """Write the pages, or with --check say which are stale."""
    stale = []
    for name, make in PAGES.items():
        file, text = HERE / name, make()
        if not file.exists() or file.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                file.write_text(text, "utf-8")
    if stale and "--check" in sys.argv:
        print(f"stale: {', '.join(stale)}; run python docs/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
