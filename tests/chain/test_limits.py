"""Random chains, random switching, random failures, under motion: every limit at every cycle."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ur_admittance as ua
from tests.chain.support import JointSource, Watched
from tests.support import arm, moved
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    Desired,
    PolicyLink,
    PositionForward,
    ScaledTrajectory,
    VelocityForward,
)

CHAINS = {
    "soft": ["soft", "soft forward"],
    "soft and policy": ["policy", "soft", "soft forward"],
    "stiff": ["stiff", "stiff forward"],
    "stiff and policy": ["policy", "stiff", "stiff forward"],
    "scaled": ["policy", "stiff", "trajectory"],
    "joints": ["source", "joint forward"],
    "joint positions": ["source", "joint position"],
}
LAWFUL = [name for name in CHAINS if not name.startswith("joint")]
WILD = np.array([1.0, -0.8, 1.5, 2.0, -2.5, 3.0])


class Broken(Exception):
    pass


def breakable(link: Any) -> Any:
    """The link, made to fail in a way when told to."""
    update = link.update

    def may_break(dt: float) -> str | None:
        if link.breaks == "raise":
            raise Broken("for a test")
        if link.breaks == "return":
            return "broken for a test"
        wrong = update(dt)
        if link.breaks == "nan":
            target = link._exports if hasattr(link, "_exports") else link._to
            target[2] = np.nan
        return wrong

    link.breaks, link.update = "", may_break
    return link


class Playground:
    """One manager with all links, an arm, and an oracle that shares no code with either."""

    def __init__(self, turn: list[float], room: list[float], chain: str) -> None:
        model = arm()
        q = model.home + np.array(turn)
        p_WP = model.fk(q)[:3, 3]
        box = {
            "limits.workspace_min": (p_WP - room[:3]).tolist(),
            "limits.workspace_max": (p_WP + room[3:]).tolist(),
        }
        soft = ua.Config.from_dict(box)
        stiff = ua.Config.from_dict(
            {
                **box,
                "admittance.stiffness": [300] * 3 + [20] * 3,
                "output.mode": "position",
                "limits.joint_acceleration": [4.2] * 6,  # the pace of the chain may take the rest
            }
        )
        self.low, self.high, self.config = p_WP - room[:3], p_WP + room[3:], soft
        self.desired: Desired | None = None
        self.manager = ControllerManager(model)
        links = [
            PolicyLink(lambda t, q, wrench: self.desired),
            AdmittanceLink(ua.Controller(model, soft), desired="policy", name="soft"),
            VelocityForward("soft", name="soft forward"),
            AdmittanceLink(ua.Controller(model, stiff), desired="policy", name="stiff"),
            PositionForward("stiff", name="stiff forward"),
            ScaledTrajectory("stiff"),
            JointSource(lambda t: WILD * np.sin(3 * t)),
            VelocityForward("source", name="joint forward"),
            PositionForward("source", name="joint position"),
        ]
        self.manager.load(*map(breakable, links))
        self.manager.switch(activate=CHAINS[chain])
        self.lawful = chain in LAWFUL
        self.loop = Watched(self.manager, q)

    def tick(self, wrench: Any, dt: float) -> None:
        loop, before = self.loop, self.loop.q
        loop.tick(wrench, dt)
        if not self.lawful:
            return
        V = loop.model.jacobian(before) @ ((loop.q - before) / dt)
        assert np.linalg.norm(V[:3]) <= self.config.max_linear_velocity * (1 + 2e-6) + 1e-9
        assert np.linalg.norm(V[3:]) <= self.config.max_angular_velocity * (1 + 2e-6) + 1e-9
        p_WP = loop.model.fk(loop.q)[:3, 3]
        assert (p_WP <= self.high + 1e-4).all()
        assert (p_WP >= self.low - 1e-4).all()

    def act(self, action: str, value: Any) -> None:
        manager = self.manager
        if action == "switch" and manager.mode != "stopped" and not manager.switching:
            manager.switch(activate=CHAINS[value], deactivate=manager.active)
            self.lawful = self.lawful and value in LAWFUL
        elif action == "break":
            link, how = value
            manager[link].breaks = how  # type: ignore[attr-defined]
        elif action == "mend":
            for name in manager.order:
                manager[name].breaks = ""  # type: ignore[attr-defined]
            if manager.mode == "stopped" and manager.at_rest:
                manager.recover()
        elif action == "aim":
            self.desired = Desired(moved(arm().fk(self.loop.q), value[:3], value[3:]))
        elif action == "steer":
            self.desired = Desired(None, value)
        elif action == "silence":
            self.desired = None
        elif action == "slide":
            manager.speed_scaling[0] = value
        elif action == "stop":
            manager.stop("a test")
        elif action == "start anew" and manager.mode != "stopped" and not self.loop.qd.any():
            manager.activate(self.loop.q)


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    logging.getLogger("ur_admittance.chain").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("ur_admittance.chain").setLevel(logging.NOTSET)


six = st.lists(st.floats(-1, 1), min_size=6, max_size=6).map(np.array)
pushes = st.tuples(
    st.just("push"), st.floats(0, 60), six, st.integers(1, 60), st.floats(4e-4, 9e-3)
)
breaks = st.tuples(
    st.sampled_from(
        ["policy", "soft", "soft forward", "stiff", "stiff forward", "trajectory", "source"]
    ),
    st.sampled_from(["raise", "return", "nan"]),
)


def actions(chains: list[str]) -> st.SearchStrategy:
    """Things that happen between pushes."""
    return st.one_of(
        st.tuples(st.just("switch"), st.sampled_from(chains)),
        st.tuples(st.just("break"), breaks),
        st.tuples(st.sampled_from(["mend", "silence", "stop", "start anew"]), st.none()),
        st.tuples(st.just("aim"), six.map(lambda v: 0.4 * v)),
        st.tuples(st.just("steer"), six.map(lambda v: 0.5 * v)),
        st.tuples(st.just("slide"), st.sampled_from([0.0, 0.01, 0.3, 1.0, np.nan])),
    )


def cases(chains: list[str]) -> dict[str, st.SearchStrategy]:
    return {
        "turn": st.lists(st.floats(-0.8, 0.8), min_size=6, max_size=6),
        "room": st.lists(st.floats(0.002, 0.3), min_size=6, max_size=6),
        "chain": st.sampled_from(chains),
        "todo": st.lists(st.tuples(pushes, actions(chains)), min_size=1, max_size=14),
    }


def play(turn, room, chain, todo) -> None:
    ground = Playground(turn, room, chain)
    for (_, force, axes, ticks, dt), (action, value) in todo:
        wrench = force * axes * [1, 1, 1, 0.1, 0.1, 0.1]
        for _ in range(ticks):
            ground.tick(wrench, dt)
        ground.act(action, value)
    ground.manager.speed_scaling[0] = 1.0
    ground.manager.stop("the end")
    for _ in range(3500):  # 5 s for a law to stop by itself, then the joints are braked
        ground.tick(np.zeros(6), 0.002)
        if ground.manager.at_rest:
            break
    assert ground.manager.at_rest
    at = ground.loop.q.copy()
    ground.tick(np.zeros(6), 0.002)
    np.testing.assert_allclose(ground.loop.q, at, atol=1e-9)


@settings(max_examples=20)
@given(**cases(sorted(CHAINS)))
def test_whatever_links_do_joint_limits_hold_and_the_command_never_jumps(turn, room, chain, todo):
    play(turn, room, chain, todo)


_NOW = ("push", 0.0, np.zeros(6), 1, 0.0078125)
_LATER = ("push", 0.0, np.zeros(6), 47, 0.0078125)
_SIDEWAYS = 0.4 * np.array([0.375, 0.0, -0.625, 0.0, 0.0, 0.0])


@pytest.mark.slow
@settings(max_examples=150)
@given(**cases(LAWFUL))
@example(  # one joint that had to slow down, and the others did not
    turn=[0.0] * 6,
    room=[0.15, 0.25, 0.25, 0.25, 0.25, 0.25],
    chain="stiff and policy",
    todo=[(_NOW, ("aim", _SIDEWAYS)), (_LATER, ("switch", "soft"))],
)
def test_chains_with_a_law_keep_the_tools_limits_through_switches_and_failures(
    turn, room, chain, todo
):
    play(turn, room, chain, todo)
