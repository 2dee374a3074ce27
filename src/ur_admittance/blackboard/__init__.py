"""The blackboard: what the control loop shows to other processes, and what they may tell it.

One control process owns one block of shared memory. It appends its outputs to a ring of the last
16 s and looks, between two ticks, at one counter that tells of new parameters. Everybody else
(recorder, cockpit, `watch`, tuning) attaches as a reader. The loop takes no lock and waits for
nobody: a reader that is slow, hung, stopped or killed costs it nothing.

    with Blackboard.create("sim", 500.0, controller.live) as board:      # the control process
        ...
        board.take_params(controller.live)
        controller.update(...)
        board.publish(outputs)

    reader = Blackboard.attach("sim")                                    # any other
    reader.latest()["qd"]
    reader.set({"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4]})
"""

from ur_admittance.blackboard.owner import Blackboard
from ur_admittance.blackboard.reader import Reader, list_running

__all__ = ["Blackboard", "Reader", "list_running"]
