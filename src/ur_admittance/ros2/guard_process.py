"""The guard's own process: brakes the arm on its topic when the control process falls silent.

`forward_velocity_controller` repeats the last velocity it was given for ever. So this process looks
at the shared memory to which the control process writes every command, and when nothing comes for
`silent` s although the last command was a motion, it takes that command down to zero on the
same topic, inside the limits, and sends zeros.

It is started by file, with one JSON argument, and imports nothing of this package: it must be small
and soon there. It is told what to do by words on its standard input, a line each, and answers:

    watch N -> watching  have a publisher on the topic that all N listeners have heard, and look
            -> alone     they have not
    rest -> resting      have none
    quit                 end

Where its input ends without that, the control process has died, and it need not wait any longer.

That a publisher knows its subscriber does not mean that it is heard: the other side has to find it,
too, which on a busy machine takes seconds. So it says that it watches only when the arm has
acknowledged a first command, of rest, and sends zeros until the last ones are acknowledged.
"""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
import select
import signal
import sys
import time
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float64MultiArray

LOOK = 0.002  # s between two looks
ZEROS = 1.0  # s for which zeros are sent, once the arm is to be at rest
UNHEARD = 60.0  # s for which they are sent at most, as long as the arm has not taken them
_FOUND = 20.0  # s for the arm to hear this process
_ANSWER = 0.5  # s for it to say that it has heard all, before zeros are sent again
_COMMAND = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
_QUIT = ("quit", "")


class Board:
    """What the control process has written to its shared memory."""

    def __init__(self, order: dict[str, Any]) -> None:
        with open(order["file"], "rb") as file:
            block = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
        self._bytes, self._order = memoryview(block), order

    @property
    def sent(self) -> int:
        """How many commands there have been."""
        return self._count("sent")

    @property
    def command(self) -> list[float]:
        """The last, rad/s (6,): only of use while nobody writes."""
        return self._six(self._order["command"])

    @property
    def twist(self) -> list[float]:
        """Of the tool, by the newest record, m/s and rad/s (6,): likewise."""
        order = self._order
        place = (self._count("published") - 1) % order["slots"]
        return self._six(order["records"] + place * order["size"] + order["twist"])

    def _count(self, name: str) -> int:
        at = self._order[name]
        return self._bytes[at : at + 8].cast("q")[0]

    def _six(self, at: int) -> list[float]:
        return [float(x) for x in self._bytes[at : at + 48].cast("d")]


class Silence:
    """For how long a count has stayed the same.

    A pause in which this process could not look either says nothing about the other one.
    """

    def __init__(self) -> None:
        self._count, self._seen, self._quiet = -1, time.monotonic(), 0.0

    def seconds(self, count: int) -> float:
        """How long the count of commands has stood still, s."""
        now = time.monotonic()
        self._quiet += min(now - self._seen, 2.0 * LOOK)
        self._seen = now
        if count != self._count:
            self._count, self._quiet = count, 0.0
        return self._quiet


class Ears:
    """Words on the standard input, taken without waiting longer than one likes."""

    def __init__(self) -> None:
        self._rest, self._words = "", []
        self.ended = False

    def word(self, seconds: float) -> str | None:
        """The next; "" at the end of the input; None if none comes within a time, s."""
        if not self._words and select.select([0], [], [], seconds)[0]:
            news = os.read(0, 4096).decode()
            self.ended = self.ended or not news
            *self._words, self._rest = (self._rest + news).split("\n")
        if self._words:
            return self._words.pop(0)
        return "" if self.ended else None


def ramp(qd: list[float], twist: list[float], order: dict[str, Any]) -> list[list[float]]:
    """The velocities that take `qd`, rad/s (6,), to zero, all joints together, one a period.

    No joint, and not the tool whose twist is m/s and rad/s (6,), brakes harder than its limit. The
    first is `qd` itself, which may not have been sent any more.
    """
    needs = [abs(rate) / most for rate, most in zip(qd, order["qdd"], strict=True)]
    tool = (math.hypot(*twist[:3]), math.hypot(*twist[3:]))
    # A tool whose speed is not known is left to the joints' limits.
    needs += [v / most for v, most in zip(tool, order["tool"], strict=True) if math.isfinite(v)]
    steps = max(1, math.ceil(max(needs) / order["period"] - 1e-9))
    return [[rate * (1.0 - k / steps) for rate in qd] for k in range(steps + 1)]


