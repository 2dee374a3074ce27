"""What the cockpit costs the control loop, and itself.

    python -m benchmarks.cockpit [--seconds 30] [--pages 20]   the loop beside many pages
    python -m benchmarks.cockpit --memory MINUTES              memory over time, with a browser
    python -m benchmarks.cockpit --start                       from the command to the first push

The first: a simulated arm in real time, controlled in a process of its own: alone, then with a
cockpit and its open pages, one of which never reads and one of which sends garbage as fast as it
can, then alone again. One table: how late the loop was and how often that stopped it, what a tick,
the way from force to command, and the writing to the blackboard took. The other two need Chromium
and playwright.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

COMMAND = [sys.executable, "-m", "ur_admittance_command"]
SPREAD = ("p50", "p99.9", "max")
BLIND = """const plain = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind === "webgl2" ? null : plain.call(this, kind, ...more);
}"""
SEEN = """() => {
  const view = cockpit.view, seen = view.tool.clone().project(view.camera);
  const box = view.canvas.getBoundingClientRect();
  return [box.left + (seen.x + 1) / 2 * box.width, box.top + (1 - seen.y) / 2 * box.height];
}"""


# --- the loop ---


class Timed:
    """A blackboard that measures how long it takes to publish."""

    def __init__(self, board: Any, durations: Any) -> None:
        self._board, self._durations = board, durations
        self.request, self.take_params = board.request, board.take_params

    def publish(self, outputs: Any) -> None:
        begun = time.perf_counter()
        self._board.publish(outputs)
        self._durations.add(time.perf_counter() - begun)


def control(seconds: float) -> None:
    """One run in this process; tells its summary as JSON."""
    from ur_admittance import Config, Controller
    from ur_admittance.blackboard import Blackboard
    from ur_admittance.cli.attend import to_and_fro
    from ur_admittance.realtime import RealTime
    from ur_admittance.robots.sim import SimRobot
    from ur_admittance.run import run
    from ur_admittance.run.summary import Histogram

    published = Histogram()
    with SimRobot("ur5e", hand=to_and_fro((10.0, 0.0, 0.0))) as arm:
        controller = Controller(arm.model, Config.preset("hand-guiding"))
        with Blackboard.create(arm.name, arm.rate, controller.live) as board:
            timed: Any = Timed(board, published)
            summary = run(arm, controller, seconds=seconds, board=timed, real_time=RealTime(50))
    print(json.dumps(summary.as_dict() | {"publish": published.as_dict()}))


class Run:
    """The control loop in a process of its own; where it was stopped for its lateness, on a busy
    machine, it is started again.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._summaries: list[dict[str, Any]] = []
        self._problem = ""
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        words = [sys.executable, "-m", "benchmarks.cockpit", "--control"]
        while (left := self._end - time.monotonic()) > 1.0:
            done = subprocess.run(
                [*words, f"{left:.1f}"], capture_output=True, text=True, check=False
            )
            if not done.stdout:
                self._problem = done.stderr
                return
            self._summaries.append(json.loads(done.stdout))

    def summary(self) -> dict[str, Any]:
        """How it went, when it is over: sums, and quantiles of the worst of its runs."""
        self._thread.join()
        if self._problem or not self._summaries:
            raise SystemExit(f"the run failed: {self._problem or 'it had no time'}")
        whole: dict[str, Any] = {"stops": sum(each["faulted"] for each in self._summaries)}
        for key in ("ticks", "late", "missed"):
            whole[key] = sum(each[key] for each in self._summaries)
        for key in ("tick", "reaction", "publish"):
            found = [each[key] for each in self._summaries if each[key]]
            whole[key] = {q: max(each[q] for each in found) for q in SPREAD}
        return whole


def row(name: str, summary: dict[str, Any]) -> str:
    cells = [name, *(str(summary[key]) for key in ("ticks", "late", "missed", "stops"))]
    for key in ("tick", "reaction", "publish"):
        cells += [f"{1e6 * summary[key][q]:.0f}" for q in SPREAD]
    return "| " + " | ".join(cells) + " |"


