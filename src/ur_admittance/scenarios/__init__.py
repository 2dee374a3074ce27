"""Five scripted scenes for a simulated UR5e: what happens in them, and what must be true after.

    scenario = SCENARIOS["surface"]
    with scenario.robot(realtime=False) as robot:
        controller = ua.Controller(robot.model, scenario.config())
        play(scenario, robot, controller, each=lambda state, out: records.append(out.copy()))
    for finding in scenario.judge(np.array(records)):
        print(finding.passed, finding.what, finding.words)

The arm is realistic unless asked otherwise: two cycles late, with servos of 8 Hz and a sensor that
is late, noisy and biased and weighs the tool. Bounds come from the configuration and the geometry.
"""

from ur_admittance.scenarios.base import Finding, Run, Scenario, play
from ur_admittance.scenarios.guided import HandGuiding, Wall
from ur_admittance.scenarios.peg import Peg
from ur_admittance.scenarios.polish import Polish
from ur_admittance.scenarios.surface import Surface

__all__ = ["SCENARIOS", "Finding", "Run", "Scenario", "play"]

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario for scenario in (HandGuiding(), Surface(), Wall(), Peg(), Polish())
}
