"""A cockpit in a process of its own, and a browser to open it with."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NO_BROWSER = "needs Chromium (apt install chromium) and playwright (pip install playwright)"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Running:
    """A cockpit in a process of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        command = [sys.executable, "-m", "ur_admittance_command", "cockpit", "--port", str(port)]
        command += ["--recordings", str(folder)]
        self.process = subprocess.Popen(
            command, cwd=folder.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.folder, self.port, self.address = folder, port, ""
        for line in self.process.stdout or ():
            if found := re.search(r"open (http://\S+)", line):
                self.address = found[1]
                break
        if not self.address:
            raise AssertionError(self.process.communicate()[1])
        self.token = self.address.rpartition("token=")[2]

    def close(self) -> int:
        self.process.terminate()
        self.process.communicate()
        return self.process.returncode