# --- the cockpit and its pages ---


@contextmanager
def cockpit(*words: str) -> Iterator[tuple[int, str]]:
    """A cockpit, when it is ready: its process, and the address it prints. Where it attaches, a run
    that is just starting again is waited for.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [*COMMAND, "cockpit", *words, "--port", str(port), "--recordings", folder]
        said = ""
        for _ in range(20):
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            for line in process.stdout or ():
                if "token=" in line:
                    try:
                        yield process.pid, line.split()[-1]
                    finally:
                        process.terminate()
                        process.communicate()
                    return
            said = f"it left with {process.wait()}"
            time.sleep(1.0)
    raise SystemExit(f"the cockpit did not start: {said}")


def place_of(address: str) -> dict[str, Any]:
    """Where a page's socket is, and what a page of our own says of itself."""
    origin = address.partition("/#")[0]
    return {"uri": origin.replace("http", "ws") + "/ws", "origin": origin, "compression": None}


async def crowd(address: str, pages: int, seconds: float) -> dict[str, int]:
    """Open pages for a while: all but two read every frame; of fewer than three, all."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    counted = {"frames": 0, "garbage": 0, "thrown out": 0}
    end = time.monotonic() + seconds
    place = place_of(address)
    port = int(place["origin"].rpartition(":")[2])

    async def read() -> None:
        async with connect(**place) as link:
            while time.monotonic() < end:
                await link.recv()
                counted["frames"] += 1

    async def freeze() -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        lines = ("GET /ws HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket")
        lines += ("Connection: Upgrade", "Sec-WebSocket-Version: 13")
        lines += ("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", "")
        writer.write("\r\n".join(lines).encode())
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(max(0.0, end - time.monotonic()))
        writer.close()

    async def flood() -> None:
        while time.monotonic() < end:
            try:
                async with connect(**place, close_timeout=0.1) as link:
                    while time.monotonic() < end:
                        await link.send(os.urandom(1000))
                        counted["garbage"] += 1
            except (ConnectionClosed, OSError):  # thrown out: come back at once
                counted["thrown out"] += 1

    bad = (freeze(), flood()) if pages > 2 else ()
    await asyncio.gather(*(read() for _ in range(pages - len(bad))), *bad)
    return counted


def used(pid: int) -> tuple[float, float]:
    """CPU seconds and MB of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return cpu, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def watched(pid: int, address: str, pages: int, seconds: float) -> tuple[float, dict[str, int]]:
    """How much of a core the cockpit's process uses beside so many pages, %, and their counts."""
    (before, _), at = used(pid), time.monotonic()
    counted = asyncio.run(crowd(address, pages, seconds))
    (after, _), then = used(pid), time.monotonic()
    return 100.0 * (after - before) / (then - at), counted


def beside(seconds: float, pages: int) -> None:
    """The table."""
    rows = [row("alone", Run(seconds).summary())]
    run = Run(seconds + 30.0)
    with cockpit("--attach", "sim:ur5e") as (pid, address):
        time.sleep(5.0)  # the meshes are read
        _, memory = used(pid)
        many, counted = watched(pid, address, pages, seconds)
        one, _ = watched(pid, address, 1, max(5.0, seconds / 4))
        _, grown = used(pid)
        rows.append(row(f"{pages} pages", run.summary()))
    rows.append(row("alone again", Run(seconds).summary()))
    heads = [f"{what}, {q}" for what in ("tick us", "to command us", "publish us") for q in SPREAD]
    print("| loop | ticks | late | missed | stops | " + " | ".join(heads) + " |\n|" + " --- |" * 14)
    print("\n".join(rows))
    words = ", ".join(f"{count} {what}" for what, count in counted.items())
    print(f"\nthe crowd: {words}; {counted['frames'] / seconds / (pages - 2):.1f} frames/s a page")
    print(
        f"the cockpit's process: {many:.0f} % of a core with {pages} pages and the garbage, "
        f"{one:.1f} % with one page; {memory:.0f} MB before, {grown:.0f} MB after"
    )


