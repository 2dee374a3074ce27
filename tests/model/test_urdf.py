"""URDFs: read, written, and refused with the reason."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.model.support import message, random_transform
from ur_admittance.config.validate import transform
from ur_admittance.errors import AdmittanceError, ModelError
from ur_admittance.model import RobotModel

ARMS = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")

URDF = RobotModel.ur("ur5e").to_urdf()


def test_a_urdf_is_read_from_text_path_and_file_name(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    for source in (URDF, f"\n  {URDF}", file, str(file)):
        assert RobotModel.from_urdf(source).name == "ur5e"


@pytest.mark.parametrize("name", ARMS)
def test_what_we_write_we_read_back(name: str) -> None:
    model = RobotModel.ur(name, X_EP=random_transform(7))
    again = RobotModel.from_urdf(model.to_urdf(), X_EP=model.X_EP, joint_acceleration=model.qdd_max)
    assert (again.name, again.base, again.tip) == (model.name, model.base, model.tip)
    assert again.joint_names == model.joint_names
    for field in ("X_chain", "q_min", "q_max", "qd_max", "qdd_max", "tau_max", "X_EP", "X_ES"):
        np.testing.assert_allclose(
            getattr(again, field), getattr(model, field), rtol=0, atol=1e-14, err_msg=field
        )
    for ours, theirs in zip(again.links, model.links, strict=True):
        assert ours.name == theirs.name and ours.mass == theirs.mass
        np.testing.assert_allclose(ours.com, theirs.com, atol=1e-15)
        np.testing.assert_allclose(ours.inertia, theirs.inertia, atol=1e-15)


def test_a_probe_is_written_only_where_there_is_a_tool() -> None:
    assert '"probe"' not in URDF
    assert '<link name="probe" />' in RobotModel.ur("ur5e", X_EP=transform([0, 0, 1])).to_urdf()


def test_elements_with_a_prefix_that_was_never_declared_are_somebody_elses() -> None:
    strange = "<drake:proximity><drake:mu value='0.5'/></drake:proximity></link>"
    told = RobotModel.from_urdf(broken("</link>", strange, 3), base="base_link", tip="tool0")
    plain = RobotModel.from_urdf(URDF, base="base_link", tip="tool0")
    assert np.array_equal(told.X_chain, plain.X_chain) and told.joint_names == plain.joint_names


def test_names_that_meet_are_kept_apart() -> None:
    """The last link may be the tip, and a link may be called probe already."""
    model = RobotModel.from_urdf(URDF, tip="wrist_3_link", X_EP=transform([0, 0, 1]))
    text = model.to_urdf()
    assert '"wrist_3_link_"' in text
    q = np.arange(6.0)
    again = RobotModel.from_urdf(text, tip="wrist_3_link", X_EP=transform([0, 0, 1]))
    np.testing.assert_allclose(again.fk(q), model.fk(q), atol=1e-13)
    clash = RobotModel.from_urdf(URDF.replace("tool0", "probe"), tip="probe", X_EP=model.X_EP)
    assert '"probe_"' in clash.to_urdf()


def test_a_urdf_without_inertias_makes_a_model_without_links() -> None:
    text = URDF.replace("<mass value", "<weight value")
    model = RobotModel.from_urdf(text)
    assert model.links == ()
    assert RobotModel.from_urdf(model.to_urdf()).links == ()
    assert "kg" not in repr(model)


def test_a_continuous_joint_has_no_position_limits() -> None:
    model = RobotModel.from_urdf(URDF.replace('"revolute"', '"continuous"'))
    assert (model.q_min == -np.inf).all() and (model.q_max == np.inf).all()
    assert 'type="continuous"' in model.to_urdf()


def test_an_effort_that_is_not_given_is_no_limit() -> None:
    model = RobotModel.from_urdf(URDF.replace("effort=", "weight="))
    assert (model.tau_max == np.inf).all()
    assert 'effort="1000000000.0"' in model.to_urdf()


def test_acceleration_comes_from_the_caller() -> None:
    assert (RobotModel.from_urdf(URDF).qdd_max == 10).all()
    six = [1, 2, 3, 4, 5, 6]
    assert RobotModel.from_urdf(URDF, joint_acceleration=six).qdd_max.tolist() == six
    for wrong in (0, -1, math.nan, "fast", [1, 2], [[1], [1, 2]], None, True):
        assert "acceleration" in message(
            RobotModel.from_urdf, URDF, joint_acceleration=wrong
        ) or "qdd_max" in message(RobotModel.from_urdf, URDF, joint_acceleration=wrong)


def test_home_of_any_other_arm_is_zero_put_inside_the_limits() -> None:
    text = URDF.replace("elbow_joint", "knee_joint").replace(
        'lower="-3.141592653589793"', 'lower="0.5"'
    )
    assert RobotModel.from_urdf(text).home.tolist() == [0, 0, 0.5, 0, 0, 0]


def test_an_axis_that_is_nearly_of_length_one_is_put_right() -> None:
    text = URDF.replace('<axis xyz="0 0 1" />', '<axis xyz="0 0 1.0009" />')
    q = np.arange(6.0)
    np.testing.assert_allclose(
        RobotModel.from_urdf(text).fk(q), RobotModel.ur("ur5e").fk(q), atol=1e-13
    )


def test_meshes_and_other_elements_are_not_looked_at() -> None:
    noise = """<gazebo reference="x"><material>Red</material></gazebo>
      <material name="m"><color rgba="a b c d"/></material>
      <transmission name="t"><joint name="elbow_joint"/></transmission>
      <ros2_control name="c" type="system"><joint name="elbow_joint"/></ros2_control>"""
    mesh = """<visual><origin xyz="1"/><geometry><mesh filename="package://no/such.dae"/>
      </geometry></visual><inertial>"""
    text = URDF.replace("</robot>", f"{noise}</robot>").replace("<inertial>", mesh)
    q = np.arange(6.0)
    np.testing.assert_allclose(
        RobotModel.from_urdf(text).fk(q), RobotModel.ur("ur5e").fk(q), atol=1e-13
    )


def test_what_the_first_line_says_of_the_encoding_of_a_text_does_not_matter() -> None:
    text = URDF.replace("utf-8", "utf-16").replace('"ur5e"', '"мой ur5e"')
    assert RobotModel.from_urdf(text).name == "мой ur5e"


def broken(old: str, new: str, count: int = 1) -> str:
    assert old in URDF
    return URDF.replace(old, new, count)


ELBOW = '<joint name="elbow_joint" type="revolute">'

LIMIT = ' velocity="3.141592653589793"'

LAUGHS = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
  <!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">
  <!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;"><!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;">
  ]><robot name="&g;"><link name="&g;"/></robot>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "cannot be read"),
        ("no_such_arm.urdf", "'no_such_arm.urdf': cannot be read (No such file"),
        (Path("."), "cannot be read"),
        (b"<robot/>", "cannot be read"),
        (None, "cannot be read"),
        ("<robot", "this is no XML"),
        (broken("</link>", "</lnik>"), "this is no XML: Opening and ending tag mismatch"),
        (broken("</link>", "</lnik>"), "line 10, column"),
        ("\n\n" + broken("</link>", "</lnik>"), "line 12, column"),
        ("<robot/><robot/>", "this is no XML"),
        ("<a>" * 5000, "this is no XML"),
        ("<robot name='\0'/>", "this is no XML"),
        (LAUGHS, "URDF: "),
        ("<!DOCTYPE robot SYSTEM 'file:///etc/hostname'><robot name='x'/>", "DOCTYPE"),
        ("<html/>", "line 1: expected <robot>, got <html>"),
        ("<robot name='x' xmlns:xacro='http://x/xacro'><xacro:arm/></robot>", "run it through"),
        ("<robot/>", "line 1: <robot> has no name"),
        ("<robot name='x'/>", "no link 'base_link' to be the base"),
        (broken('<link name="forearm_link">', "<link>"), "<link> has no name"),
        (broken(ELBOW, '<joint type="revolute">'), "<joint> has no name"),
        (
            broken('<link name="tool0" />', '<link name="base_link" />'),
            "2 links are called 'base_link'",
        ),
        (broken("elbow_joint", "wrist_1_joint"), "2 joints are called 'wrist_1_joint'"),
        (
            broken('<parent link="upper_arm_link" />', ""),
            "the parent of joint 'elbow_joint' is None",
        ),
        (
            broken('<child link="forearm_link" />', '<child link="foram_link" />'),
            "the child of joint 'elbow_joint' is 'foram_link', which is no link"
            "; did you mean forearm_link?",
        ),
        (
            broken('<child link="tool0" />', '<child link="forearm_link" />'),
            "link 'forearm_link' is the child of two joints, 'elbow_joint' and 'wrist_3_link-",
        ),
        (
            broken('xyz="-0.425 0.0', 'xyz="nan 0.0'),
            "xyz='nan 0.0 0.0' of <joint/origin> must be 3",
        ),
        (broken('xyz="-0.425 0.0', 'xyz="1e999 0.0'), "must be 3 finite numbers"),
        (broken('xyz="-0.425 0.0', 'xyz="0.0'), "must be 3 finite numbers"),
        (broken('xyz="-0.425 0.0', 'xyz="${a2} 0.0'), "must be 3 finite numbers"),
        (
            broken(LIMIT, ' velocity="fast"'),
            "velocity='fast' of <joint/limit> must be 1 finite number",
        ),
        (broken(LIMIT, ""), "joint 'shoulder_pan_joint': no velocity limit"),
        (broken(LIMIT, ' velocity="0"'), "joint 'shoulder_pan_joint': qd_max is 0.0"),
        (broken(' lower="-6.283185307179586"', ""), "needs position limits"),
        (broken(' lower="-6.283185307179586"', ' lower="7"'), "position limits are 7.0 to 6.28"),
        (broken('value="8.058"', 'value="-8.058"'), "link 'upper_arm_link': mass is -8.058"),
        (broken('value="8.058"', 'value="heavy"'), "of <link/inertial/mass> must be 1 finite"),
        (
            broken("0 0 1", "0 0 0"),
            "axis of joint 'shoulder_pan_joint' is [0.0, 0.0, 0.0], of length 0",
        ),
        (broken("0 0 1", "0 0 2"), "of length 2; it must have length 1"),
        (broken('"revolute"', '"prismatic"'), "joint 'shoulder_pan_joint' is prismatic"),
        (broken('"revolute"', '"floating"'), "joint 'shoulder_pan_joint' is floating"),
        (broken(' type="revolute"', ""), "joint 'shoulder_pan_joint' is None"),
        (broken(ELBOW, f'{ELBOW}<mimic joint="wrist_1_joint" />'), "'elbow_joint' mimics another"),
        (
            broken('"revolute"', '"fixed"'),
            "5 moving joints from 'base_link' to 'tool0' (shoulder_lift_joint, elbow_joint,",
        ),
        (
            broken(
                'name="wrist_3_link-tool0" type="fixed"', 'name="seventh" type="continuous"'
            ).replace("</joint>\n</robot>", f'<axis xyz="0 0 1"/><limit{LIMIT}/></joint></robot>'),
            "7 moving joints from 'base_link' to 'tool0'",
        ),
    ],
)
def test_a_urdf_that_cannot_be_used_says_why(text, expected: str) -> None:
    assert expected in message(RobotModel.from_urdf, text)


def test_an_unknown_link_is_answered_with_those_there_are() -> None:
    said = message(RobotModel.from_urdf, URDF, tip="tool")
    assert "no link 'tool' to be the tip" in said and "did you mean tool0?" in said
    assert "wrist_3_link" in said and "base_link" in said
    assert "to be the base" in message(RobotModel.from_urdf, URDF, base="world")


def test_the_base_must_be_above_the_tip() -> None:
    said = message(RobotModel.from_urdf, URDF, base="tool0", tip="base_link")
    assert "'tool0' is not above 'base_link'" in said
    assert "0 moving joints" in message(RobotModel.from_urdf, URDF, base="tool0", tip="tool0")


def test_a_urdf_that_bites_its_tail_is_refused() -> None:
    tail = '<joint name="tail" type="fixed"><parent link="tool0"/><child link="base_link"/></joint>'
    text = URDF.replace("</robot>", f'<link name="world"/>{tail}</robot>')
    assert "is not above" in message(RobotModel.from_urdf, text, base="world")


def test_every_error_is_one_of_ours() -> None:
    assert issubclass(ModelError, AdmittanceError)


def test_a_joint_without_a_speed_in_the_urdf_takes_the_one_that_is_given():
    text = RobotModel.ur("ur3e").to_urdf()
    lines = [line for line in text.splitlines() if "<limit" not in line or "lower" in line]
    bare = "\n".join(lines)
    assert "joint_velocity" in message(RobotModel.from_urdf, bare)
    model = RobotModel.from_urdf(bare, joint_velocity=2.0)
    assert model.qd_max[5] == 2.0
    assert np.isinf(model.q_max[5])
