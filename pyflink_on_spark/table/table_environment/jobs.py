"""Runs the plans of a TableEnvironment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyflink_on_spark._connectors.builtin import CollectSink
from pyflink_on_spark._graph.stream_graph import Aligned, Transformation
from pyflink_on_spark._sql.plan.nodes import INSERT, ChangeKinds, ExternalSink, Node, Schema, Sink
from pyflink_on_spark._sql.planner.physical import GraphBuilder
from pyflink_on_spark._sql.planner.physical_planner import plan
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.common import Configuration, JobExecutionResult
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.table.result_kind import ResultKind
from pyflink_on_spark.table.table_config import TableConfig
from pyflink_on_spark.table.table_result import Change, StatementResult, table_printers

_CHANNEL = "collect"


class Jobs:
    """Submits the jobs of one TableEnvironment.

    Args:
        environment: where its streams are.
        config: options that come before the environment's.
        session: what plans queries.
    """

    def __init__(
        self, environment: StreamExecutionEnvironment, config: TableConfig, session: Session
    ) -> None:
        self._environment, self._config, self._session = environment, config, session

    def configuration(self) -> Configuration:
        """Return all options as they are now."""
        together = Configuration(self._environment._configuration)
        return together.add_all(self._config.get_configuration())

    def configure_environment(self) -> None:
        """Give the environment of the streams the options of tables, as they are now."""
        self._environment.configure(self._config.get_configuration())

    def collect(self, node: Node, *, kinds: bool) -> StatementResult:
        """Start a job that brings the rows of a query to the program.

        Args:
            node: the query.
            kinds: whether rows are printed with their kinds.
        """
        settings = self._session.settings()
        sink = ExternalSink(node.schema, node, "*anonymous_collect$1*", ChangeKinds.ALL)
        planned = plan([sink], settings)
        (stream,) = planned.streams
        builder = GraphBuilder(settings)
        builder.write("Collect", stream.edges, CollectSink(_CHANNEL), aligned=Aligned.INPUT)
        transformations = [*planned.transformations, *builder.added]
        handle = self._submit(transformations, "collect", _CHANNEL)
        return StatementResult(
            node.schema,
            ResultKind.SUCCESS_WITH_CONTENT,
            lambda: _changes(handle.collected(), stream.changelog),
            settings.time_zone,
            kinds,
            handle,
        )

    def insert(self, sinks: Sequence[Sink]) -> StatementResult:
        """Start a job that writes to tables."""
        settings = self._session.settings()
        planned = plan(sinks, settings)
        names = ",".join(str(sink.path) for sink in sinks)
        handle = self._submit(list(planned.transformations), f"insert-into_{names}")
        columns = tuple(str(sink.path) for sink in sinks)
        schema = Schema(columns, (logical.BIGINT,) * len(columns))
        return StatementResult(
            schema,
            ResultKind.SUCCESS_WITH_CONTENT,
            lambda: iter([(INSERT, (-1,) * len(columns))]),
            settings.time_zone,
            print_text=True,
            job=handle,
            finished=handle.result,
        )

    def run(self, sinks: Sequence[Sink], name: str) -> JobExecutionResult:
        """Run a job that writes to tables, and return when it has ended.

        Args:
            sinks: what is written, and where to.
            name: the job's.
        """
        planned = plan(sinks, self._session.settings())
        result: JobExecutionResult = self._submit(list(planned.transformations), name).result()
        return result

    def attach(self, sinks: Sequence[Sink]) -> None:
        """Let the environment's next job write to tables, too."""
        planned = plan(sinks, self._session.settings())
        for transformation in planned.transformations:
            self._environment._add(transformation)
        self.configure_environment()
        self._environment._printers.update(table_printers(planned.transformations))

    def _submit(
        self, transformations: list[Transformation], name: str, collected: str | None = None
    ) -> Any:
        """Start a job with the options of tables."""
        self.configure_environment()
        environment = StreamExecutionEnvironment.get_execution_environment(self.configuration())
        environment._cached_files = self._environment._cached_files
        environment._progress_listeners = self._environment._progress_listeners
        environment._printers = table_printers(transformations)
        return environment._submit(transformations, name, collected)


def _changes(elements: Iterator[Any], changelog: bool) -> Iterator[Change]:
    if changelog:
        return elements
    return _inserts(elements)


def _inserts(rows: Iterator[Any]) -> Iterator[Change]:
    try:
        for row in rows:
            yield INSERT, row
    finally:
        close = getattr(rows, "close", None)
        if close is not None:
            close()