# --- in a browser ---


@contextmanager
def browser(script: str = "") -> Iterator[Any]:
    """A page without a screen."""
    from playwright.sync_api import sync_playwright
    from tests.cockpit.support import CHROMIUM, FLAGS, NO_BROWSER

    if CHROMIUM is None:
        raise SystemExit(NO_BROWSER)
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = launched.new_page(viewport={"width": 1100, "height": 640})
        page.set_default_timeout(0)
        if script:
            page.add_init_script(script)
        yield page
        launched.close()


def memory(minutes: float) -> None:
    """Memory over time of a cockpit that shows a pushed arm, and of its page with all curves; the
    page draws no 3D, which would need a graphics card.
    """
    words = ["run", "--robot", "sim", "--config", "preset:hand-guiding", "--json"]
    words += ["--push", "10", "0", "0"]
    run = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL)
    samples = []
    try:
        with cockpit("--attach", "sim:ur5e") as (pid, address), browser(BLIND) as page:
            page.goto(address)
            page.wait_for_function("() => window.cockpit?.frames > 3", polling=500)
            began, step = time.monotonic(), max(5.0, min(60.0, 3.0 * minutes))
            print("| minutes | cockpit, MB | page's heap, MB | frames |\n| --- | --- | --- | --- |")
            while (past := time.monotonic() - began) <= 60.0 * minutes:
                page.evaluate("() => window.gc?.()")
                heap = page.evaluate("() => performance.memory.usedJSHeapSize") / 1e6
                samples.append((past / 60.0, used(pid)[1], heap))
                frames = page.evaluate("() => cockpit.frames")
                print(f"| {past / 60:.1f} | {samples[-1][1]:.1f} | {heap:.1f} | {frames} |")
                sys.stdout.flush()
                page.wait_for_timeout(1e3 * step)
    finally:
        run.terminate()
        run.wait()
    late = np.array(samples[len(samples) // 3 :])
    if len(late) < 3:
        raise SystemExit("too short for a slope: give it more minutes")
    slopes = [60.0 * np.polyfit(late[:, 0], late[:, n], 1)[0] for n in (1, 2)]
    print(f"\nafter the first third: cockpit {slopes[0]:+.2f} MB/h, page {slopes[1]:+.2f} MB/h")


def start() -> None:
    """From the command to an arm that has been pulled: when what was there, s."""
    began = time.monotonic()
    laps: list[str] = []

    def lap(what: str) -> None:
        laps.append(f"| {what} | {time.monotonic() - began:.1f} |")

    with cockpit() as (_, address):
        lap("the address is printed")
        with browser() as page:
            lap("a browser is started")
            page.goto(address)
            lap("the page is loaded")
            page.wait_for_function("() => window.cockpit?.frames > 0 && cockpit.trusted")
            lap("first frame")
            page.wait_for_function("() => cockpit.view.drawn > 0 && cockpit.view.tool")
            lap("first picture")
            x, y = page.evaluate(SEEN)
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x - 60, y, steps=2)
            page.wait_for_function("() => Math.hypot(...cockpit.frame.x.slice(0, 3)) > 0.01")
            lap("the arm is pulled 10 mm")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("| from the command on | s |\n| --- | --- |\n" + "\n".join(laps))
    cpu = spent.ru_utime + spent.ru_stime
    print(f"\nCPU of all processes, the browser's too, to their end: {cpu:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.cockpit")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each row [s]")
    parser.add_argument("--pages", type=int, default=20, help="open at once, 3 to 32")
    parser.add_argument("--memory", type=float, metavar="MINUTES", help="memory over time")
    parser.add_argument("--start", action="store_true", help="time to the first push")
    parser.add_argument("--control", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.control is not None:
        control(given.control)
    elif given.memory is not None:
        memory(given.memory)
    elif given.start:
        start()
    elif 3 <= given.pages <= 32 and given.seconds >= 5.0:
        beside(given.seconds, given.pages)
    else:
        parser.error("--pages must be 3 to 32, --seconds 5 or more")


if __name__ == "__main__":
    main()
