"""A client of the unmodified ur_rtde wheel, as a process: `python -m ... NAME HOST`, JSON out."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

HOME = [0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0]
PERIOD = 0.002  # s


def until(done: Callable[[], bool]) -> None:
    """Wait for something; if it never comes, what is read next says so."""
    for _ in range(30_000):
        if done():
            return
        time.sleep(0.01)


def near(read: Callable[[], list[float]], wanted: list[float], within: float) -> list[float]:
    """What is read once it is near; each interface has a thread of its own, which may be late."""
    until(lambda: all(abs(a - b) < within for a, b in zip(read(), wanted, strict=False)))
    return read()


def drive(host: str) -> dict[str, Any]:
    """Everything that most users of ur_rtde do, in one session with all four interfaces."""
    import dashboard_client
    import rtde_control
    import rtde_io
    import rtde_receive

    receive = rtde_receive.RTDEReceiveInterface(host)
    control = rtde_control.RTDEControlInterface(host)
    io = rtde_io.RTDEIOInterface(host)
    board = dashboard_client.DashboardClient(host)
    board.connect()
    seen: dict[str, Any] = {
        "connected": [receive.isConnected(), control.isConnected(), board.isConnected()],
        "program_running": control.isProgramRunning(),
        "dashboard": [board.robotmode(), board.safetystatus(), board.isInRemoteControl()],
        "running": board.running(),
    }

    away = [HOME[0] + 0.2, HOME[1] - 0.1, HOME[2] + 0.1, *HOME[3:]]
    seen["moveJ"] = [control.moveJ(away, 2.0, 4.0), near(receive.getActualQ, away, 1e-3), away]
    seen["moveJ_back"] = [control.moveJ(HOME, 2.0, 4.0), near(receive.getActualQ, HOME, 1e-3), HOME]

    pose = receive.getActualTCPPose()
    there = [*pose[:2], pose[2] - 0.05, *pose[3:]]
    arrived = control.moveL(there, 0.5, 2.0)
    seen["moveL"] = [arrived, near(receive.getActualTCPPose, there[:3], 1e-3), there]
    control.moveL(pose, 0.5, 2.0)

    control.moveJ([HOME[0] + 1.5, *HOME[1:]], 0.1, 1.0, True)  # 15 s: it is not over by then
    until(lambda: receive.getActualQ()[0] > 0.02)
    control.stopJ(4.0)
    near(receive.getActualQd, [0.0] * 6, 0.01)
    seen["stopped_on_the_way"] = [receive.getActualQ()[0], max(map(abs, receive.getActualQd()))]
    control.moveJ(HOME, 2.0, 4.0)

    control.speedJ([0.2, 0, 0, 0, 0, 0], 4.0)
    until(lambda: abs(receive.getActualQd()[0] - 0.2) < 0.001)
    seen["speedJ"] = receive.getActualQd()
    control.speedStop()
    seen["speedStop"] = near(receive.getActualQd, [0.0] * 6, 0.01)
    control.moveJ(HOME, 2.0, 4.0)

    control.speedL([0, 0, -0.05, 0, 0, 0], 1.0)
    until(lambda: abs(receive.getActualTCPSpeed()[2] + 0.05) < 0.001)
    seen["speedL"] = receive.getActualTCPSpeed()
    control.speedStop()
    control.moveJ(HOME, 2.0, 4.0)

    target = list(HOME)
    for i in range(100):
        started = control.initPeriod()
        target[0] = HOME[0] + 0.1 * (i + 1) / 100
        control.servoJ(target, 0.0, 0.0, PERIOD, 0.1, 300)
        control.waitPeriod(started)
    until(lambda: abs(receive.getActualQ()[0] - target[0]) < 1e-3)
    seen["servoJ"] = [receive.getActualQ()[0], target[0]]
    control.servoStop()
    control.moveJ(HOME, 2.0, 4.0)

    near(receive.getActualQ, HOME, 1e-3)
    pose = receive.getActualTCPPose()
    target = list(pose)
    for i in range(100):
        started = control.initPeriod()
        target[2] = pose[2] - 0.02 * (i + 1) / 100
        control.servoL(target, 0.0, 0.0, PERIOD, 0.1, 300)
        control.waitPeriod(started)
    until(lambda: abs(receive.getActualTCPPose()[2] - target[2]) < 1e-3)
    seen["servoL"] = [receive.getActualTCPPose()[2], target[2]]
    control.servoStop()

    seen["zeroFtSensor"] = control.zeroFtSensor()
    until(lambda: max(map(abs, receive.getActualTCPForce()[:3])) < 1.0)
    seen["force_after_zero"] = receive.getActualTCPForce()
    seen["setPayload"] = [control.setPayload(1.5, [0.0, 0.0, 0.05])]
    until(lambda: receive.getPayload() > 1.0)
    seen["setPayload"] += [receive.getPayload(), receive.getPayloadCog()]
    control.setPayload(0.0, [0.0, 0.0, 0.0])
    control.getJointTorques()  # the first is from before the controller has answered
    time.sleep(0.05)
    seen["getJointTorques"] = control.getJointTorques()
    seen["setTcp"] = [control.setTcp([0, 0, 0.1, 0, 0, 0]), control.getTCPOffset()]
    control.setTcp([0, 0, 0, 0, 0, 0])

    before = receive.getActualTCPPose()[2]
    control.forceMode([0] * 6, [0, 0, 1, 0, 0, 0], [0, 0, -20, 0, 0, 0], 2, [2, 2, 0.05, 1, 1, 1])
    until(lambda: receive.getActualTCPPose()[2] < before - 0.005)
    seen["forceMode"] = [control.forceModeStop(), receive.getActualTCPPose()[2] - before]

    seen["io"] = [io.setStandardDigitalOut(3, True)]
    until(lambda: bool(receive.getActualDigitalOutputBits() >> 3 & 1))
    seen["io"] += [bool(receive.getActualDigitalOutputBits() >> 3 & 1), io.setSpeedSlider(0.5)]
    until(lambda: receive.getTargetSpeedFraction() < 0.9)
    seen["io"] += [receive.getTargetSpeedFraction(), io.setSpeedSlider(1.0)]

    control.stopScript()
    until(lambda: not board.running())
    seen["stopped"] = board.running()
    for one in (receive, control, io):
        one.disconnect()
    board.disconnect()
    return seen


def hang(host: str) -> dict[str, Any]:
    """Move at a steady speed, fed by a watchdog, say so, and go on for ever: to be killed. The
    watchdog has patience with a busy machine.
    """
    import rtde_control

    control = rtde_control.RTDEControlInterface(host)
    control.setWatchdog(0.5)
    print("moving", flush=True)
    while True:
        control.speedJ([0.1, 0, 0, 0, 0, 0], 2.0)
        control.kickWatchdog()
        time.sleep(0.01)


def come_back(host: str) -> dict[str, Any]:
    """A new client, after the last one was killed."""
    import rtde_control
    import rtde_receive

    control = rtde_control.RTDEControlInterface(host)
    receive = rtde_receive.RTDEReceiveInterface(host)
    moved = control.moveJ(HOME, 2.0, 4.0)
    q = near(receive.getActualQ, HOME, 1e-3)
    control.stopScript()
    control.disconnect()
    receive.disconnect()
    return {"moved": moved, "q": q}


def main() -> None:
    work: dict[str, Callable[[str], dict[str, Any]]] = {
        "drive": drive,
        "hang": hang,
        "come_back": come_back,
    }
    print(json.dumps(work[sys.argv[1]](sys.argv[2])), flush=True)


if __name__ == "__main__":
    main()
