"""A simulated arm that pages push: arm and controller in a process of their own.

    python -m ur_admittance.cockpit.station ARM CONFIG [--real-time]

It hears lines of JSON on its standard input (`drag`, `push`, `reset`, `scene`, `play`) and tells
its life on the standard output. It ends when the other side closes, and never waits for it.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ur_admittance.blackboard import Blackboard
from ur_admittance.cockpit.pointer import MOST_FORCE, MOST_TORQUE, Pointer
from ur_admittance.cockpit.scenes import drawn, scene_of
from ur_admittance.config import Config
from ur_admittance.config.validate import as_numbers, pose
from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError
from ur_admittance.faults import StopReason
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.motion.base import Leading
from ur_admittance.motion.taught import SIMULATED_LATE, Path, Playing
from ur_admittance.realtime import Pace, RealTime
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import Scene, SimRobot, Tool, following
from ur_admittance.run import Run
from ur_admittance.run.assent import Assent
from ur_admittance.run.loop import RunError
from ur_admittance.run.signals import signals

TIP = 0.1  # m from the flange, where the sensor sits, to P
MASS, COM = 0.8, (0.0, 0.0, 0.05)  # kg, and m from the sensor: what the sensor weighs
_SETTLE = 500  # cycles in which an arm that was just built comes to rest in its servos
_TELL = 15  # cycles between two words of what the hand does
_FIT = {  # what this arm and tool are
    "payload.mass": MASS,
    "payload.center_of_mass": COM,
    "limits.workspace_min": (0.25, -0.30, 0.10),
    "limits.workspace_max": (0.62, 0.45, 0.62),
    "arm.lag": 0.02,
    "arm.delay": 0.006,
}
_TOUCHING = {"contact.adapt": True, "contact.monitor": True}  # where there is something to touch


def model_of(name: str) -> RobotModel:
    """The arm with its tool."""
    return RobotModel.ur(name, X_EP=pose((0.0, 0.0, TIP)), X_ES=np.eye(4))


def fitted(config: Config) -> Config:
    """A configuration for this arm and tool: what is not said in it is set."""
    plain = Config().flat()
    mine = config.flat()
    return config.replace({k: v for k, v in _FIT.items() if mine[k] == plain[k]})


class Station:
    """One simulated arm, from its first tick to the end of its process."""

    def __init__(self, name: str, config: Config, *, real_time: bool = False) -> None:
        self.model = model_of(name)
        self.config, self._following = fitted(config), following(config.arm)
        self.pointer = Pointer()
        self.over = self.reset = False
        self.plan: Mapping[str, Any] | None = None  # the path that is wanted to be played
        self.replan = False  # that wish has changed: the arm comes to rest, and begins anew
        self.wish: Mapping[str, Any] | None = None  # of another scene
        self._real_time = real_time
        self._heard, self._count, self._quiet = b"", 0, True
        os.set_blocking(sys.stdin.fileno(), False)
        os.set_blocking(sys.stdout.fileno(), False)

    def live(self) -> None:
        """Simulate and control until nobody listens any more."""
        controller = Controller(self.model, self.config)
        name = f"sim:{self.model.name}"
        q, scene = np.array(self.model.home), Scene()
        with (
            signals() as asked,
            Blackboard.create(name, 500.0, controller.live) as board,
        ):
            while not (asked or self.over):
                self.pointer = Pointer()  # an arm's time begins with it, and so do its pushes
                arm = SimRobot(
                    self.model,
                    scene=scene,
                    tool=Tool(radius=0.015, mass=MASS, com=COM),
                    hand=self.hand,
                    q0=q,
                    realtime=self._real_time,
                    **self._following,
                )
                self.say(scene=drawn(scene))
                with arm:
                    for _ in range(_SETTLE):
                        arm.wait()
                    why = self._move(arm, controller, board, asked)
                    q = np.array(arm.wait().q)
                if self.wish is not None:
                    scene = self._scene(scene, q)
                    if scene.shapes:
                        controller.set(_TOUCHING)
                elif why == "broken":
                    q = np.array(self.model.home)

    def _move(self, arm: SimRobot, controller: Controller, board: Blackboard, asked: Any) -> str:
        """One arm, through runs, stops and resets, until it is broken or replaced."""
        pace = None if self._real_time else Pace(arm.clock, 1.0, asked)
        playing: Playing | None = None

        def each(state: State, out: np.record) -> None:
            if pace is not None:
                pace()
            if playing is not None:
                Leading(controller, playing)()
                self._go_on(playing)
            if self.over or self.wish is not None or self.replan:
                controller.deactivate()

        while not (asked or self.over or self.wish is not None):
            self.reset = self.replan = False
            board.take_params(controller.live)
            playing = self._begin(controller)
            self.say(state="running")
            try:
                run = Run(
                    arm,
                    controller=controller,
                    board=board,
                    assent=Assent("page"),
                    real_time=RealTime() if self._real_time else None,
                    each=each,
                )
                summary = run.drive()
                if self.replan and summary.reason is None:
                    continue
            except RunError:
                pass  # the board has its reason
            except AdmittanceError as error:  # it was not begun
                board.reason = StopReason.of("error", str(error))
            if asked or self.over or self.wish is not None:
                break
            self.say(state="stopped", playing={})
            fine = self._rest(arm, controller, board, pace, asked)
            self.plan = None
            if not fine:
                return "broken"
        self.plan = None
        return ""

    def _begin(self, controller: Controller) -> Playing | None:
        """What plays the path that is wanted; None if none is, or it cannot be played."""
        plan, playing = self.plan, None
        if plan is not None:
            try:
                path = Path.load(plan["file"])
                path = path.there_and_back() if plan["back"] else path
                config = controller.config
                late = config.arm.lag + config.arm.delay or SIMULATED_LATE
                playing = Playing(path, self.model, config, plan["speed"], late=late)
            except (AdmittanceError, OSError) as error:
                self.plan = None
                self.say(problem=str(error))
        self._tell_playing(playing)
        return playing

    def _go_on(self, playing: Playing) -> None:
        """Tell how far it is; its end is told once."""
        if self.plan is None:
            return
        if playing.outcome:
            name, self.plan = self.plan["name"], None
            self.say(playing={}, done=f"{name}: {playing.outcome}")
        elif self._count % _TELL == 0:
            self._tell_playing(playing)

    def _tell_playing(self, playing: Playing | None) -> None:
        if playing is None or self.plan is None:
            self.say(playing={})
        else:
            done = round(playing.done, 3)
            self.say(playing={"name": self.plan["name"], "begun": playing.begun, "done": done})

    def _rest(
        self, arm: SimRobot, controller: Controller, board: Blackboard, pace: Any, asked: Any
    ) -> bool:
        """Stand still, and show it, until a reset; False if the arm has to be built anew."""
        try:
            while not (self.reset or asked or self.over or self.wish is not None):
                state = arm.wait()
                controller.update(state.q, state.wrench, 1.0 / arm.rate)
                board.publish(controller.outputs)
                if pace is not None:
                    pace()
        except AdmittanceError:  # the simulated arm's own protective stop: from its home again
            while not (self.reset or asked or self.over):
                select.select([sys.stdin], [], [], 0.1)
                self._listen()
            return False
        return True

    def _scene(self, scene: Scene, q: np.ndarray) -> Scene:
        wish, self.wish = self.wish, None
        try:
            return scene_of(wish or {}, self.model.fk(q)[:3, 3])
        except AdmittanceError as error:
            self.say(problem=str(error))
            return scene

    # --- the other side ---

    def hand(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        """The `Hand` of the arm: once a cycle it listens, and tells how it pushes."""
        self._listen()
        wrench = self.pointer(t, X_WP, V_WP)
        self._count += 1
        if self._count % _TELL == 0:
            still = not wrench.any()
            if not (still and self._quiet):
                self.say(hand=wrench.round(3).tolist())
            self._quiet = still
        return wrench

    def say(self, **words: Any) -> None:
        """Tell the other side, if it listens."""
        try:
            os.write(sys.stdout.fileno(), json.dumps(words).encode() + b"\n")
        except BlockingIOError:
            self._quiet = False  # it does not read: tell it again later
        except OSError:
            self.over = True

    def _listen(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), 65536)
        except BlockingIOError:
            return
        if not data:
            self.over = True
            return
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, words: Mapping[str, Any]) -> None:
        if "drag" in words:
            self.pointer.drag(as_numbers(words["drag"], "drag", (3,), unit="m"))
        if "release" in words:
            self.pointer.release()
        if "push" in words:
            wrench = np.array(as_numbers(words["push"], "push", (6,), unit="N, Nm"))
            wrench[LINEAR] = np.clip(wrench[LINEAR], -MOST_FORCE, MOST_FORCE)
            wrench[ANGULAR] = np.clip(wrench[ANGULAR], -MOST_TORQUE, MOST_TORQUE)
            self.pointer.push(wrench, min(float(words.get("seconds", 1.0)), 5.0))
        if "reset" in words:
            self.reset = True
        if "scene" in words:
            self.wish = words["scene"]
        if "play" in words:  # None ends it
            self.plan, self.replan = words["play"], True


def main() -> None:
    parser = argparse.ArgumentParser(prog="ur_admittance.cockpit.station")
    parser.add_argument("arm")
    parser.add_argument("config")
    parser.add_argument("--real-time", action="store_true")
    given = parser.parse_args()
    name = given.config
    try:
        if name.startswith("preset:"):
            config = Config.preset(name.removeprefix("preset:"))
        else:
            config = Config.load(name)
        Station(given.arm, config, real_time=given.real_time).live()
    except AdmittanceError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