class Guard:
    """Looks, and brakes."""

    def __init__(self, order: dict[str, Any], node: Any) -> None:
        self._order, self._node = order, node
        self._board, self._ears, self._silence = Board(order), Ears(), Silence()
        self._publisher: Any = None
        self._message = Float64MultiArray()
        self._braked_at = -1

    def run(self) -> None:
        """Until told to quit, or alone and done."""
        say("ready")
        while True:
            word = self._ears.word(LOOK)
            if word is not None and word.startswith("watch "):
                self._watch(int(word.removeprefix("watch ")))
            elif word == "rest":
                self._rest()
            elif self._publisher is not None and word != "quit" and self._needed():
                self._brake()
            if word in _QUIT:
                return

    def _watch(self, listeners: int) -> None:
        if self._publisher is None:
            order = self._order
            self._publisher = self._node.create_publisher(
                Float64MultiArray, order["topic"], _COMMAND
            )
        self._silence, self._braked_at = Silence(), -1
        deadline, heard = time.monotonic() + _FOUND, False
        self._send([0.0] * 6)  # the arm is at rest
        while not (heard := self._heard(listeners)) and time.monotonic() < deadline:
            self._send([0.0] * 6)
        say("watching" if heard else "alone")

    def _rest(self) -> None:
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None
        say("resting")

    def _needed(self) -> bool:
        count = self._board.sent
        quiet = self._silence.seconds(count)
        if count == 0 or count == self._braked_at:
            return False
        if quiet <= self._order["silent"] and not self._ears.ended:
            return False
        return any(self._board.command)

    def _brake(self) -> None:
        """Take the arm to rest, unless the control process comes back meanwhile."""
        count, period = self._board.sent, self._order["period"]
        self._braked_at = count
        down = ramp(self._board.command, self._board.twist, self._order)
        down += [[0.0] * 6] * max(1, round(ZEROS / period))
        due = time.monotonic()
        for qd in down:
            if self._board.sent != count:
                say("braked, until the control process came back")
                return
            self._send(qd)
            due = max(due + period, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
        while not self._heard() and self._board.sent == count and time.monotonic() < due + UNHEARD:
            self._send([0.0] * 6)
        say("braked")

    def _send(self, qd: list[float]) -> None:
        self._message.data = qd
        self._publisher.publish(self._message)

    def _heard(self, listeners: int = 1) -> bool:
        """Whether so many listen, and have taken all that they were told; waits for an answer."""
        if self._publisher.get_subscription_count() < listeners:
            time.sleep(_ANSWER)
            return False
        return self._publisher.wait_for_all_acked(Duration(seconds=_ANSWER))


def say(words: str) -> None:
    """Answer, if there is still somebody to hear it."""
    try:
        os.write(1, f"{words}\n".encode())
    except OSError:  # it has died
        return


def prepare(priority: int) -> str:
    """Be as punctual as permitted. Returns what was not, in words; or ""."""
    if priority > 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            return f"the guard has no real-time priority ({error})"
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mlockall(1)  # what is there now; where it is not permitted, so be it
    return ""


def main(order: dict[str, Any]) -> None:
    """Be the guard of one control process."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # it ends with the other one
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    refused = prepare(order["priority"])  # before the threads of DDS begin, for them, too
    rclpy.init(args=[], domain_id=order["domain"], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        order["name"],
        namespace=order["namespace"],
        use_global_arguments=False,
        start_parameter_services=False,
        enable_rosout=False,
    )
    if refused:
        say(f"warning: {refused}")
    try:
        Guard(order, node).run()
    finally:
        node.destroy_node()
        rclpy.shutdown()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
