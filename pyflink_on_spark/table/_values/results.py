"""The results of statements, and the printers of their tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._graph.stream_graph import Transformation
from pyflink_on_spark._job.display import console
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.tables.connectors.printing import PrintTableSink
from pyflink_on_spark.common import JobClient


def table_printers(transformations: Iterable[Transformation]) -> dict[str, object]:
    """Return the printers of a job's print tables, by the channel to the driver."""
    sinks = (each.sink for each in transformations)
    return {sink.channel: _printer(sink) for sink in sinks if isinstance(sink, PrintTableSink)}


def _printer(sink: PrintTableSink) -> object:
    def write(lines: list[str]) -> None:
        console.write("\n".join(lines), sys.stderr if sink.standard_error else None)

    return write


Change = tuple[int, tuple[Any, ...]]
"""A row's kind, and the row."""


@dataclass
class StatementResult:
    """The result of a statement.

    Args:
        schema: the columns of its rows.
        kind: one of ResultKind.
        changes: gives the rows; called once.
        time_zone: the session's, by name.
        print_kinds: whether rows are printed with their kinds; None: as a short listing.
        job: the handle of the job, or None.
        finished: waits for the job's end, or None.
        print_text: whether the first column alone is printed, without a frame.
    """

    schema: Schema
    kind: int
    changes: Callable[[], Iterator[Change]]
    time_zone: str = "UTC"
    print_kinds: bool | None = None
    job: object = None
    finished: Callable[[], object] | None = None
    print_text: bool = False

    @property
    def client(self) -> JobClient | None:
        """The client of the job, or None."""
        return None if self.job is None else JobClient(self.job)
