"""How a controller is drawn: one line, or a panel with the tool's way in braille dots."""

from __future__ import annotations

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel as Frame
from rich.table import Table
from rich.text import Text

from ur_admittance.config import AXES, Config
from ur_admittance.config.field import FRAMES
from ur_admittance.faults import BY_NAME
from ur_admittance.live.glance import Glance

WIDTH, HEIGHT = 36, 9  # of a picture, in characters of 2 x 4 dots
WIDE, HIGH = 2 * WIDTH + 8, HEIGHT + 7  # of a panel with pictures, in characters
LOW = 6  # lines of one without
PARAMETERS = 5  # lines
BAR = 30  # characters
COLOURS = {"limit": "yellow", "warn": "yellow", "hold": "magenta", "stop": "red"}
MODE_COLOURS = {"active": "green", "holding": "magenta", "stopped": "red"}
_LEAST = 0.1  # m, the smallest stretch a picture shows
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # row, column


def short(fault: str) -> str:
    """A fault's name as it stands in a line: 'speed_limit' is 'speed'."""
    return fault.removesuffix("_limit").replace("_", " ")


def faults_text(faults: tuple[str, ...]) -> Text:
    """What holds the arm back, most serious first, each in the colour of its reaction."""
    words = [Text(short(name), COLOURS[BY_NAME[name].reaction]) for name in faults]
    return Text(", ").join(words) if words else Text("none", "dim")


def line(glance: Glance) -> Text:
    """One line of a running controller."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{glance.mode:<8}", MODE_COLOURS.get(glance.mode, ""))
    text.append(f" {glance.force:5.1f} N {glance.torque:5.2f} Nm {1e3 * glance.speed:4.0f} mm/s")
    text.append(f"  tick {1e6 * glance.tick:3.0f} us  late {glance.late}", "dim")
    if glance.faults:
        text.append("  ").append_text(faults_text(glance.faults))
    return text


class Panel:
    """Draws glances of one run: the scales only grow, so that the picture stands still."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._low, self._high = np.full(3, np.inf), np.full(3, -np.inf)
        self._across = 0  # the axis from left to right: x or y, where more happens
        self._force, self._speed = 20.0, 0.1  # N, m/s: full bars

    def draw(
        self, glance: Glance, trail: np.ndarray, width: int = WIDE, height: int = HIGH
    ) -> RenderableType:
        """The panel of one moment; `trail` (n, 3) m, as `Watcher` has it. Where it does not fit
        into `width` by `height` characters, the pictures go, never the numbers.
        """
        for points in (trail, glance.p_WP, glance.p_WD):
            rows = np.atleast_2d(points)
            if len(rows):
                self._low = np.minimum(self._low, rows.min(axis=0))
                self._high = np.maximum(self._high, rows.max(axis=0))
        self._force = max(self._force, glance.force)
        self._speed = max(self._speed, glance.speed)
        if self._span(1 - self._across) > 1.5 * self._span(self._across):
            self._across = 1 - self._across
        roomy = width >= WIDE and height >= HIGH
        inside = [self._pictures(glance, trail)] if roomy else []
        head = Text.assemble(
            (self.title, "bold"),
            "  ",
            (glance.mode, MODE_COLOURS.get(glance.mode, "")),
            f"  {glance.time:.1f} s",
        )
        return Frame(
            Group(*inside, self._numbers(glance)),
            title=head,
            title_align="left",
            subtitle=Text("axes of the base", "dim") if roomy else None,
            subtitle_align="right",
            box=box.ROUNDED,
            width=min(WIDE, width),
        )

    def _pictures(self, glance: Glance, trail: np.ndarray) -> RenderableType:
        high = max(self._span(1 - self._across), self._span(2)) / (4 * HEIGHT - 5)
        wide = max(self._span(self._across), _LEAST) / (2 * WIDTH - 3)
        scale = max(wide, high)  # m a dot, the same in both
        views = [self._picture(glance, trail, up, scale) for up in (1 - self._across, 2)]
        return Columns(views, padding=(0, 2))

    def _span(self, axis: int) -> float:
        return float(self._high[axis] - self._low[axis])

    def _picture(self, glance: Glance, trail: np.ndarray, up: int, scale: float) -> RenderableType:
        across, middle = self._across, 0.5 * (self._low + self._high)
        down = up == 0  # seen from above, x points down where y points right

        def dots(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            from_middle = (np.atleast_2d(points) - middle) / scale
            row = 2 * HEIGHT - 0.5 + from_middle[:, up] * (1 if down else -1)
            column = WIDTH - 0.5 + from_middle[:, across]
            return np.rint(row).astype(int), np.rint(column).astype(int)

        codes = np.zeros((HEIGHT, WIDTH), int)
        row, column = dots(trail)
        np.bitwise_or.at(codes, (row // 4, column // 2), _DOTS[row % 4, column % 2])
        signs = [[(chr(0x2800 + code), "blue") for code in row] for row in codes]
        for point, sign in ((glance.p_WD, ("+", "cyan")), (glance.p_WP, ("●", "bold red"))):
            row, column = dots(point)
            signs[row[0] // 4][column[0] // 2] = sign
        name = "from the side" if up == 2 else "from above"
        legend = f"{name}: {AXES[across]} →  {AXES[up]} {'↓' if down else '↑'}"
        legend += f"  {2e3 * WIDTH * scale:.0f} mm wide"
        rows = [Text.assemble(*line) for line in signs]
        return Group(*rows, Text(legend, "dim"))

    def _numbers(self, glance: Glance) -> RenderableType:
        timing = f"tick {1e6 * glance.tick:.0f} us, force to command {1e6 * glance.reaction:.0f} us"
        rows = (
            ("force", f"{glance.force:6.1f} N    ", _bar(glance.force / self._force, "red")),
            (
                "speed",
                f"{1e3 * glance.speed:6.0f} mm/s ",
                _bar(glance.speed / self._speed, "green"),
            ),
            ("limits", "  ", faults_text(glance.faults)),
            ("loop", "  ", f"{timing}, late {glance.late}, missed {glance.missed}"),
        )
        lines = [Text.assemble((f"{name:<6}", "dim"), *rest) for name, *rest in rows]
        for text in lines:
            text.no_wrap, text.overflow = True, "ellipsis"
        return Group(*lines)


def parameters(config: Config) -> RenderableType:
    """The parameters that decide how it feels; axes that do not give way are off."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 0, 0, 2))
    table.add_column(style="dim", min_width=9, no_wrap=True)
    for axis in AXES:
        table.add_column(axis, justify="right", min_width=5, no_wrap=True)
    rows = (
        ("mass", config.admittance.mass),
        ("damping", config.effective_damping()),
        ("stiffness", config.admittance.stiffness),
    )
    enabled = config.admittance.enabled_axes
    for name, values in rows:
        each = zip(values, enabled, strict=True)
        table.add_row(name, *(f"{value:.4g}" if gives else "off" for value, gives in each))
    force, torque = config.effective_deadband()
    rest = f"axes of {FRAMES[config.admittance.frame]}, deadband {force:g} N {torque:g} Nm, "
    rest += f"at most {config.max_linear_velocity:g} m/s {config.max_angular_velocity:g} rad/s"
    return Group(table, Text(rest, "dim", no_wrap=True, overflow="ellipsis"))


def _bar(share: float, colour: str) -> Text:
    eighths = round(8 * BAR * min(max(share, 0.0), 1.0))
    full, part = divmod(eighths, 8)
    return Text("█" * full + (" ▏▎▍▌▋▊▉"[part] if part else ""), colour)
