"""Jobs with BATCH semantics as Arrow batches between stages, without Spark."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow
import pytest

from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.task.stage import DRIVER, START
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.structured.stage_frames import _Stage
from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from tests.structured.jobs import submitted

NAMES = ("subtask", "channel", "seq", "payload")


def _batch(rows: list[Any]) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pylist([dict(zip(NAMES, row, strict=True)) for row in rows])


def _rows(stream: Any) -> list[Any]:
    """Return the rows of a job's last stage for the driver."""
    job = submitted(stream)
    environment = WorkerEnvironment.of_driver(ShippedDependencies())
    rows: list[Any] = []
    for number, stage in enumerate(job.stages):
        plan = pickle.dumps((stage, job.settings), 5)
        mine = {subtask for subtask, _, _ in stage.subtasks()}
        if number == 0:
            rows = [(subtask, START, 0, b"") for subtask in sorted(mine)]
        leaving = [row for row in rows if row[0] not in mine]
        for subtask in sorted(mine):
            given = sorted((r for r in rows if r[0] == subtask), key=lambda r: (r[2], r[1]))
            for found in _Stage(plan, number, 0, environment)(iter([_batch(given)])):
                leaving += zip(*(column.to_pylist() for column in found.columns), strict=True)
        rows = leaving
    return rows


@pytest.mark.parametrize("parallelism", [1, 2])
def test_results_and_their_order(parallelism):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(parallelism)
    pairs = env.from_collection([(i % 5, i) for i in range(100)])
    rows = _rows(pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])))
    assert {row[0] for row in rows} == {DRIVER}
    sent = [pickle.loads(row[3]) for row in rows if row[1] < 0]
    found = [
        deserialize(thing) for _, things in sent for thing in things if isinstance(thing, bytes)
    ]
    assert sorted(found) == [(key, sum(range(key, 100, 5))) for key in range(5)]
