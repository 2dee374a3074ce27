"""The machine: Python, packages, compiled kernel, governor, real-time rights, wake-ups."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np

from ur_admittance._version import __version__
from ur_admittance.doctor.finding import OK, WARN, WRONG, Finding, judged
from ur_admittance.kernel.compile import cache_directory
from ur_admittance.realtime import sleep_until

_PACKAGES = ("numpy", "numba", "pydantic", "scipy", "mujoco", "mcap", "matplotlib", "rclpy")
_CPUS = Path("/sys/devices/system/cpu")
_LATE = 0.0005  # s: 99.9 % of the wake-ups should be earlier
_PERIOD = 0.002  # s


def host(seconds: float) -> Iterator[Finding]:
    """Everything of the machine; wake-ups are measured for so long, s."""
    yield python(sys.version_info[:3])
    yield packages()
    yield kernel(cache_directory())
    yield governor(_CPUS)
    yield rights(resource.getrlimit(resource.RLIMIT_RTPRIO)[0], os.geteuid() == 0)
    yield preemption(platform.version(), Path("/sys/kernel/realtime").exists())
    yield wakeups(measure_wakeups(seconds), _PERIOD)


def python(version: tuple[int, ...]) -> Finding:
    words = ".".join(map(str, version))
    return judged(
        "python",
        words,
        good=version >= (3, 11),
        should="3.11 or newer",
        mend="make a virtual environment with a newer Python",
        bad=WRONG,
    )


def packages() -> Finding:
    """Versions, for a bug report; an extra that is not there is none."""
    found = [f"ur-admittance {__version__}"]
    for name in _PACKAGES:
        for package in (name, f"{name}-core", f"ros-{name}"):
            try:
                found.append(f"{name} {metadata.version(package)}")
                break
            except metadata.PackageNotFoundError:
                continue
    return Finding("packages", OK, ", ".join(found))


def kernel(folder: Path | None) -> Finding:
    """Whether the tick is compiled already."""
    if folder is None:
        return Finding(
            "kernel",
            WARN,
            "cannot be kept: no folder that this user, and nobody else, can write to",
            "kept between runs",
            "set UR_ADMITTANCE_CACHE or XDG_CACHE_HOME to a folder of yours",
        )
    files = sum(1 for _ in folder.glob("**/*.nbc")) if folder.is_dir() else 0
    return judged(
        "kernel",
        f"compiled, {files} parts kept" if files else "not compiled yet",
        good=files > 0,
        should="compiled before the robot waits for it",
        mend="ur-admittance run --robot sim --config preset:hand-guiding --seconds 0",
    )


def governor(cpus: Path) -> Finding:
    """How the cores change their speed."""
    files = sorted(cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    names = sorted({file.read_text().strip() for file in files})
    if not names:
        return Finding("governor", OK, "not told here (a virtual machine?)")
    return judged(
        "governor",
        ", ".join(names),
        good=names == ["performance"],
        should="performance",
        mend="sudo cpupower frequency-set -g performance",
    )


def rights(most: int, root: bool) -> Finding:
    """Whether a real-time priority will be granted."""
    granted = root or most > 0 or most == resource.RLIM_INFINITY
    return judged(
        "real-time rights",
        "granted" if granted else "none",
        good=granted,
        should="a priority of 50 or more (rtprio)",
        mend="add '@realtime - rtprio 99' to /etc/security/limits.d, and log in again",
    )


def preemption(version: str, realtime: bool) -> Finding:
    """Of the Linux kernel."""
    kind = next((k for k in ("PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT") if k in version), "none")
    return judged(
        "preemption",
        "PREEMPT_RT" if realtime else kind,
        good=realtime or kind == "PREEMPT_RT",
        should="PREEMPT_RT, for a real arm at 500 Hz",
        mend="install a real-time kernel, or see that the wake-ups below are good enough",
    )


def measure_wakeups(seconds: float) -> np.ndarray:
    """How late this process wakes at 500 Hz, s, for so long."""
    count = max(1, round(seconds / _PERIOD))
    late, start = np.empty(count), time.monotonic()
    for n in range(count):
        due = start + (n + 1) * _PERIOD
        sleep_until(due, False)
        late[n] = time.monotonic() - due
    return late


def wakeups(late: np.ndarray, period: float) -> Finding:
    """From lateness, s (n,)."""
    p999, worst = float(np.quantile(late, 0.999)), float(late.max())
    missed = int((late > period).sum())
    words = f"99.9 % within {1e6 * p999:.0f} us, worst {1e3 * worst:.1f} ms"
    return judged(
        "wake-ups",
        f"{words}, {missed} of {len(late)} a whole period late",
        good=p999 <= _LATE,
        should=f"99.9 % within {1e6 * _LATE:.0f} us",
        mend="end other programs; real-time rights and governor (above); run with --cpu and --spin",
        bad=WRONG if missed > 0.01 * len(late) else WARN,
    )
