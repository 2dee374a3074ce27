"""`run --robot ros2`: the admittance node, with blackboard, recorder and live line around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ur_admittance.cli.run import attend
from ur_admittance.config import Config

if TYPE_CHECKING:
    from ur_admittance.loop import Summary
    from ur_admittance.realtime import RealTime
    from ur_admittance.telemetry.recorder import Recorded


def run_node(
    config: Config,
    *,
    model: str,
    wrench: str,
    flip: bool,
    state: str,
    seconds: float | None,
    record: Path | None,
    view: str,
    real_time: RealTime | None,
    tell: Callable[[str], None],
) -> tuple[Summary, Recorded | None]:
    """Be a node on the graph until Ctrl-C or SIGTERM, see `run`.

    Args:
        state: of the life cycle, where it goes by itself.
    """
    from ur_admittance.loop import Summary, signals
    from ur_admittance.ros2 import topics, wire
    from ur_admittance.ros2.node import AdmittanceNode

    with wire.started(), signals() as asked:
        with wire.urgent(real_time.priority if real_time else 0):
            node = AdmittanceNode(
                config,
                model=model or None,
                wrench=wrench or topics.WRIST_FT,
                sign=-1 if flip else 1,
            )
        if view:
            typer.echo(f"{node.get_fully_qualified_name()} is on the graph; Ctrl-C ends it")
        try:
            node.come_up(state, asked)
            if node.robot is None or node.controller is None:
                return Summary(asked=True), None
            return attend(
                node.robot,
                node.controller,
                lambda board: node.run(
                    board, asked, state=state, seconds=seconds, real_time=real_time, tell=tell
                ),
                record=record,
                view=view,
            )
        finally:
            node.close()
