"""Gains for random tasks, and what a sweep costs: `python -m benchmarks.tune`.

Tasks that nobody chose: guide, touch or hold; a surface of 1 to 100 kN/m, or unknown; a push of 5
to 30 N; 5 to 20 ms of lag. What `tune` finds is tried on cases that it has not seen. Then the same
sweep on one core, on two, and on two Dask workers.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from concurrent.futures import Executor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.tune import TASKS, Question, Tuned, dask_workers, local_processes, tune
from ur_admittance.tune.candidates import Candidate, candidates_for
from ur_admittance.tune.choose import QUICK, Effort
from ur_admittance.tune.explain import helps, verdict_words
from ur_admittance.tune.judge import ENOUGH, Trial, Verdict
from ur_admittance.tune.sweep import sweep

FRESH = 200, 100  # cases that nobody has seen: rigid and flexible arms
_STREAM, _SEEDS = 9, 1000  # of these: neither stream nor seed is one of the sweep's


def random_questions(count: int, seed: int = 0) -> list[Question]:
    """Tasks that nobody chose; one surface of five is unknown."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        stiffness = math.exp(rng.uniform(math.log(1e3), math.log(1e5)))
        found.append(
            Question(
                task=list(TASKS)[rng.integers(len(TASKS))],
                stiffness=None if rng.random() < 0.2 else float(f"{stiffness:.3g}"),
                push=float(f"{rng.uniform(5, 30):.3g}"),
                lag=float(f"{rng.uniform(0.005, 0.02):.2g}"),
            )
        )
    return found


def fresh(question: Question, candidate: Candidate, executor: Executor) -> Verdict:
    """The contact benchmark's cases for this task, none of which was tuned on."""
    other = replace(question, seed=question.seed + _SEEDS)
    trials = [
        Trial(candidate, _STREAM, begin, min(begin + 25, count), flexible)
        for flexible, count in zip((False, True), FRESH, strict=True)
        for begin in range(0, count, 25)
    ]
    total = Verdict()
    for verdict in sweep(other, trials, executor, lambda done, of: None):
        total += verdict
    return total


def random_tasks(count: int, seed: int, executor: Executor) -> list[dict[str, Any]]:
    rows = []
    for question in random_questions(count, seed):
        tuned = tune(question, executor)
        shown = fresh(question, tuned.nearest.candidate, executor)
        met = tuned.chosen is not None
        row = {"met": met, "passes": shown.passes, "off": tuned.nearest.off}
        rows.append({"question": asdict(question), **row, "fresh": asdict(shown)})
        word = ("passes" if shown.passes else "FAILS") if met else "cannot be met"
        print(f"{word}: {verdict_words(tuned)}, {tuned.nearest.off:.2f} off")
        rigid, flexible = shown.rigid, shown.flexible
        print(f"    fresh: {rigid[0]} of {rigid[1]} rigid, {flexible[0]} of {flexible[1]} flexible")
        if not met:
            print(f"    would help: {'; '.join(helps(tuned))}")
    passed = sum(row["met"] and row["passes"] for row in rows)
    said = sum(not row["met"] for row in rows)
    print(f"{passed} of {len(rows)} tasks pass; of {said} it is said that they cannot be met")
    for kind in ("rigid", "flexible"):
        alone = sum(row["fresh"][kind][0] >= ENOUGH * row["fresh"][kind][1] for row in rows)
        print(f"with {kind} arms by themselves {alone} of {len(rows)}")
    return rows


def scaling(quick: bool) -> dict[str, float]:
    """Wall time of one sweep, s, by who works; all give the same answer."""
    from distributed import LocalCluster

    question = Question("touch", 20e3, 15.0, 0.01)
    answers: list[Tuned] = []

    def timed(executor: Executor) -> float:
        tune(question, executor, candidates=candidates_for(question, True)[:4], effort=QUICK)
        begun = time.perf_counter()  # everyone has loaded the kernel
        effort = QUICK if quick else Effort()
        tried = candidates_for(question, quick)
        answers.append(tune(question, executor, candidates=tried, effort=effort))
        return time.perf_counter() - begun

    times = {}
    for count, name in ((1, "one core"), (2, "two cores")):
        with local_processes(count) as executor:
            times[name] = timed(executor)
    two: Any = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with two as cluster, dask_workers(cluster.scheduler_address) as executor:
        times["two Dask workers"] = timed(executor)
    for name, seconds in times.items():
        print(f"{name}: {seconds:.1f} s, {times['one core'] / seconds:.2f} times as fast as one")
    print("the same to the last digit:", all(one == answers[0] for one in answers))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=20, help="random tasks (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the tasks (default: 0)")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0: one for each core")
    parser.add_argument("--quick", action="store_true", help="scaling with a tenth of the work")
    parser.add_argument("--json", type=Path, help="write all numbers there, too")
    options = parser.parse_args()
    results: dict[str, Any] = {"scaling": scaling(options.quick)}
    with local_processes(options.jobs or None) as executor:
        results["tasks"] = random_tasks(options.tasks, options.seed, executor)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
