"""What is read back is what was published; what is not a recording is refused in one sentence."""

from __future__ import annotations

import ast
import dataclasses
import sys

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.writer import Writer

import ur_admittance as ua
from tests.telemetry.runs import CHANGES, summary_of
from ur_admittance.kernel import layout
from ur_admittance.telemetry import mcap_file
from ur_admittance.telemetry.recording import model_from_json, model_to_json, read
from ur_admittance.telemetry.salvage import sealed


def test_records_come_back_bit_for_bit(run):
    recording = read(run.path)
    assert recording.records.dtype == layout.OUTPUTS
    assert recording.records.tobytes() == run.records.tobytes()
    assert np.isnan(recording.records["wrench"]).any()
    assert (recording.lost, recording.finished) == (0, True)
    assert recording.summary == {"ticks": len(run.records)}
    assert (recording.robot, recording.rate) == ("sim", 500.0)
    assert recording.version == ua.__version__


def test_the_configuration_of_every_generation_comes_back(run):
    recording = read(run.path)
    assert recording.config == run.config
    expected, config = [], run.config
    for generation, (change,) in enumerate(CHANGES.values(), 1):
        config = config.replace(change)
        expected.append((generation, config))
    assert list(recording.changes) == expected


TOOL = np.array([[0, -1.0, 0, 0.01], [1, 0, 0, 0.02], [0, 0, 1, 0.1], [0, 0, 0, 1]])


@pytest.mark.parametrize("name", ua.RobotModel.arms())
@pytest.mark.parametrize("tool", [None, TOOL])
def test_a_model_comes_back_exactly(name, tool):
    model = ua.RobotModel.ur(name, X_EP=tool)
    back = model_from_json(model_to_json(model))
    for part in dataclasses.fields(model):
        one, other = getattr(model, part.name), getattr(back, part.name)
        if part.name == "links":
            for link, copy in zip(one, other, strict=True):
                assert (link.name, link.mass) == (copy.name, copy.mass)
                assert link.com.tobytes() == copy.com.tobytes()
                assert link.inertia.tobytes() == copy.inertia.tobytes()
        elif isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
        else:
            assert one == other


def test_the_file_alone_tells_how_to_decode_a_tick(run):
    with run.path.open("rb") as file:
        reader = make_reader(file)
        about, again = (m.metadata for m in reader.iter_metadata() if m.name == "ur_admittance")
        assert about == again, "at both ends, should one be damaged"
        kind = np.dtype(ast.literal_eval(about["outputs"]))
        for k, (_, _, message) in enumerate(reader.iter_messages(["/tick"])):
            (record,) = np.frombuffer(message.data[16:], kind)
            assert record["qd"].tobytes() == run.records["qd"][k].tobytes()
            assert record["inputs"]["dt"] == run.records["inputs"]["dt"][k]


def test_a_file_cut_anywhere_gives_all_its_whole_chunks(run, tmp_path):
    data = run.path.read_bytes()
    chunks = summary_of(run.path).chunk_indexes
    ends = [chunk.chunk_start_offset + chunk.chunk_length for chunk in chunks]
    cut, counts = tmp_path / "cut.mcap", []
    for size in (*ends, *(end - 1 for end in ends), len(data) - 10, len(data) // 2):
        cut.write_bytes(data[:size])
        recording = read(cut)
        assert not recording.finished or size == len(data) - 10
        n = len(recording.records)
        assert recording.records.tobytes() == run.records[:n].tobytes()
        counts.append(n)
    assert counts[: len(ends)] == sorted(counts[: len(ends)])
    assert counts[len(ends) - 1] == len(run.records)
    assert counts[len(ends) : 2 * len(ends)] == [0, *counts[: len(ends) - 1]]


def test_a_recording_of_another_version_keeps_what_both_know(run, tmp_path, monkeypatch):
    fields = [f for f in layout.OUTPUTS.descr if f[0] != "sigma"]
    other = np.dtype((np.record, [("extra", "<f8", (2,)), *fields]))
    monkeypatch.setattr(layout, "OUTPUTS", other)
    recording = read(run.path)
    assert recording.records.dtype == other
    assert recording.records["qd"].tobytes() == np.ascontiguousarray(run.records["qd"]).tobytes()
    assert recording.records["inputs"]["q"].tolist() == run.records["inputs"]["q"].tolist()
    assert not recording.records["extra"].any()


def test_what_is_no_recording_is_refused(tmp_path):
    with pytest.raises(ua.RobotError, match=r"none\.mcap: cannot be read: No such file"):
        read(tmp_path / "none.mcap")
    with pytest.raises(ua.RobotError, match="cannot be read: Is a directory"):
        read(tmp_path)
    other = tmp_path / "other"
    for text in ("", "just a text, and a longer one than the magic"):
        other.write_text(text)
        with pytest.raises(ua.RobotError, match="not an MCAP file"):
            read(other)
    with other.open("wb") as file:
        writer = Writer(file)
        writer.start()
        writer.finish()
    with pytest.raises(ua.RobotError, match="not one of ur-admittance's"):
        read(str(other))


def test_a_file_that_speaks_nonsense_of_itself_is_refused(tmp_path):
    path = tmp_path / "odd.mcap"
    file = mcap_file.McapFile(path, "a test")
    nonsense = {"outputs": "[('tick', '<i8')]", "robot": "sim"}
    file.add_metadata("ur_admittance", sealed(nonsense))
    file.finish()
    with pytest.raises(ua.RobotError, match="cannot be understood"):
        read(path)


def test_without_the_library_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcap", None)
    with pytest.raises(ua.RobotError, match=r'pip install "ur-admittance\[record\]"'):
        mcap_file.library()
