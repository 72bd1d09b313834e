"""The environment in which a program is built and executed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark._graph.execution_plan import execution_plan_json
from pyflink_on_spark._graph.stream_graph import GraphSettings, StreamGraph
from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._job.display.progress import console
from pyflink_on_spark._job.submission.base_configuration import base_configuration
from pyflink_on_spark._job.submission.job import JobHandle, current_engine
from pyflink_on_spark._job.submission.translation import translate
from pyflink_on_spark._job.submission.unexecuted import UNEXECUTED
from pyflink_on_spark._options import checkpointing, execution, pipeline, python
from pyflink_on_spark._options.notes import note_without_effect
from pyflink_on_spark._options.registry import check_own_keys, options_of
from pyflink_on_spark.common import Configuration, ExecutionConfig, JobClient, JobExecutionResult
from pyflink_on_spark.datastream.checkpoint_config import CheckpointConfig
from pyflink_on_spark.datastream.stream_execution_environment.checkpoints import (
    Checkpointing,
)
from pyflink_on_spark.datastream.stream_execution_environment.dependencies import Dependencies
from pyflink_on_spark.datastream.stream_execution_environment.handle import EnvironmentHandle
from pyflink_on_spark.datastream.stream_execution_environment.sources import Sources
from pyflink_on_spark.serializers import PickleSerializer

DEFAULT_JOB_NAME = "Flink Streaming Job"
_numbers = itertools.count()
_NO_OPERATORS = "No operators defined in streaming topology. Cannot execute."
_CLOSED = (
    "this StreamExecutionEnvironment is closed: get a new one with "
    "StreamExecutionEnvironment.get_execution_environment()"
)


class StreamExecutionEnvironment(Checkpointing, Dependencies, Sources):
    """Collects the operators of a program, and runs them.

    Args:
        j_stream_execution_environment: the environment's ``Configuration``; use
            ``get_execution_environment``.
        serializer: accepted; elements are always pickled.

    Example:
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env = env.set_parallelism(1)
        >>> sink = env.from_collection(["a", "b"]).map(str.upper).print()
        >>> result = env.execute("upper case")
        A
        B
    """

    def __init__(self, j_stream_execution_environment, serializer=PickleSerializer()):
        handle = j_stream_execution_environment
        if not isinstance(handle, EnvironmentHandle):
            handle = EnvironmentHandle(handle)
        super().__init__(handle.configuration)
        self._j_stream_execution_environment = handle
        self.serializer = serializer
        self._transformations: list[Transformation] = []
        self._printers: dict[str, Any] = {}
        self._progress_listeners: list[Any] = []
        self._cached_files: dict[str, str] = {}
        self._closed = False
        self._number = next(_numbers)

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        """Return a new environment.

        Its configuration begins with that of ``FLINK_CONF_DIR`` and with the options of
        ``python -m pyflink_on_spark``.

        Args:
            configuration: Flink's keys; ``spark.*`` keys go to the session. They win.

        Raises:
            ValueError: an option has a value that it cannot have.
        """
        environment = StreamExecutionEnvironment(Configuration())
        environment.configure(Configuration.from_dict(base_configuration()))
        if configuration is not None:
            environment.configure(configuration)
        return environment

    def configure(self, configuration: Configuration) -> None:
        """Take over every key of a configuration.

        Raises:
            ValueError: an option has a value that it cannot have, or this package's prefix and a
                name that it does not have; nothing is taken over.
        """
        together = Configuration(self._configuration).add_all(configuration)
        check_own_keys(together.key_set())
        ExecutionConfig(together)._check()
        CheckpointConfig(together)._check()
        self._configuration.add_all(configuration)

    def close(self) -> None:
        """End the use of the environment.

        On Spark: a closed environment accepts no operators and runs no jobs. PyFlink's does.
        """
        self._forget()
        self._closed = True

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run everything that was added since the last time, and wait for the end.

        Raises:
            JobExecutionError: if the job fails; it begins with the user's own traceback. In a
                script that imports py4j it also is a ``py4j.protocol.Py4JJavaError``.
            ValueError: if nothing was added.
        """
        return self._submit(self._take(), job_name, attached=True).result()

    def execute_async(self, job_name: str = DEFAULT_JOB_NAME) -> JobClient:
        """Run everything that was added since the last time, and return at once."""
        return JobClient(self._submit(self._take(), job_name))

    def get_execution_plan(self) -> str:
        """Return the execution plan, as Flink's JSON."""
        if not self._transformations:
            raise ValueError(_NO_OPERATORS)
        graph = StreamGraph(self._transformations, self._graph_settings(self._transformations))
        return execution_plan_json(graph)

    # -- for the mirror's other classes ----------------------------------------------------------

    def _add(self, transformation: Transformation) -> None:
        self._require_open()
        self._transformations.append(transformation)
        UNEXECUTED.added(self._number, transformation)

    def _forget(self) -> list[Transformation]:
        UNEXECUTED.executed(self._number)
        forgotten, self._transformations = self._transformations, []
        self._printers = {}
        return forgotten

    def _printing_channel(self) -> str:
        channel = f"print-{len(self._printers)}"
        self._printers[channel] = _print_lines
        return channel

    def _collect(
        self, job_name: str | None, channel: str, beside: list[Transformation]
    ) -> Iterator[Any]:
        return self._submit(self._take(), job_name, channel, beside=beside).collected()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(_CLOSED)

    def _take(self) -> list[Transformation]:
        self._require_open()
        if not self._transformations:
            raise ValueError(_NO_OPERATORS)
        UNEXECUTED.executed(self._number)
        taken = list(self._transformations)
        self._transformations.clear()
        return taken

    def _submit(
        self,
        transformations: list[Transformation],
        job_name: str | None,
        collected: str | None = None,
        attached: bool = False,
        beside: Iterable[Transformation] = (),
    ) -> JobHandle:
        printers, self._printers = self._printers, {}
        self._check_cached_files()
        self._check_options()
        job = translate(
            transformations,
            self._graph_settings(transformations),
            name=job_name or self._configuration._read(pipeline.NAME) or DEFAULT_JOB_NAME,
            job_parameters=self.get_config().get_global_job_parameters(),
            configuration=self._configuration.to_dict(),
            printers=printers,
            collected=collected,
            attached=attached,
            listeners=self._progress_listeners,
            beside=beside,
        )
        return current_engine().submit(job)

    def _check_options(self) -> None:
        """Refuse unknown and invalid options of this package, and log options without effect."""
        check_own_keys(self._configuration.key_set())
        for module in (execution, checkpointing, python):
            for option in options_of(module):
                self._configuration._read(option)
        note_without_effect(self._configuration._values)

    def _graph_settings(self, transformations: list[Transformation]) -> GraphSettings:
        mode = self._configuration._read(execution.RUNTIME_MODE)
        maximum = self.get_max_parallelism()
        endless = _endless(transformations)
        if mode == execution.BATCH and endless is not None:
            raise ValueError(_no_batch(endless))
        return GraphSettings(
            parallelism=self.get_parallelism(),
            max_parallelism=maximum if maximum > 0 else None,
            chaining=self.is_chaining_enabled(),
            python_chaining=self._configuration._read(python.OPERATOR_CHAINING),
            batch=mode == execution.BATCH or (mode == execution.AUTOMATIC and endless is None),
        )


def _endless(transformations: Iterable[Transformation]) -> Transformation | None:
    """Return a source that never ends, if there is one."""
    seen: set[Transformation] = set()
    stack = list(transformations)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.source is not None and not node.source.bounded:
            return node
        stack += [edge.upstream for edge in node.edges]
    return None


def _no_batch(source: Transformation) -> str:
    return (
        f"BATCH mode needs sources that end, and the source {source.name!r} (added at "
        f"{source.call_site}) does not: choose RuntimeExecutionMode.STREAMING or AUTOMATIC"
    )


def _print_lines(lines: list[str]) -> None:
    console.write("\n".join(lines))
