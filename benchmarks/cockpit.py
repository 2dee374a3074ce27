"""What the cockpit costs the control loop, and itself.

    python -m benchmarks.cockpit [--seconds 30] [--pages 20]

A simulated arm in real time, controlled by `run` in a process of its own: first alone, then with a
cockpit and its open pages, one of which never reads and one of which sends garbage as fast as it
can, then alone again. One table: how late the loop was and how often that stopped it, what a tick
and the way from force to command took, and what the cockpit's process used.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "ur_admittance_command"]


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
        words = [*COMMAND, "run", "--robot", "sim", "--config", "preset:hand-guiding", "--json"]
        words += ["--real-time", "--push", "10", "0", "0", "--seconds"]
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
            raise SystemExit(f"the run failed: {self._problem}")
        whole: dict[str, Any] = {"stops": sum(bool(each["stops"]) for each in self._summaries)}
        for key in ("ticks", "late", "missed"):
            whole[key] = sum(each[key] for each in self._summaries)
        for key in ("tick", "reaction"):
            found = [each[key] for each in self._summaries if each[key]]
            whole[key] = {q: max(each[q] for each in found) for q in ("p50", "p99.9", "max")}
        return whole


def cockpit(port: int, folder: str) -> subprocess.Popen[str]:
    """A cockpit of the run, when it is ready; a run that is just starting again is waited for."""
    words = ["cockpit", "--attach", "sim:ur5e", "--port", str(port), "--recordings", folder]
    said = ""
    for _ in range(20):
        process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for line in process.stdout or ():
            if "token=" in line:
                return process
        said = process.communicate()[1]
    raise SystemExit(f"the cockpit did not start: {said}")


async def crowd(port: int, pages: int, seconds: float) -> dict[str, int]:
    """Open pages for a while: all but two read every frame."""
    from websockets.asyncio.client import connect

    counted = {"frames": 0, "garbage": 0}
    end = time.monotonic() + seconds
    place = {"origin": f"http://127.0.0.1:{port}", "compression": None}

    async def read() -> None:
        async with connect(f"ws://127.0.0.1:{port}/ws", **place) as link:
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
                async with connect(f"ws://127.0.0.1:{port}/ws", **place) as link:
                    while time.monotonic() < end:
                        await link.send(os.urandom(1000))
                        counted["garbage"] += 1
            except Exception:  # thrown out: come back at once
                await asyncio.sleep(0)

    await asyncio.gather(*(read() for _ in range(pages - 2)), freeze(), flood())
    return counted


def used(pid: int) -> tuple[float, float]:
    """CPU seconds and MB of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return cpu, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def row(name: str, summary: dict[str, Any]) -> str:
    cells = [name, *(str(summary[key]) for key in ("ticks", "late", "missed", "stops"))]
    for key in ("tick", "reaction"):
        spread = summary[key]
        cells += [f"{1e6 * spread[q]:.0f}" for q in ("p50", "p99.9", "max")]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.cockpit")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pages", type=int, default=20)
    given = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    rows = [row("alone", Run(given.seconds).summary())]
    run = Run(given.seconds + 30.0)
    with tempfile.TemporaryDirectory() as folder:
        process = cockpit(port, folder)
        time.sleep(8.0)  # the meshes are read
        before, at = used(process.pid), time.monotonic()
        counted = asyncio.run(crowd(port, given.pages, given.seconds / 2))
        after, then = used(process.pid), time.monotonic()
        one_before, one_at = used(process.pid), time.monotonic()
        asyncio.run(quiet(port, given.seconds / 4))
        one_after, one_then = used(process.pid), time.monotonic()
        rows.append(row(f"{given.pages} pages", run.summary()))
        process.terminate()
        process.wait()
    rows.append(row("alone again", Run(given.seconds).summary()))
    print(
        "| loop | ticks | late | missed | stops | tick us, p50 | p99.9 | worst |"
        " force to command us, p50 | p99.9 | worst |\n|" + " --- |" * 11
    )
    print("\n".join(rows))
    cpu = 100 * (after[0] - before[0]) / (then - at)
    one = 100 * (one_after[0] - one_before[0]) / (one_then - one_at)
    print(f"\n{counted['frames']} frames read, {counted['garbage']} pieces of garbage sent")
    print(
        f"the cockpit's process: {cpu:.0f} % of a core with {given.pages} pages and the garbage, "
        f"{one:.1f} % with one page at 30 frames a second; {before[1]:.0f} MB before, "
        f"{after[1]:.0f} MB after"
    )


async def quiet(port: int, seconds: float) -> None:
    """One page that reads."""
    from websockets.asyncio.client import connect

    end = time.monotonic() + seconds
    place = {"origin": f"http://127.0.0.1:{port}", "compression": None}
    async with connect(f"ws://127.0.0.1:{port}/ws", **place) as link:
        while time.monotonic() < end:
            await link.recv()


if __name__ == "__main__":
    main()
