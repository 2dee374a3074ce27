"""Scripts that nobody would write: grammatical, lawless, sometimes broken; one for each seed."""

from __future__ import annotations

import random

from ur_fake.urscript.catalogue import CATALOGUE

# Those that reach out of the machine, or end it on purpose.
_LEFT_OUT = {"socket_open", "powerdown"}
FUNCTIONS = sorted(
    name for name, entry in CATALOGUE.items() if not entry.constant and name not in _LEFT_OUT
)
_SIX = {"q", "qd", "xd", "qnear", "qNear", "torque", "tau", "wrench", "limits", "inertia", "w_from",
        "selection_vector", "direction", "freeAxes", "qX"}  # fmt: skip
_POSE = {"pose", "pose_via", "pose_to", "x", "p_from", "p_to", "p_from_to", "p_1", "p_2", "tcp",
         "task_frame", "feature", "T_from_to"}  # fmt: skip
_THREE = {"cog", "CoG", "d", "rotation_vector", "rpy_vector", "sensor_cog",
          "sensor_measuring_offset"}  # fmt: skip
_TEXT = {"s1", "s2", "s", "str", "src", "target", "op1", "title", "socket_name", "variable_name",
         "prefix", "suffix", "name"}  # fmt: skip
_ODD = ["1e300", "0x7fffffff", "2147483647", "1e-9", "-1", '""', "True", "[]", "[[1, 2], [3, 4]]"]
_HEAD = (
    "a = 1\nb = [1, 2, 3]\nc = 0\nq = get_joint_positions()\nx = get_actual_tcp_pose()\n"
    's = "text"\nh = 0'
)


class _Writer(random.Random):
    """Writes expressions of a kind, and statements."""

    def pick(self, *options):
        return self.choice(options)()

    def number(self, depth: int = 2) -> str:
        if self.random() < 0.02:
            return self.choice(_ODD)
        if depth == 0 or self.random() < 0.5:
            return self.choice(
                ["a", "c", "q[0]", "x[2]", str(self.randint(0, 9)), f"{self.uniform(0, 1):.3f}",
                 "pi", "0.002", "get_steptime()"]
            )  # fmt: skip
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self.choice(
            [f"({left} {self.choice('+-*/%')} {right})", f"(-{left})", f"norm({self.six(0)})",
             f"{self.six(0)}[{right}]", f"f({left})", f"b[{self.randint(0, 3)}]", f"sin({left})"]
        )  # fmt: skip

    def truth(self, depth: int = 1) -> str:
        left, right = self.number(depth), self.number(depth)
        comparison = f"{left} {self.choice(['<', '>', '==', '!=', '<=', '>='])} {right}"
        if depth == 0 or self.random() < 0.6:
            return self.choice([comparison, comparison, "True", "False", "is_steady()"])
        return f"({comparison} {self.choice(['and', 'or', 'xor'])} not {self.truth(depth - 1)})"

    def six(self, depth: int = 1) -> str:
        small = ", ".join(f"{self.uniform(-0.3, 0.3):.3f}" for _ in range(6))
        options = ["q", f"[{small}]", f"(get_target_joint_positions() + [{small}])",
                   "get_tcp_force()", "get_target_tcp_speed()"]  # fmt: skip
        if depth > 0:
            options += [f"({self.six(0)} * {self.number(1)})", f"({self.six(0)} - {self.six(0)})"]
        return self.choice(options)

    def three(self) -> str:
        return f"[{', '.join(f'{self.uniform(-0.1, 0.1):.3f}' for _ in range(3))}]"

    def pose(self) -> str:
        small = ", ".join(f"{self.uniform(-0.1, 0.1):.3f}" for _ in range(6))
        return self.choice(
            ["x", f"pose_trans(get_target_tcp_pose(), p[{small}])", f"pose_add(x, p[{small}])",
             "get_forward_kin()", f"interpolate_pose(x, p[{small}], {self.number(0)})"]
        )  # fmt: skip

    def text(self) -> str:
        return self.choice(
            ['"x"', "s", '"input_int_register_0"', '"socket_0"', f"to_str({self.six(0)})"]
        )

    def argument(self, name: str) -> str:
        if self.random() < 0.05:
            return self.pick(self.number, self.six, self.pose, self.text, self.truth)
        for names, kind in (
            (_SIX, self.six),
            (_POSE, self.pose),
            (_THREE, self.three),
            (_TEXT, self.text),
        ):
            if name in names:
                return kind()
        return self.number()

    def call(self) -> str:
        name = self.choice(FUNCTIONS)
        entry = CATALOGUE[name]
        count = self.randint(entry.required, min(len(entry.names), entry.required + 2))
        return f"{name}({', '.join(self.argument(n) for n in entry.names[:count])})"

    def statement(self, depth: int) -> list[str]:
        if depth == 0 or self.random() < 0.7:
            return [self.simple()]
        inner = self.block(depth - 1)
        return self.choice(
            [
                [f"while {self.truth()}:", *inner, "  sync()", "end"],
                [f"while {self.truth()}:", *inner, "end"],
                [f"if {self.truth()}:", *inner, "else:", *self.block(depth - 1), "end"],
                ["for c in b:", *inner, "end"],
            ]
        )

    def block(self, depth: int) -> list[str]:
        lines = []
        for _ in range(self.randint(1, 4)):
            lines += [f"  {line}" for line in self.statement(depth)]
        return lines

    def simple(self) -> str:
        return self.choice(
            [
                f"a = {self.number()}",
                f"c = {self.number()}",
                f"b[{self.randint(0, 3)}] = {self.number()}",
                f"q[{self.randint(0, 6)}] = {self.number()}",
                f"q = {self.six()}",
                f"x = {self.pose()}",
                f"s = str_cat(s, {self.number()})",
                "b.append(a)",
                self.call(),
                self.call(),
                self.call(),
                f"movej(get_target_joint_positions() + {self.six(0)} * 0.1)",
                f"movel({self.pose()}, v={self.number(0)})",
                f"speedj({self.six()}, {self.number()}, 0.01)",
                f"speedl({self.six()}, t=0.01)",
                f"servoj({self.six()})",
                "stopj(5)",
                "sync()",
                "sync()",
                "enter_critical",
                "exit_critical",
                f"h = run t({self.number()})",
                self.choice(
                    ["kill h", "join h", "kill 1", "break", "halt", "return a", "continue"]
                ),
            ]
        )


def script(seed: int) -> str:
    """A program. Most compile; many of those fail at some point."""
    writer = _Writer(seed)
    return "\n".join(
        ["def prog():", _HEAD, "def f(y):", *writer.block(1), "  return y", "end", "thread t(y):",
         *writer.block(2), "end", *writer.block(2), *writer.block(3), "end\n"]
    )  # fmt: skip


def broken_script(seed: int) -> str:
    """The same with a few characters lost, doubled or put in."""
    writer = _Writer(seed)
    text = script(seed)
    for _ in range(writer.randint(1, 3)):
        at = writer.randrange(len(text))
        new = writer.choice(["", "(", ")", "end", ":", '"', "\0", "é", "=", "[", " ", "\n", "if "])
        text = text[:at] + new + text[at + writer.randint(0, 2) :]
    return text
