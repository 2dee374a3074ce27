"""Many trials on many processes, here or on a Dask cluster: the same results in the same order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    CancelledError,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from ur_admittance._version import __version__
from ur_admittance.errors import AdmittanceError
from ur_admittance.tune.judge import Trial, Verdict, judge
from ur_admittance.tune.question import Question

CONNECT_SECONDS = 15  # for a scheduler to answer, and for its first worker
_RETRIES = 2  # of a trial that fails on a worker
_WATCH_SECONDS = 2.0  # between two checks of the cluster
_NOBODY = (
    "no worker left; what is not done waits for the next one ('dask worker {} --nthreads 1'), "
    "Ctrl-C ends it"
)


def sweep(
    question: Question,
    trials: Sequence[Trial],
    executor: Executor,
    progress: Callable[[int, int], None],
) -> list[Verdict]:
    """A verdict for each trial. Who ran it, and when, changes nothing. `progress` is told how many
    are done, and of how many.
    """
    places = {executor.submit(judge, question, trial): n for n, trial in enumerate(trials)}
    verdicts: list[Verdict | None] = [None] * len(trials)
    progress(0, len(trials))
    try:
        for done, future in enumerate(as_completed(places), 1):
            verdicts[places[future]] = future.result()
            progress(done, len(trials))
    except BrokenProcessPool:
        raise AdmittanceError(
            "tune: a process of the sweep ended, perhaps for lack of memory; use fewer: --jobs 1"
        ) from None
    except CancelledError:
        raise AdmittanceError(
            "tune: the Dask scheduler is gone, and what was done with it; start it and its workers "
            "again, then the sweep"
        ) from None
    finally:
        for future in places:
            future.cancel()
    return [verdict for verdict in verdicts if verdict is not None]


@contextmanager
def local_processes(count: int | None = None) -> Iterator[Executor]:
    """So many processes of this machine; 1: this one. Default: one for each of our cores."""
    count = count or len(os.sched_getaffinity(0))
    if count == 1:
        executor: Executor = ThreadPoolExecutor(1)
    else:
        # not forked: the threads of a parallel kernel do not survive it
        fresh = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(count, fresh, _begin)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _begin() -> None:
    """Ctrl-C is for the one who asked, and with that one all end, however it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """The workers of a Dask cluster.

    Trials of a worker that is lost are run again by others. When none is left they wait for the
    next, which is said on the standard error; a scheduler that is gone ends the sweep.

    Args:
        address: of the scheduler, such as tcp://192.168.1.5:8786.
    """
    try:
        from distributed import Client
    except ImportError:
        raise AdmittanceError(
            "--scheduler: needs Dask here, too: pip install 'ur-admittance[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise AdmittanceError(
            f"--scheduler: no Dask scheduler answers at {address} ({error}); start one with "
            "'dask scheduler', and name the address that it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise AdmittanceError(
                f"--scheduler: {address} has no workers; start one for each core with "
                f"'dask worker {address} --nworkers N --nthreads 1'"
            ) from None
        _check_version(client)
        executor = client.get_executor(pure=False, retries=_RETRIES)
        ended = threading.Event()
        threading.Thread(target=_watch_workers, args=(client, address, ended), daemon=True).start()
        try:
            yield executor
        finally:
            ended.set()
            executor.shutdown(wait=False)


def _watch_workers(client: Any, address: str, ended: threading.Event) -> None:
    """Say it when nobody is left who works, and when somebody is there again."""
    working = True
    while not ended.wait(_WATCH_SECONDS):
        try:
            found = bool(client.nthreads())
        except (OSError, RuntimeError):  # it says so itself
            continue
        if found != working:
            words = "workers again" if found else _NOBODY.format(address)
            print(f"ur-admittance: {address} has {words}", file=sys.stderr, flush=True)
            working = found


def _version_here() -> str:
    return __version__


def _check_version(client: Any) -> None:
    """The same question must mean the same work everywhere."""
    advice = f"install ur-admittance {__version__}, as here, on every worker"
    try:
        versions = client.run(_version_here)
    except ImportError as error:
        raise AdmittanceError(f"--scheduler: a worker says '{error}'; {advice}") from None
    for where, found in versions.items():
        if found != __version__:
            raise AdmittanceError(f"--scheduler: {where} has ur-admittance {found}; {advice}")
