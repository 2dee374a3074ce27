"""`ur-admittance doctor`: what it says of each thing that is broken on purpose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import invoke
from ur_admittance import Config, RobotModel
from ur_admittance.calibration.collect import gather
from ur_admittance.doctor import host, network, stream
from ur_admittance.doctor.masking import masked
from ur_admittance.doctor.stream import Heard
from ur_admittance.robots import connect
from ur_admittance.robots.ros2.place import Endpoint, Place
from ur_admittance.robots.sim import ScriptedPush, SimRobot

HOME = RobotModel.ur("ur5e").home


def heard(
    wrench_rate: float = 500.0, seconds: float = 4.0, rate: float = 500.0, **changes
) -> Heard:
    """A sensor that is as it should be, but for what is changed in its readings."""
    rng = np.random.default_rng(0)
    t, w = np.arange(0, seconds, 1 / rate), np.arange(0, seconds, 1 / wrench_rate)
    readings = rng.standard_normal((len(w), 6)) * np.repeat([0.1, 0.005], 3)
    if drift := changes.get("drift"):
        readings[:, 2] += drift / 60 * w
    readings *= changes.get("noise", 1.0)
    if step := changes.get("step"):
        readings = np.round(readings / step) * step
    if changes.get("frozen"):
        readings[500:600] = readings[500]
    if changes.get("nan"):
        readings[3, 4] = np.nan
    q = np.tile(HOME, (len(t), 1))
    if speed := changes.get("speed"):
        q[:, 0] += speed * t
    return Heard(t, q, w, readings, rate)


def states(findings) -> dict[str, str]:
    return {f.what: f.state for f in findings}


def test_of_a_good_sensor_there_is_nothing_to_say() -> None:
    good = [*stream.rates(heard()), *stream.wrench(heard(), Config(), real=True)]
    assert set(states(good).values()) == {"ok"}
    assert {f.what for f in good} >= {"state rate", "wrench rate", "noise", "drift", "frozen bits"}


@pytest.mark.parametrize(
    ("broken", "what", "state", "words"),
    [
        ({"drift": 3.0}, "drift", "warn", "warm up"),
        ({"step": 1.0, "noise": 10.0}, "quantisation", "warn", "floating-point"),
        ({"frozen": True}, "frozen bits", "wrong", "start the sensor again"),
        ({"noise": 20.0}, "noise", "warn", "raise admittance.deadband_force"),
        ({"nan": True}, "readings", "wrong", "cable"),
    ],
)
def test_what_is_broken_in_the_readings_is_named(broken, what, state, words) -> None:
    found = {f.what: f for f in stream.wrench(heard(**broken), Config(), real=True)}
    assert found[what].state == state and words in found[what].mend and found[what].should


def test_a_sensor_of_125_hz_for_a_loop_of_500_is_wrong() -> None:
    found = {f.what: f for f in stream.rates(heard(wrench_rate=125.0))}
    assert found["wrench rate"].state == "wrong" and "125.0 Hz" in found["wrench rate"].value
    assert found["state rate"].state == "ok"


@pytest.mark.parametrize("what", ["state rate", "wrench rate"])
def test_a_gap_between_samples_is_told_though_the_rate_is_good(what: str) -> None:
    whole = heard()
    late = np.r_[0:1000, 1010:2000]  # 20 ms without any
    gap = {
        "state rate": replace(whole, times=whole.times[late], q=whole.q[late]),
        "wrench rate": replace(
            whole, wrench_times=whole.wrench_times[late], wrench=whole.wrench[late]
        ),
    }[what]
    found = {f.what: f for f in stream.rates(gap)}
    assert [f.what for f in found.values() if f.state != "ok"] == [what]
    assert found[what].state == "warn" and "longest gap 22.0 ms" in found[what].value
    assert found[what].should == "no gap above 10 ms"


def test_states_at_another_rate_than_the_robots_are_wrong() -> None:
    slow = replace(heard(rate=400.0), rate=500.0)
    found = {f.what: f for f in stream.rates(slow)}
    assert found["state rate"].state == "wrong" and "400.0 Hz" in found["state rate"].value


def test_an_arm_that_moves_and_a_tool_outside_its_box_are_told() -> None:
    with SimRobot("ur5e", realtime=False) as arm:
        moving = states(stream.gravity(arm, Config(), heard(speed=0.01)))
        assert moving["at rest"] == "warn"
        box = Config.from_dict({"limits.workspace_max": [0.1, 0.1, 0.1]})
        assert stream.place(arm, Config(), heard()).state == "ok"
        outside = stream.place(arm, box, heard())
    assert outside.state == "warn" and "move the wall" in outside.mend


def test_a_calibration_that_is_old_and_gains_that_are_unwise_are_told(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(
        "payload: {mass: 1.2, verdict: good, date: 2020-01-01}\n"
        "admittance: {filter_coefficient: 1}\n"
    )
    said = json.loads(invoke("doctor", "--config", file, "--seconds", 0.2, "--json").stdout)
    rows = [(row["what"], row["state"]) for row in said["findings"]]
    assert ("configuration", "ok") in rows and ("configuration", "warn") in rows
    old = next(row for row in said["findings"] if row["what"] == "payload")
    assert old["state"] == "warn" and "that is old" in old["value"]


def test_a_sensor_near_the_end_of_its_range_is_named() -> None:
    ends = np.array([0.3, 100, 100, 10, 10, 10])
    found = list(stream.wrench(heard(), Config(), real=True, ends=ends))[-1]
    assert (found.what, found.state) == ("saturation", "wrong") and "fx uses" in found.value
    for wide, state in ((2.0, "warn"), (100.0, "ok")):
        found = list(stream.wrench(heard(), Config(), real=True, ends=wide * ends))[-1]
        assert found.state == state


def test_a_payload_that_does_not_explain_the_reading_is_wrong_and_says_which_mass_would() -> None:
    config = Config.from_dict({"payload.mass": 0.5})
    carries = Config.from_dict({"payload.mass": 1.2})
    with connect("sim", config=carries, realtime=False) as arm:
        listened = stream.listen(arm, 0.5)
        found = states(stream.gravity(arm, config, listened))
        words = next(f for f in stream.gravity(arm, config, listened) if f.what == "gravity")
        assert states(stream.gravity(arm, carries, listened))["gravity"] == "ok"
    assert found == {"at rest": "ok", "gravity": "wrong"}
    assert "1.20 kg" in words.mend and "calibrate" in words.mend


def test_a_push_along_another_axis_than_asked_is_told() -> None:
    down = RobotModel.ur("ur5e").fk(HOME)[:3, :3] @ [0, 14.0, 0]  # the tool's +y, in the base
    push = ScriptedPush([(0.0, 5.0, [*down, 0, 0, 0])])
    with SimRobot("ur5e", realtime=False, hand=push) as arm:
        assert stream.felt(arm, Config(), 1, 0.3).state == "ok"
        wrong = stream.felt(arm, Config(), 0, 0.3)
        assert wrong.state == "wrong" and "not +y" in wrong.should
    with SimRobot("ur5e", realtime=False) as arm:
        assert stream.felt(arm, Config(), 0, 0.1).state == "warn"


def test_the_host_is_judged_by_what_it_has(tmp_path: Path) -> None:
    assert host.python((3, 10, 2)).state == "wrong" and host.python((3, 12, 0)).state == "ok"
    assert host.rights(0, False).state == "warn" and host.rights(99, False).state == "ok"
    assert host.preemption("#1 SMP PREEMPT_DYNAMIC", False).state == "warn"
    assert host.preemption("#1 SMP PREEMPT_RT", False).state == "ok"
    assert host.kernel(None).state == "warn" and host.kernel(tmp_path).state == "warn"
    assert host.governor(tmp_path).state == "ok"
    core = tmp_path / "cpu0" / "cpufreq"
    core.mkdir(parents=True)
    (core / "scaling_governor").write_text("powersave\n")
    assert host.governor(tmp_path).state == "warn" and "cpupower" in host.governor(tmp_path).mend


def test_wake_ups_are_judged_by_their_tail() -> None:
    late = np.full(5000, 1e-4)
    assert host.wakeups(late, 0.002).state == "ok"
    late[:20] = 0.001
    assert host.wakeups(late, 0.002).state == "warn"
    late[:100] = 0.005
    assert host.wakeups(late, 0.002).state == "wrong"


def test_the_command_leaves_with_1_where_something_is_wrong(tmp_path: Path, runtime) -> None:
    none = ("--config", tmp_path / "none.yaml")
    done = invoke("doctor", *none, "--seconds", 0.2, "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 1 and not said["ok"]
    assert said["findings"][0]["state"] == "wrong"
    assert "no such file" in said["findings"][0]["value"]


def test_a_robot_that_does_not_answer_is_wrong_and_no_address_is_told(runtime) -> None:
    done = invoke("doctor", "--robot", "rtde://127.0.0.1:1", "--seconds", 0.2, "--json")
    rows = {row["what"]: row for row in json.loads(done.stdout)["findings"]}
    assert done.exit_code == 1 and rows["robot"]["state"] == "wrong"
    assert "127.0.0.1" not in done.stdout


def test_the_simulated_arm_is_looked_at_as_a_real_one(runtime) -> None:
    found = invoke(
        "doctor", "--robot", "sim", "--config", "preset:hand-guiding", "--seconds", 0.2,
        "--listen", 2, "--json",
    )  # fmt: skip
    rows = {row["what"]: row for row in json.loads(found.stdout)["findings"]}
    for what in ("state rate", "wrench rate", "quantisation", "frozen bits", "gravity"):
        assert rows[what]["state"] == "ok", rows[what]
    assert rows["payload"]["state"] == "warn" and "calibrate" in rows["payload"]["mend"]


@pytest.mark.parametrize(
    ("took", "state"),
    [([4e-4] * 100, "ok"), ([4e-4] * 95 + [5e-3] * 5, "warn"), ([6e-3] * 100, "wrong")],
)
def test_the_way_to_the_robot_is_judged_by_its_round_trips(took, state) -> None:
    found = network.round_trip(np.array(took))
    assert found.state == state and ("no Wi-Fi" in found.mend) == (state != "ok")


def test_states_that_come_in_bunches_are_jitter() -> None:
    assert network.jitter(heard()).state == "ok"
    bunched = heard()
    bunched.times[1::2] = bunched.times[::2] + 1e-4
    found = network.jitter(bunched)
    assert found.state == "warn" and "within 1.90 ms" in found.value


GOOD = (Endpoint("/sensor", ""),)


@pytest.mark.parametrize(
    ("place", "state", "words"),
    [
        (Place("wrench", "/w", False, GOOD), "ok", "/sensor"),
        (Place("wrench", "/w", False, ()), "wrong", "no publisher on /w (ROS_DOMAIN_ID=7)"),
        (
            Place("wrench", "/w", False, (*GOOD, *GOOD)),
            "wrong",
            "2 publishers on /w: /sensor, /sensor",
        ),
        (
            Place("wrench", "/w", False, (Endpoint("/a", "best effort"),)),
            "wrong",
            "/w, /a: best effort",
        ),
        (Place("commands", "/c", True, ()), "wrong", "no subscriber"),
        (
            Place("commands", "/c", True, GOOD, ("/teleop",)),
            "wrong",
            "/teleop publishes on /c, too",
        ),
        (Place("commands", "/c", True, (*GOOD, *GOOD)), "ok", "/sensor, /sensor"),
    ],
)
def test_what_is_wrong_on_a_graph_is_named(place: Place, state: str, words: str) -> None:
    (found,) = network.graph([place], "ROS_DOMAIN_ID=7")
    assert found.state == state and words in found.value
    assert bool(found.mend) == (state == "wrong")


def test_nothing_that_a_stranger_need_not_read_is_left_in_a_report() -> None:
    said = (
        "rtde://lab-robot: serial number 20195501234 at 192.168.1.10, fe80:0:0:0:1:2:3:4, "
        f"{Path.home()}/probe.yaml on desk-7, labs and lab-robots stay; 2026-11-18, 500 Hz"
    )
    left = masked(said, [("lab-robot", "ROBOT"), ("desk-7", "HOST"), ("", "NOBODY")])
    assert left == (
        "rtde://ROBOT: serial number SERIAL at ADDRESS, ADDRESS, "
        "~/probe.yaml on HOST, labs and lab-robots stay; 2026-11-18, 500 Hz"
    )


def test_a_mirrored_axis_shows_in_one_of_three_poses() -> None:
    config = Config.from_dict({"payload.mass": 1.2, "payload.center_of_mass": [0, 0, 0.05]})
    turns = [HOME, HOME + np.array([0, 0, 0, 0.8, 0, 0]), HOME + np.array([0, 0, 0, 0, 0.9, 0.7])]
    measured = []
    for q in turns:
        with connect("sim", config=config, q0=q, realtime=False) as arm:
            measured.append(gather(arm))
            good = list(stream.poses(arm, config, measured))
    assert {f.state for f in good} == {"ok"} and len(good) == 4
    for one in measured:
        one.samples[:, 0] *= -1
    bad = states(stream.poses(arm, config, measured))
    assert bad["gravity, pose 1"] == "ok" and "wrong" in bad.values()
    same = states(stream.poses(arm, config, measured[:1] * 3))
    assert same["poses"] == "warn", "three times the same shows nothing new"
