"""`ur-admittance teach` and `play`: led once, played again, in real processes."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from scipy.spatial import KDTree

from tests.cli.support import PUSHED, attached, invoke, until
from ur_admittance.blackboard import Blackboard, Reader
from ur_admittance.motion import lesson as lessons
from ur_admittance.motion.lesson import Lesson
from ur_admittance.motion.taught import Path
from ur_admittance.telemetry.recording import read

STILL = {"times": [0.0, 1.0], "poses": [[0.4, 0.1, 0.4, 1, 0, 0, 0]] * 2}


@pytest.mark.slow
def test_a_path_taught_beside_a_run_is_played_slower_there_and_back_within_2_mm(
    start, tmp_path, monkeypatch
) -> None:
    run = start(*PUSHED, "--json")
    reader = attached(run)
    file, recorded = tmp_path / "path.json", tmp_path / "played.mcap"
    firsts: list[int] = []

    class Noted(Lesson):
        """A lesson of which it is known when it began."""

        def __init__(self, reader: Reader) -> None:
            super().__init__(reader)
            firsts.append(reader.index)

    monkeypatch.setattr(lessons, "Lesson", Noted)

    def end() -> None:  # after a push, forth or back
        try:
            until(lambda: firsts and reader.index > firsts[0] + 1200)
        finally:
            reader.stop("taught")

    ending = threading.Thread(target=end)
    ending.start()
    taught = invoke("teach", file, "--json")  # until the run is over
    ending.join()
    assert taught.exit_code == 0, taught.output
    path = Path.load(file)
    assert path.metres > 0.1
    said = {"file": str(file), "seconds": path.seconds, "metres": path.metres}
    assert json.loads(taught.stdout) == pytest.approx(said)

    options = ("--speed", "0.6", "--there-and-back", "--pace", "0", "--json", "--record", recorded)
    recorded.write_text("another\n")
    played = invoke("play", file, *options, "--force")
    assert played.exit_code == 0, played.output
    tool = read(recorded).records["X_WP"][:, :3, 3]
    way = np.array([path.at(t)[0][:3, 3] for t in np.linspace(0.0, path.seconds, 1000)])
    begun = int(np.argmax(np.linalg.norm(tool - way[0], axis=1) < 0.001))
    assert KDTree(way).query(tool[begun:])[0].max() < 0.002
    assert KDTree(tool[begun:]).query(way)[0].max() < 0.002
    assert np.linalg.norm(tool[-1] - way[0]) < 0.002


def test_what_cannot_be_played_or_taught_is_refused_and_nothing_moves(tmp_path, runtime) -> None:
    file = tmp_path / "path.json"
    for words in (("play", file), ("teach", tmp_path / "no" / "path.json")):
        assert invoke(*words).exit_code == 2
    file.write_text(json.dumps({"kind": "ur-admittance path", **STILL}))
    for words, why in (
        (("teach", file), "--force"),
        (("play", file, "--push", "1", "0", "0", "--robot", "rtde://192.0.2.1"), "--push"),
        (("play", file, "--config", "preset:velocity-law"), "velocity_gain: is 0"),
        (("play", file, "--speed", "9"), "0.05 to 4"),
        (("play", file, "--strict"), "--strict: does nothing for a simulated arm"),
        (("play", file, "--force"), "--force: replaces a recording; there is none"),
        (("play", file, "--record", file), "exists already; --force replaces it"),
    ):
        refused = invoke(*words)
        assert refused.exit_code == 2 and why in refused.output
    refused = invoke("teach", tmp_path / "new.json")
    assert refused.exit_code == 1 and "no controller runs" in refused.output
    assert not (tmp_path / "new.json").exists()
    with pytest.raises(Exception, match="no controller"):
        Blackboard.attach(None)
