"""What a process asks of the machine to be on time: priority, locked memory, deadlines."""

from ur_admittance.realtime.real_time import (
    SPIN_SECONDS,
    Deadlines,
    Pace,
    RealTime,
    keep_awake,
    let_sleep,
    prepare,
    restore,
    sleep_until,
)

__all__ = [
    "SPIN_SECONDS",
    "Deadlines",
    "Pace",
    "RealTime",
    "keep_awake",
    "let_sleep",
    "prepare",
    "restore",
    "sleep_until",
]
