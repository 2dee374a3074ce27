"""A test that hangs ends, with the place where it does, also inside of compiled code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HANGS = {
    "asleep": "import time\n\n\ndef test_it():\n    time.sleep(1e6)\n",
    "in compiled code": "import re\n\n\ndef test_it():\n    re.match('(a*)*b', 60 * 'a')\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("how", HANGS)
def test_a_test_that_hangs_shows_where_and_ends(tmp_path: Path, how: str) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(HANGS[how])
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), str(file)]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-o", "faulthandler_timeout=1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert f'File "{file}", line 5 in test_it' in done.stderr
