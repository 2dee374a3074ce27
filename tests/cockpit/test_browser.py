"""The page in a real browser, without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial import KDTree

from tests.cockpit.support import CHROMIUM, FLAGS, NO_BROWSER
from ur_admittance import RobotModel
from ur_admittance.cockpit.station import model_of
from ur_admittance.config.advice import axes_of
from ur_admittance.config.schema import Config
from ur_admittance.motion.taught import Path
from ur_admittance.telemetry.recording import read

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
        page.set_default_timeout(0)  # as long as it takes: the whole test has an end of its own

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def see(self, script: str) -> Any:
        return self.page.evaluate(script)

    def until(self, script: str) -> None:
        """Wait until a script is true: as long as it takes, unless the page is refused."""
        waited = f"() => ({script}) || window.cockpit?.refusals.length"
        self.page.wait_for_function(waited, polling=200)
        refused = self.see("cockpit.refusals")
        assert refused == [], script

    def refusal(self) -> str:
        """What the page is refused next; then it counts no more."""
        self.page.wait_for_function("() => cockpit.refusals.length", polling=200)
        return self.see("cockpit.refusals.shift()")


@pytest.fixture
def browser(cockpit) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    sync_api = pytest.importorskip("playwright.sync_api", reason=NO_BROWSER)
    with sync_api.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = launched.new_page(viewport={"width": 1024, "height": 600})
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

    # There is a picture; it does not have to be drawn again and again, nor is the page looked at.
    browser.until("cockpit.view.drawn > 0")
    browser.see("window.requestAnimationFrame = () => 0")
    browser.see("Object.defineProperty(document, 'hidden', { get: () => true })")

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
    place = "[3, 7, 11].map((i) => cockpit.frame.P[i])"
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    way = np.array(browser.see("cockpit.view.grabbed.toArray()")) - before
    browser.until(f"Math.hypot(...{place}.map((v, i) => v - {list(before)}[i])) > 0.03")
    moved = np.array(browser.see(place)) - before
    assert moved @ way > 0.8 * np.linalg.norm(moved) * np.linalg.norm(way)
    page.mouse.up()

    # A path is taught: the way on which a push leads the arm.
    page.click("[data-tab=teach]")
    page.fill("#path-name", "a push")
    page.click("#teach")
    browser.until("cockpit.paths.teaching === 'a push'")
    page.click("[data-tab=push]")
    stood = browser.see("cockpit.frame.P[7]")
    page.click("[data-push='0 -1 0']")
    browser.until(f"cockpit.frame.P[7] < {stood} - 0.05")  # it stays there; the push may be over
    browser.until("cockpit.frame.f[1] > -1 && !cockpit.frame.v.some((v) => Math.abs(v) > 1e-3)")
    page.click("[data-tab=teach]")
    page.click("#teach")
    browser.until("cockpit.paths.list.length === 1 && !cockpit.paths.teaching")

    # It is played, slower, there and back, with the feel of a preset; and recorded.
    page.click("[data-tab=record]")
    page.fill("#record-name", "first path")
    page.click("#record")
    browser.until("cockpit.recordings.recording.ready")
    page.click("[data-tab=teach]")
    page.check("#play-back")
    page.fill("#play-speed", "-2")
    page.select_option("#play-feel", "pose-law")
    page.click("#paths button.play")
    assert browser.refusal() == "not changed while running: admittance.integrator"
    browser.until("cockpit.said.includes('a push: reached')")
    assert browser.see("cockpit.config.values['admittance.stiffness'][0]") == 200
    page.click("[data-tab=record]")
    page.click("#record")
    browser.until("cockpit.recordings.list.length === 1 && !cockpit.recordings.recording.name")
    path = Path.load(cockpit.folder / "a push.path.json")
    assert path.metres > 0.1
    way = np.array([path.at(t)[0][:3, 3] for t in np.linspace(0.0, path.seconds, 1000)])
    records = read(cockpit.folder / "first path.mcap").records
    tool = records["X_WP"][:, :3, 3]
    begun = int(np.argmax(np.linalg.norm(tool - way[0], axis=1) < 0.001))
    assert np.linalg.norm(tool[0] - way[-1]) < 0.002  # where it was led to: it has no past
    tool = tool[begun:]  # behind the straight way to the path's start
    assert KDTree(way).query(tool)[0].max() < 0.002  # nowhere off the path
    assert KDTree(tool).query(way)[0].max() < 0.002  # and none of it left out
    assert np.linalg.norm(tool[-1] - way[0]) < 0.002

    # The recording's report opens.
    with page.expect_popup(timeout=0) as opened:
        page.click("#recordings button.report")
    report = opened.value
    report.wait_for_selector("h1", timeout=0)
    assert report.inner_text("h1") == "first path"
    report.close()

    # A page without the token may only look.
    other = Browser(page.context.browser.new_page())
    other.page.add_init_script("""
        HTMLCanvasElement.prototype.getContext = () => null;
        Object.defineProperty(document, "hidden", { get: () => true });
    """)
    other.page.goto(f"http://127.0.0.1:{cockpit.port}/")
    assert "no WebGL 2" in other.refusal()
    other.until("cockpit.frames > 3")
    assert other.page.is_visible("#trust")
    other.page.click("#stop")
    assert "printed at start" in other.refusal()
    assert browser.see("cockpit.life.state") == "running"
    other.page.close()

    # The space bar stops it; a reset asks first.
    page.locator("body").press("Space")
    browser.until("cockpit.life.state === 'stopped'")
    assert page.is_visible("#stopped") and "asked in the cockpit" in page.inner_text("#why")
    page.click("[data-tab=teach]")
    page.click("#paths button.play")
    assert "stopped; reset it first" in browser.refusal()
    page.click("#reset")
    assert "where the arm stands" in page.inner_text("#confirm")
    page.click("#confirm button[value=no]")
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
