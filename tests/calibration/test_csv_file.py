"""Readings from a table of another program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration_cases import Bench, measure
from scipy.spatial.transform import Rotation

from tests.cli.support import invoke
from ur_admittance import CalibrationError, Config, RobotModel
from ur_admittance.calibration import csv_file
from ur_admittance.calibration.collect import sensor_axes
from ur_admittance.calibration.poses import choose

UR5E = RobotModel.ur("ur5e")
HEAD = "time,fx,fy,fz,tx,ty,tz,"
GOOD = "0,1,2,3,4,5,6,1,0,0,0"


def table(tmp_path: Path, *, joints: bool = False, degrees: bool = False) -> Path:
    """A CSV of eight poses, with motion between them."""
    rng, rows = np.random.default_rng(0), []
    turns = [way.goal for way in choose(UR5E, Config(), UR5E.home, count=8)]
    R_WS = np.array([sensor_axes(UR5E, q) for q in turns])
    time = 0.0
    for n, one in enumerate(measure(Bench(), rng, R_WS=R_WS)):
        wxyz = Rotation.from_matrix(one.R_WS).as_quat()[[3, 0, 1, 2]]
        pose = turns[n] * (57.3 if degrees else 1) if joints else wxyz
        for sample in one.samples[:, :]:
            time += 0.004
            rows.append([time, *sample, *pose])
    names = "q1,q2,q3,q4,q5,q6" if joints else "qw,qx,qy,qz"
    head = f"time,fx,fy,fz,tx,ty,tz,{names}\n"
    file = tmp_path / "table.csv"
    file.write_text(head + "\n".join(",".join(f"{x:.9g}" for x in row) for row in rows))
    return file


@pytest.mark.parametrize("joints", [False, True])
def test_a_table_of_another_program_can_be_used(joints: bool, tmp_path: Path) -> None:
    file = table(tmp_path, joints=joints)
    arm = ("--arm", "ur5e") if joints else ()
    done = invoke("calibrate", "--from", file, *arm, "--out", tmp_path / "p.yaml")
    assert done.exit_code == 0, done.output
    assert Config.load(tmp_path / "p.yaml").payload.mass == pytest.approx(1.2, rel=0.01)


def test_what_is_wrong_with_a_table_is_said_with_its_line(tmp_path: Path) -> None:
    file = table(tmp_path, joints=True, degrees=True)
    with pytest.raises(CalibrationError, match="are these degrees"):
        csv_file.read(file, UR5E)
    with pytest.raises(CalibrationError, match="say of which arm"):
        csv_file.read(file, None)
    text = file.read_text().splitlines()
    file.write_text("\n".join([text[0], text[1].replace(text[1].split(",")[1], "nine")]))
    with pytest.raises(CalibrationError, match=r"table\.csv:2: fx must be a number, got 'nine'"):
        csv_file.read(file, UR5E)
    file.write_text("time,fx\n1,2\n")
    with pytest.raises(CalibrationError, match="no column fy, fz, tx, ty, tz, qw"):
        csv_file.read(file, UR5E)


def written(file: Path, names: str, rows: np.ndarray, head: str = HEAD) -> Path:
    lines = [head + names, *(", ".join(map(repr, row)) for row in rows.tolist())]
    file.write_text("\n".join(lines), "utf-8-sig")  # as spreadsheets do
    return file


def test_orientations_are_taken_as_they_are_and_joints_as_the_arm_has_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    time, wrench = np.arange(5.0), rng.normal(size=(5, 6))
    R, q = Rotation.random(5, rng), rng.uniform(-3, 3, (5, 6))
    quaternions = R.as_quat(scalar_first=True)
    file = written(tmp_path / "r.csv", "qw,qx,qy,qz", np.column_stack([time, wrench, quaternions]))
    t, R_WS, w = csv_file.read(file, None)
    np.testing.assert_allclose(R_WS, R.as_matrix(), atol=1e-12)
    np.testing.assert_array_equal(t, time)
    np.testing.assert_array_equal(w, wrench)
    model = UR5E.with_tool(X_EP=np.eye(4), X_ES=_turned_sensor())
    file = written(tmp_path / "q.csv", "q1,q2,q3,q4,q5,q6", np.column_stack([time, wrench, q]))
    _, R_WS, _ = csv_file.read(file, model)
    expected = [model.fk(row)[:3, :3] @ _turned_sensor()[:3, :3] for row in q]
    np.testing.assert_allclose(R_WS, expected, atol=1e-12)


def _turned_sensor() -> np.ndarray:
    X_ES = np.eye(4)
    X_ES[:3, :3] = Rotation.from_rotvec([0.1, 0.4, -0.3]).as_matrix()
    return X_ES


def test_columns_may_come_in_any_order_with_others_between_them(tmp_path: Path) -> None:
    head = "qz,note,fz,fy,fx,tz,ty,tx,qw,qx,qy,time\n"
    file = tmp_path / "a.csv"
    file.write_text(head + "0,hello,3,2,1,6,5,4,1,0,0,0.5\n")
    time, R_WS, wrench = csv_file.read(file, None)
    np.testing.assert_array_equal(wrench, [[1, 2, 3, 4, 5, 6]])
    np.testing.assert_array_equal(R_WS, [np.eye(3)])
    assert time == [0.5]


def test_quaternions_of_another_length_an_empty_table_and_none_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "qw,qx,qy,qz", np.array([[0.0] * 7 + [2.0, 0, 0, 0]]))
    with pytest.raises(CalibrationError, match=r"a\.csv:2: orientation .* has length 2"):
        csv_file.read(file, None)
    for wrong, words in (
        ("nan", "fy must be a number, got 'nan'"),
        ("inf", "fy must be a number, got 'inf'"),
        ("", "fy must be a number, got ''"),
        ("9,9", "has more cells than the first line; write decimals with a point"),
    ):
        file.write_text(f"{HEAD}qw,qx,qy,qz\n{GOOD}\n{GOOD.replace('2', wrong)}\n")
        with pytest.raises(CalibrationError, match=rf"a\.csv:3: {words}"):
            csv_file.read(file, None)
    file.write_text(HEAD + "qw,qx,qy,qz\n")
    with pytest.raises(CalibrationError, match=r"a\.csv: has no rows"):
        csv_file.read(file, None)
    with pytest.raises(CalibrationError, match="cannot be read"):
        csv_file.read(tmp_path / "nowhere.csv", None)
