"""Nothing that comes by chance crashes the controller or holds it up; a slice of the soak."""

from __future__ import annotations

import random
import struct

from tests.ur_fake import fuzz
from tests.ur_fake.support import RtdeTalker, controller


def test_frames_by_chance_harm_nobody() -> None:
    chance = random.Random(1)
    with controller() as robot:
        honest = RtdeTalker(robot)
        honest.outputs("timestamp")
        honest.exchange("S")
        sent = 0
        while sent < 5000:
            client = RtdeTalker(robot, protocol=chance.choice((0, 1, 2)))
            for _ in range(100):
                client.send(fuzz.frames(chance))
                sent += 1
                client.step()
                if client.ended:
                    break
            client.close()
            honest.step()
        times = []
        while not times or times[-1] < robot.machine.time - 0.001:
            times.append(struct.unpack(">d", honest.data())[0])
        assert len(times) == round((times[-1] - times[0]) / 0.002) + 1
        assert len(robot.rtde.clients) <= 3


def test_scripts_by_chance_end_and_the_machine_goes_on() -> None:
    chance = random.Random(2)
    with controller() as robot:
        machine = robot.machine
        for _ in range(150):
            machine.load_script(fuzz.script(chance))
            before = machine.cycle
            for _ in range(10):
                robot.step()
            assert machine.cycle == before + 10
            machine.safety.protective = None
        machine.stop_program()
        machine.load_script("def fine():\n  write_output_integer_register(5, 42)\nend\n")
        for _ in range(10):
            robot.step()
        assert machine.output_int[5] == 42
