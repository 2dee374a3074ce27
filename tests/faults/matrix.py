"""The rows of the fault matrix that these tests hold: what goes wrong, and what must happen then.

Reactions: limit and go on, warn, hold (brake, go on by itself after 50 good cycles from zero
speed), stop (brake and latch until reset), refuse. The other rows are tested with what they
concern: files and gains in `tests/config`, walls and singularities in `tests/controller` and
`tests/kernel`, processes in `tests/robots`, `tests/ros2` and `tests/cli`. Rows 57 to 62 are held by
`tests/cockpit`.
"""

from __future__ import annotations

ROWS = {
    1: "a wrench that is no number: dropped, the last good one holds for 5 cycles, then hold",
    2: "wrench samples stop: hold after 10 ms, stop after 100 ms, at rest within 160 ms",
    3: "a frozen wrench: hold, then stop at 100 ms; can be switched off",
    4: "a spike of up to 3 samples: dropped, the speed changes by less than 1 mm/s",
    5: "a huge force that lasts: cut to the maximum, then stop",
    6: "a sensor near the end of its range: stop, named; after a reset the arm may unload",
    7: "more force than allowed: stop within one cycle",
    9: "a sensor that drifts with nobody there: hold 2 s after the arm began to move",
    11: "stamps from the future: not trusted, then hold",
    12: "a sensor slower than the loop: refused at the start, hold in a run",
    14: "joint samples stop: as row 2, and no command from old joints",
    15: "an impossible joint: one is a warning, three are a stop",
    17: "another arm than expected: refused, with both values",
    18: "the wall clock jumps: no effect, the core never asks for it",
    19: "a time step that makes no sense: the nominal one, counted; a gap of 5 periods: hold",
    21: "a process that slept: the arm has stopped, nothing old is sent, nothing goes on",
    28: "a live change that is wrong: all of it refused, the parameters untouched",
    29: "a live change that is large: ramped, inside the limits, without a step",
    30: "a quaternion that is none: refused; nearly one: put right; its negative: the same pose",
    34: "no answer from the inverse kinematics: slower inside the limits, five in a row stop",
    35: "half a turn: one way is chosen and kept, nothing flips",
    36: "a reference that leaps: approached inside the limits",
    37: "a reference that falls silent: held at zero speed, the arm stays compliant",
    39: "an oscillation in contact: seen within 0.3 s and damped, if it goes on, stopped in 0.5 s",
    40: "an arm that does not follow: nothing winds up, too far behind is a stop",
    46: "an arm moved by hand while it holds: goes on from there, from zero speed",
    42: "a connection that ends: stopped in that cycle; the robot after 20 ms and its ramp",
    43: "a pulled cable: as row 42, noticed by both sides alone",
    44: "late and lost states: bridged; too many: at rest",
    45: "protective, safeguard, emergency stop: zero in that cycle, latched, never unlocked by us",
    47: "a robot that is not ready: refused, with what to press",
    48: "a variable that is missing or in use: named, with its likely owner",
    49: "packets without sense: dropped and counted, three in a second are a stop",
    50: "a process that is killed: the robot stops by itself, the next start needs a person",
    53: "two controllers: the second is refused, a takeover stops the first",
    57: "a hostile page: capped in size, rate and number, dropped; the loop does not notice",
    58: "a change without the token, or from another site: refused, logged, nothing changes",
    59: "a page lost while it pulls the tool: the tool is let go",
    60: "a slider dragged absurdly: merged to ten changes a second, ramped as row 29",
    62: "tricks in names and paths: refused, nothing is written outside its folder",
}
