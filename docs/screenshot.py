"""A picture of the cockpit: a simulated arm that is being pulled, in a real browser.

    python docs/screenshot.py docs/images/cockpit.png [dark]

It starts `ur-admittance cockpit`, opens the page in Chromium without a screen (Debian's package
`chromium`, driven by playwright), pulls the tool, and takes the picture.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
from typing import Any

SIZE = {"width": 1280, "height": 720}
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SEEN = """() => {
  const view = cockpit.view, seen = view.tool.clone().project(view.camera);
  const box = view.canvas.getBoundingClientRect();
  return [box.left + (seen.x + 1) / 2 * box.width, box.top + (1 - seen.y) / 2 * box.height];
}"""

# Without a graphics card the page leaves the shadows out after a while.
SHADOWS = "() => { cockpit.view.renderer.shadows = true; cockpit.view.pace.usual = -1e6; }"


def main(file: str, scheme: str = "light") -> None:
    """Take the picture."""
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium") or sys.exit("needs Chromium: apt install chromium")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ur_admittance_command", "cockpit", "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        command += ["--recordings", folder]
        cockpit = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = next(
                found[1]
                for line in cockpit.stdout or ()
                if (found := re.search(r"(http\S+)", line))
            )
            with sync_playwright() as driver:
                chromium = driver.chromium.launch(executable_path=browser, args=FLAGS)
                page = chromium.new_page(viewport=SIZE, color_scheme=scheme)
                page.goto(address)
                _pull(page)
                page.evaluate(SHADOWS)
                page.wait_for_timeout(2000)
                page.screenshot(path=file, timeout=120_000)
                chromium.close()
        finally:
            cockpit.terminate()
            cockpit.wait()


def _pull(page: Any) -> None:
    """Wait for the arm, then lead its tool to and fro, so that there is something to see."""
    while not page.evaluate("Boolean(window.cockpit && cockpit.view.dressed && cockpit.view.tool)"):
        page.wait_for_timeout(100)
    x, y = page.evaluate(SEEN)
    page.mouse.move(x, y)
    page.mouse.down()
    for dx, dy in ((-60, 20), (-40, 60), (30, 60), (60, 10), (20, -40)):
        page.mouse.move(x + dx, y + dy, steps=10)
        page.wait_for_timeout(1200)
    page.mouse.move(x + 85, y + 10, steps=10)  # against the wall of its workspace, and stay there


if __name__ == "__main__":
    main(*sys.argv[1:])
