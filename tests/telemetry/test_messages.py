"""The bytes are what other people's decoders make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from scipy.spatial.transform import Rotation

from tests.telemetry.runs import summary_of
from ur_admittance import faults
from ur_admittance.kernel import bits
from ur_admittance.telemetry import messages

EACH_TICK = [t for t in messages.TOPICS if t not in (messages.STATUS, messages.PARAMETERS)]


def by_mcap(path: Path) -> dict[str, list]:
    """(log time, message) by topic, as mcap-ros2-support decodes them."""
    found: dict[str, list] = {topic: [] for topic in messages.TOPICS}
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            found[channel.topic].append((message.log_time, decoded))
    return found


def by_rosbags(path: Path) -> dict[str, list]:
    """Likewise, by rosbags."""
    found: dict[str, list] = {topic: [] for topic in messages.TOPICS}
    with AnyReader([path]) as reader:
        for connection, time, data in reader.messages():
            found[connection.topic].append((time, reader.deserialize(data, connection.msgtype)))
    return found


@pytest.fixture(scope="module", params=[by_mcap, by_rosbags])
def decoded(request, run) -> dict[str, list]:
    return request.param(run.path)


def vector(part) -> list[float]:
    return [part.x, part.y, part.z]


def numbers(topic: str, message) -> list[float]:
    """All numbers of a message in the order of our fields."""
    if topic.startswith("/wrench"):
        return vector(message.wrench.force) + vector(message.wrench.torque)
    if topic.endswith("_pose"):
        q = message.pose.orientation
        return [*vector(message.pose.position), q.w, *vector(q)]
    if topic == "/cartesian_velocity_command":
        return vector(message.twist.linear) + vector(message.twist.angular)
    return [*message.position, *message.velocity, *message.effort]


@pytest.mark.parametrize(
    ("topic", "field"),
    [
        ("/wrench_raw", "wrench"),
        ("/wrench_compensated", "F_S_comp"),
        ("/wrench_probe", "F_P"),
        ("/cartesian_velocity_command", "V_WP_cmd"),
    ],
)
def test_vectors_arrive_to_the_bit_and_nan_as_nan(decoded, run, topic, field):
    got = np.array([numbers(topic, message) for _, message in decoded[topic]])
    assert got.tobytes() == np.ascontiguousarray(run.records[field]).tobytes()
    assert np.isnan(got).any() == (topic == "/wrench_raw")


def test_joints_arrive_to_the_bit(decoded, run):
    measured = np.array([numbers("", message) for _, message in decoded["/joint_states"]])
    assert measured.tobytes() == np.ascontiguousarray(run.records["inputs"]["q"]).tobytes()
    commanded = np.array([numbers("", message) for _, message in decoded["/joint_command"]])
    both = np.concatenate([run.records["q_ref"], run.records["qd"]], axis=1)
    assert commanded.tobytes() == both.tobytes()
    for topic in ("/joint_states", "/joint_command"):
        assert tuple(decoded[topic][-1][1].name) == run.model.joint_names


@pytest.mark.parametrize(
    ("topic", "field"),
    [("/measured_pose", "X_WP"), ("/commanded_pose", "X_WC"), ("/desired_pose", "X_WD")],
)
def test_poses_arrive_and_their_quaternions_do_not_jump(decoded, run, topic, field):
    got = np.array([numbers(topic, message) for _, message in decoded[topic]])
    X = run.records[field]
    assert got[:, :3].tobytes() == np.ascontiguousarray(X[:, :3, 3]).tobytes()
    R = Rotation.from_quat(got[:, 3:], scalar_first=True).as_matrix()
    np.testing.assert_allclose(R, X[:, :3, :3], atol=1e-15)
    assert np.abs(np.diff(got[:, 3:], axis=0)).max() < 0.05


def test_frames_are_those_of_the_model_and_the_configuration(decoded, run):
    def frame(topic: str) -> str:
        return decoded[topic][0][1].header.frame_id

    assert {frame(t) for t in messages.TOPICS if t.endswith("_pose")} == {run.model.base}
    assert frame("/cartesian_velocity_command") == run.model.base
    assert frame("/wrench_raw") == frame("/wrench_compensated") == run.config.ft_frame
    assert frame("/wrench_probe") == run.config.tip


def test_ticks_arrive_to_the_bit(decoded, run):
    got = b"".join(bytes(message.data) for _, message in decoded[messages.TICK])
    assert got == run.records.tobytes()


def test_stamps_rise_are_spaced_as_the_states_came_and_equal_the_log_times(decoded, run):
    arrived = run.records["timing"]["arrived"]
    times = np.array([time for time, _ in decoded["/tick"]])
    assert np.abs(np.diff(times) - 1e9 * np.diff(arrived)).max() < 2.0
    for topic in EACH_TICK:
        assert [time for time, _ in decoded[topic]] == times.tolist()
        if topic != messages.TICK:
            stamps = [message.header.stamp for _, message in decoded[topic]]
            assert [s.sec * 10**9 + s.nanosec for s in stamps] == times.tolist()


def test_the_status_is_there_when_it_changes_and_once_a_second(decoded, run):
    status, mode = run.records["status"], run.records["mode"]
    times = [time for time, _ in decoded["/tick"]]
    said = decoded[messages.STATUS]
    changes = 1 + np.flatnonzero((np.diff(status) != 0) | (np.diff(mode) != 0))
    assert {times[0], *(times[k] for k in changes)} <= {time for time, _ in said}
    assert len(said) <= 1 + len(changes) + len({time // 10**9 for time in times})
    for time, message in said:
        (one,) = message.status
        values = {pair.key: pair.value for pair in one.values}
        k = times.index(time)
        assert int(values["status"]) == status[k]
        on = {name for name, value in values.items() if value == "1"} - {"status"}
        assert on == set(faults.names_of(status[k]))
        assert one.hardware_id == "sim"
    everything = " ".join(message.status[0].message for _, message in said)
    assert "wrench_not_finite: a wrench sample was NaN" in everything
    assert "stop_requested" in everything


@pytest.mark.parametrize(
    ("status", "level"),
    [(0, 0), (bits.SPEED_LIMIT, 1), (bits.WRENCH_SPIKE, 1), (bits.WRENCH_STALE, 2)],
)
def test_the_level_tells_how_serious_it_is(status, level):
    from mcap_ros2._dynamic import generate_dynamic

    kind = messages.DIAGNOSTICS
    decode = generate_dynamic(kind, messages.definition(kind))[kind]
    message = decode(messages.diagnostics(1_500_000_000, "sim", bits.ACTIVE, status))
    assert message.status[0].level == level
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 500_000_000)


def test_parameters_are_there_at_each_change_and_at_the_start_of_each_chunk(decoded, run):
    said = [(time, message.data) for time, message in decoded[messages.PARAMETERS]]
    generations = [messages.parameters_of(text)[0] for _, text in said]
    assert generations == sorted(generations) and set(generations) == set(range(5))
    assert '"admittance.filter_cutoff_hz": 35.0,\n' in said[-1][1], "one parameter on each line"
    times = [time for time, _ in decoded["/tick"]]
    generation = run.records["inputs"]["generation"]
    first = {number: times[int(np.argmax(generation == number))] for number in range(5)}
    starts = [chunk.message_start_time for chunk in summary_of(run.path).chunk_indexes]
    assert {time for time, _ in said} == {*first.values(), *starts}
