"""Restarts of queries on Spark: an attempt fails after any micro-batch, and the next continues."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from unittest.mock import patch

from pyflink_on_spark._spark.structured.batches import Batches
from pyflink_on_spark._spark.structured.connect_job import ConnectJob
from pyflink_on_spark._spark.structured.query_job import QueryJob

MOST = 2
"""How often jobs are restarted: each attempt starts a query, which takes seconds."""


class RestartedError(RuntimeError):
    """An attempt fails because a test wants the next one."""


@contextlib.contextmanager
def restarted_queries(random: Callable[[], Random], most: int = MOST) -> Iterator[Counter[str]]:
    """Let attempts of queries fail before every other micro-batch or so.

    A job continues after such a failure, and only after such a one, whatever its restart strategy.
    On a classic Spark the micro-batch itself fails, when the one before is committed. On Spark
    Connect the client fails between two looks at the results, wherever the server is.

    Args:
        random: makes the random numbers of a job.
        most: how often a job is restarted.

    Yields:
        How often each job was restarted, by its id.
    """
    made: dict[str, Random] = {}
    restarts: Counter[str] = Counter()

    def restart(job: str) -> None:
        numbers = made.setdefault(job, random())
        if restarts[job] < most and numbers.random() < 0.5:
            restarts[job] += 1
            raise RestartedError(f"restart {restarts[job]} of {job}")

    run, fetch, wait = Batches.__call__, ConnectJob._fetch, QueryJob._wait_for_restart

    def run_or_fail(self: Batches, frame: Any, batch: int, *before: Any) -> None:
        if not self.ended.is_set():
            try:
                restart(self._commits._job_id)
            except RestartedError as error:
                self.error = error
                raise
        run(self, frame, batch, *before)

    def fetch_or_fail(self: ConnectJob) -> Any:
        restart(self.job_id)
        return fetch(self)

    def wait_or_go_on(self: QueryJob, error: BaseException) -> None:
        if isinstance(error, RestartedError):
            self._check_may_restart(self._told(error))
        else:
            wait(self, error)

    with (
        patch.object(QueryJob, "_wait_for_restart", wait_or_go_on),
        patch.object(Batches, "__call__", run_or_fail),
        patch.object(ConnectJob, "_fetch", fetch_or_fail),
    ):
        yield restarts
