"""The same answer, whoever works: this process, others, or Dask, of which one worker is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping

import pytest

from ur_admittance import AdmittanceError
from ur_admittance.tune import Question, Tuned, dask_workers, local_processes, tune
from ur_admittance.tune import sweep as sweep_module
from ur_admittance.tune.candidates import candidates_for
from ur_admittance.tune.choose import Effort

QUESTION = Question("touch", 20e3, 15.0, 0.01)
LITTLE = Effort((4, 2), (4, 2), (1, 1), (2, 1))
FEW = candidates_for(QUESTION, quick=True)[4:8]  # about the wish


def answer(executor, progress=lambda part, done, of: None) -> Tuned:
    return tune(QUESTION, executor, progress, candidates=FEW, effort=LITTLE)


@pytest.fixture(scope="module")
def alone() -> Tuned:
    with local_processes(1) as executor:
        return answer(executor)


def test_gains_for_wood_are_found_and_touch_calmly(alone: Tuned) -> None:
    assert alone.chosen is not None and alone.chosen.candidate.damping_time is not None
    assert alone.chosen.off < 1.5 and alone.verdict.passes
    assert [one.candidate for one in alone.swept] == FEW


@pytest.mark.slow
def test_two_processes_give_the_same_to_the_last_digit(alone: Tuned) -> None:
    with local_processes(2) as executor:
        assert answer(executor) == alone


@pytest.mark.slow
def test_a_cluster_of_which_a_worker_is_killed_gives_the_same_to_the_last_digit(
    alone: Tuned,
) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        killed: list[int] = []

        def holders(keys: Mapping[str, Collection[str]]) -> list[str]:
            return [worker for worker, held in keys.items() if held]

        def kill_one(part: str, done: int, of: int) -> None:
            """Once there is work to lose, or it is done already, one worker loses it."""
            if killed:
                return
            with distributed.Client(cluster, set_as_default=False) as client:
                pids = client.run(os.getpid)
                while not (busy := holders(client.processing()) or holders(client.has_what())):
                    time.sleep(0.01)
                os.kill(pids[busy[0]], signal.SIGKILL)
                killed.append(pids[busy[0]])

        with dask_workers(cluster.scheduler_address) as executor:
            assert answer(executor, kill_one) == alone
        assert killed


@pytest.mark.slow
def test_it_says_that_no_worker_is_left_and_goes_on_with_the_next(
    alone: Tuned, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(sweep_module, "_WATCH_SECONDS", 0.05)
    said: list[str] = []

    def until_said(words: str) -> None:
        while words not in "".join(said):
            time.sleep(0.01)
            said.append(capfd.readouterr().err)

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:

        def lose_all(part: str, done: int, of: int) -> None:
            if not said:
                cluster.scale(0)
                until_said("has no worker left")
                cluster.scale(1)
                until_said("has workers again")

        with dask_workers(cluster.scheduler_address) as executor:
            assert answer(executor, lose_all) == alone


@pytest.mark.slow
def test_a_scheduler_that_dies_ends_the_sweep_with_the_reason() -> None:
    pytest.importorskip("distributed")
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    command += ["--port", "0", "--no-dashboard"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as scheduler:
        assert scheduler.stderr is not None
        line = next(line for line in scheduler.stderr if "Scheduler at" in line)
        address = line[line.index("tcp://") :].strip()

        def kill(part: str, done: int, of: int) -> None:
            scheduler.kill()

        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        with subprocess.Popen([*command, "--no-dashboard"]) as worker:
            try:
                with (
                    pytest.raises(AdmittanceError, match="the Dask scheduler is gone"),
                    dask_workers(address) as executor,
                ):
                    answer(executor, kill)
            finally:
                worker.terminate()


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(sweep_module, "CONNECT_SECONDS", 0.3)
    with (
        pytest.raises(AdmittanceError, match="no Dask scheduler answers at tcp:"),
        dask_workers("tcp://127.0.0.1:9"),
    ):
        pass


@pytest.mark.slow
def test_processes_end_with_the_one_that_asked_even_if_it_is_killed() -> None:
    code = """
import os, time
from ur_admittance.tune import local_processes
if __name__ == "__main__":
    with local_processes(2) as executor:
        print(executor.submit(os.getpid).result(), flush=True)
        time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as asked:
        assert asked.stdout is not None
        worker = int(asked.stdout.readline())
        asked.kill()
        asked.communicate(timeout=120)  # ends when nobody is left who could write, workers included
    assert worker != asked.pid
