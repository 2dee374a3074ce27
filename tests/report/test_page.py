"""The page about recording: its examples run, one after the other, in an empty folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ur_admittance.kernel import layout
from ur_admittance.telemetry import messages

PAGE = (Path(__file__).parents[2] / "docs" / "recording.md").read_text("utf-8")


@pytest.mark.slow
def test_the_examples_run(tmp_path):
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    written, size, samples, model, _, compared, light, heavy = done.stdout.splitlines()
    ticks = int(written.split()[0])
    assert written == f"{ticks} ticks written, 0 lost "
    assert size.endswith("bytes a tick")
    assert samples.startswith(f"{ticks} samples, the greatest 2")
    assert "'ur5e'" in model and model.endswith("500.0 Hz, lost 0")
    assert compared == f"{ticks} ticks compared, first difference: None"
    assert float(light.split()[0]) > float(heavy.split()[0]) > 0


def test_every_topic_is_in_the_table():
    rows = re.findall(r"^\| `(/\w+)` \| `([\w/]+)` \|", PAGE, re.MULTILINE)
    assert dict(rows) == messages.TOPICS


def test_the_size_of_a_tick_is_right():
    assert f"{layout.OUTPUTS.itemsize / 1000:.1f} kB of memory for each tick" in PAGE
