"""The page in a real browser, without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from tests.cockpit.support import CHROMIUM, FLAGS, NO_BROWSER
from ur_admittance import RobotModel
from ur_admittance.cockpit.station import model_of
from ur_admittance.config.advice import axes_of
from ur_admittance.config.schema import Config

pytestmark = pytest.mark.slow

SEEN = """() => {
  const view = cockpit.view, seen = view.tool.clone().project(view.camera);
  const box = view.canvas.getBoundingClientRect();
  return [box.left + (seen.x + 1) / 2 * box.width, box.top + (1 - seen.y) / 2 * box.height];
}"""


class Browser:
    """A page, what it complained of, and ways to wait for it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def see(self, script: str) -> Any:
        return self.page.evaluate(script)

    def until(self, script: str) -> None:
        """Wait until a script is true: as long as it takes, unless the page is refused."""
        for _ in range(12_000):
            if self.see(f"Boolean({script})"):
                return
            if refused := self.page.query_selector(".toast.bad"):
                raise AssertionError(refused.inner_text())
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never so: {script}")


@pytest.fixture
def browser(cockpit) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    sync_api = pytest.importorskip("playwright.sync_api", reason=NO_BROWSER)
    with sync_api.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = launched.new_page(viewport={"width": 1100, "height": 640})
        made = Browser(page)
        page.goto(cockpit.address)
        made.until("window.cockpit && cockpit.frames > 3 && cockpit.view.tool && cockpit.trusted")
        yield made
        launched.close()


def test_the_page_shows_tunes_pulls_records_stops_and_resets_an_arm(cockpit, browser) -> None:
    """One long test: a cockpit and a browser take seconds to start."""
    page = browser.page

    # It draws the arm where it is: the page's own kinematics against the model's.
    drawn = browser.see(
        "(() => { const q = cockpit.frame.q, at = cockpit.frame.P;"
        " cockpit.view.show(cockpit.frame); return [q, at, cockpit.view.tool.toArray()]; })()"
    )
    q, P, tool = (np.array(part) for part in drawn)
    assert np.allclose(tool, model_of("ur5e").fk(q)[:3, 3], atol=1e-4)
    assert np.allclose(tool, P.reshape(3, 4)[:, 3], atol=1e-4)
    assert isinstance(model_of("ur5e"), RobotModel)

    # There is a picture; it does not have to be drawn again and again.
    browser.until("cockpit.view.drawn > 2")
    browser.see("cockpit.view.renderer.draw = cockpit.plots.add = () => {}")

    # The token is not in the address any more.
    assert "token" not in page.url

    # What it says of the law is what the configuration says.
    axis = axes_of(Config.preset("hand-guiding"))[0]
    assert f"{1e3 * 10 / axis.damping:.0f} mm/s" in page.inner_text("#surface")

    # The step response that it draws solves M a + D v + K x = F.
    cases = [[4.0, 60.0, 0.0], [4.0, 60.0, 100.0], [4.0, 60.0, 225.0], [4.0, 60.0, 900.0]]
    answers = browser.see(
        f"import('/law.js').then(law => {cases}.map(([M, D, K]) => law.step(M, D, K, 10.0, 0.3)))"
    )
    for (M, D, K), answer in zip(cases, answers, strict=True):
        system = np.array([[0.0, 1.0, 0.0], [-K / M, -D / M, 10.0 / M], [0.0, 0.0, 0.0]])
        x, v, _ = expm(0.3 * system) @ [0.0, 0.0, 1.0]
        assert answer == pytest.approx(x if K else v, rel=1e-6)

    # A slider changes the controller's parameter, and is undone.
    slider = page.locator('[data-name="admittance.mass"][data-axis="translation"] input').last
    slider.evaluate("s => { s.value = 900; s.dispatchEvent(new Event('input')); }")
    slider.evaluate("s => s.dispatchEvent(new Event('change'))")
    browser.until("cockpit.config.values['admittance.mass'][0] > 20")
    browser.until("cockpit.frame.generation === cockpit.config.generation")
    assert page.inner_text("#changes summary") == "What changed: 1"
    page.click("#undo")
    browser.until("cockpit.config.values['admittance.mass'][0] === 4")

    # A drag moves the arm the way of the pointer.
    x, y = browser.see(SEEN)
    before = browser.see("cockpit.view.tool.toArray()")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    way = np.array(browser.see("cockpit.view.grabbed.toArray()")) - before
    browser.until(
        f"Math.hypot(...cockpit.view.tool.toArray().map((v, i) => v - {list(before)}[i])) > 0.03"
    )
    moved = np.array(browser.see("cockpit.view.tool.toArray()")) - before
    assert moved @ way > 0.8 * np.linalg.norm(moved) * np.linalg.norm(way)
    page.mouse.up()

    # A recording appears under its name, and its report opens.
    page.click("[data-tab=record]")
    page.fill("#record-name", "first push")
    page.click("#record")
    browser.until("cockpit.recordings.recording.name === 'first push'")
    page.click("[data-tab=push]")
    page.click("[data-push='0 -1 0']")
    browser.until("cockpit.frame.f[1] < -5")
    page.click("[data-tab=record]")
    page.click("#record")
    browser.until("cockpit.recordings.list.length === 1 && !cockpit.recordings.recording.name")
    with page.expect_popup(timeout=0) as opened:
        page.click("#recordings button.report")
    report = opened.value
    report.wait_for_selector("h1", timeout=0)
    assert report.inner_text("h1") == "first push"
    report.close()

    # A page without the token may only look.
    other = Browser(page.context.browser.new_page())
    other.page.goto(f"http://127.0.0.1:{cockpit.port}/")
    other.until("window.cockpit && cockpit.frames > 3")
    assert other.page.is_visible("#trust")
    other.page.click("#stop")
    other.until("document.querySelector('.toast.bad')")
    assert "printed at start" in other.page.inner_text(".toast.bad")
    assert browser.see("cockpit.life.state") == "running"
    other.page.close()

    # The space bar stops it; a reset asks first.
    page.locator("body").press("Space")
    browser.until("cockpit.life.state === 'stopped'")
    assert page.is_visible("#stopped") and "asked in the cockpit" in page.inner_text("#why")
    page.click("#reset")
    assert "where the arm stands" in page.inner_text("#confirm")
    page.click("#confirm button[value=no]")
    page.wait_for_timeout(200)
    assert browser.see("cockpit.life.state") == "stopped"
    page.click("#reset")
    page.click("#confirm button[value=yes]")
    browser.until("cockpit.life.state === 'running' && cockpit.frame.mode === 'active'")

    # The stop is the biggest thing to press.
    sizes = browser.see(
        "[...document.querySelectorAll('button')].map(b => [b.id, b.offsetWidth * b.offsetHeight])"
    )
    assert max(sizes, key=lambda each: each[1])[0] == "stop"

    # Nothing was complained of, and nothing came from elsewhere.
    loaded = browser.see("performance.getEntriesByType('resource').map(each => each.name)")
    own = f"http://127.0.0.1:{cockpit.port}/"
    assert loaded and all(name.startswith(own) for name in loaded)
    assert browser.complaints == []
