"""Calls of functions on a Spark Connect server, which reaches the homes of queries."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.structured.slow_start import once_started

_NAME, _CALL, _RESULT = "pyflink-on-spark-call", "call", "result"
_MOST_BYTES = 1 << 20


class ServerCall(DataSource):
    """Calls a function while the server plans a query that reads this source.

    Nobody reads it: the result of the call is in the schema. So a call takes no task slot, for
    which it could wait until the slots of an idle job end their micro-batch.
    """

    @classmethod
    def name(cls) -> str:
        """The name of the source."""
        return _NAME

    def schema(self) -> StructType:
        """Call the function, and return a schema with its result."""
        function, environment = pickle.loads(base64.b64decode(self.options[_CALL]))
        with environment.active():
            result = cloudpickle.dumps(function(), 5)
        told = base64.b64encode(result).decode() if len(result) <= _MOST_BYTES else None
        return StructType().add(_RESULT, "string", metadata={_RESULT: told})


def in_planner(
    session: Any, environment: WorkerEnvironment, function: Callable[[], object], job: str
) -> object:
    """Call a function in the server's own Python process; return the result.

    Args:
        session: that of the job, which has the source.
        environment: that of tasks.
        function: may run again: in a task, if its result is large.
        job: the name of the job.
    """
    call = base64.b64encode(cloudpickle.dumps((function, environment), 5)).decode()
    source = session.read.format(_NAME).option(_CALL, call)
    schema = once_started(lambda: source.load().schema, job)
    told = schema[_RESULT].metadata[_RESULT]
    if told is None:
        return in_task(session, environment, function, job)
    return pickle.loads(base64.b64decode(told))


def in_task(
    session: Any, environment: WorkerEnvironment, function: Callable[[], object], job: str
) -> object:
    """Call a function in a task; for the arguments and the result see ``in_planner``."""

    def call(batches: Any) -> object:
        import pyarrow

        for _ in batches:
            pass
        with environment.active():
            result = cloudpickle.dumps(function(), 5)
        yield pyarrow.RecordBatch.from_pydict({"result": [result]})

    called = session.range(0, 1, 1, 1).mapInArrow(call, "result BINARY")
    [row] = once_started(called.collect, job)
    return pickle.loads(bytes(row[0]))
