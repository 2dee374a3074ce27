"""Write the ROS parameter files from the presets: `python ros/generate.py`; `--check` compares."""

from __future__ import annotations

import sys
import textwrap
from importlib import resources
from pathlib import Path

from ur_admittance.config import Config

FOLDER = Path(__file__).parent / "ur_admittance_ros" / "config"
NOTE = "# Written by ros/generate.py from the preset of this name. Copy it to change it.\n"


def parameter_file(preset: str) -> str:
    """A preset, comments and all, as a ROS 2 parameter file for a node of any name."""
    source = resources.files("ur_admittance.config") / "presets" / f"{preset}.yaml"
    text = textwrap.indent(source.read_text("utf-8"), "    ")
    return f"{NOTE}/**:\n  ros__parameters:\n{text}"


def main() -> None:
    stale = []
    for preset in Config.presets():
        file, text = FOLDER / f"{preset}.yaml", parameter_file(preset)
        if file.exists() and file.read_text("utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(file.name)
        else:
            file.write_text(text, "utf-8")
            print(file.name)
    stale += [file.name for file in FOLDER.glob("*.yaml") if file.stem not in Config.presets()]
    if stale:
        sys.exit(f"{FOLDER}: not as the presets are: {', '.join(stale)}; run ros/generate.py")


if __name__ == "__main__":
    main()
