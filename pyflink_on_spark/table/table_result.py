"""The result of a statement, and the printers of print tables."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._graph.stream_graph import Transformation
from pyflink_on_spark._job.display import console
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.session.commands import printed, printed_listing
from pyflink_on_spark._sql.tables.connectors.printing import PrintTableSink
from pyflink_on_spark._sql.types.external import row_converter, to_collected
from pyflink_on_spark.common import JobClient
from pyflink_on_spark.common.types import Row, RowKind
from pyflink_on_spark.table._values.html import rows_html
from pyflink_on_spark.table.catalog import ResolvedSchema
from pyflink_on_spark.table.table_schema import TableSchema


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


__all__ = ["TableResult", "CloseableIterator"]

_SHOWN = 100


class TableResult:
    """The result of a statement: rows, a job, or only its success.

    Args:
        j_table_result: made by ``execute_sql``, ``execute`` and the like.
    """

    def __init__(self, j_table_result):
        self._outcome: StatementResult = own_handle(
            j_table_result, StatementResult, "TableResult(j_table_result)"
        )
        self._changes: Iterator[Any] | None = None

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job; None if there is none."""
        return self._outcome.client

    def wait(self, timeout_ms: int | None = None):
        """Wait until the job of an INSERT has ended.

        Args:
            timeout_ms: how long at most; None for any time.

        Raises:
            JobExecutionError: the job has failed.
            TimeoutError: it has not ended in that time.
        """
        finished = self._outcome.finished
        if finished is None:
            return
        if timeout_ms is None:
            finished()
            return
        waiting = threading.Thread(target=_quietly, args=(finished,), daemon=True)
        waiting.start()
        waiting.join(timeout_ms / 1000)
        if waiting.is_alive():
            raise TimeoutError(f"the job has not ended in {timeout_ms} ms")
        finished()

    def get_table_schema(self) -> TableSchema:
        """Return the columns of the rows."""
        return TableSchema._of(self._outcome.schema)

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns of the rows."""
        return ResolvedSchema._of_rows(self._outcome.schema)

    def get_result_kind(self):
        """Return whether there are rows: one of ResultKind."""
        return self._outcome.kind

    def collect(self) -> CloseableIterator:
        """Return the rows as they arrive; closing the iterator ends the job.

        Raises:
            TypeError: a column has a type without Python objects: VARIANT, BITMAP or STRUCTURED.
        """
        convert = row_converter(self._outcome.schema.types, to_collected)
        return CloseableIterator(self._rows(convert), None)

    def print(self):
        """Print the rows as a table of text."""
        outcome = self._outcome
        if outcome.kind == 0:
            console.write("OK")
            return
        lines: Iterator[str]
        if outcome.print_text:
            lines = (str(row[0]) for _, row in self._taken())
        elif outcome.print_kinds is None:
            rows = [row for _, row in self._taken()]
            lines = printed_listing(outcome.schema, rows, outcome.time_zone)
        else:
            lines = printed(
                outcome.schema, self._taken(), outcome.time_zone, kinds=outcome.print_kinds
            )
        for line in lines:
            console.write(line)

    def _repr_html_(self) -> str:
        """The first hundred rows, for notebooks.

        A result that does not end, or an INSERT, is not waited for.
        """
        outcome = self._outcome
        client = outcome.client
        if client is not None and outcome.print_kinds is not False:
            job_id = client.get_job_id()
            return f"<p>Job {job_id}: print(), collect() or wait() of this result</p>"
        changes = self._taken()
        rows = [row for _, row in islice(changes, _SHOWN)]
        cut = len(rows) == _SHOWN and next(iter(changes), None) is not None
        close = getattr(changes, "close", None)
        if close is not None:
            close()
        note = f"the first {_SHOWN} rows" if cut else ""
        return rows_html(outcome.schema, rows, outcome.time_zone, note=note)

    def _taken(self) -> Iterator[Any]:
        if self._changes is None:
            self._changes = self._outcome.changes()
        return self._changes

    def _rows(self, convert: Callable[[Any], list[Any]]) -> Iterator[Row]:
        changes = self._taken()
        try:
            for kind, values in changes:
                row = Row(*convert(values))
                row.set_row_kind(RowKind(kind))
                yield row
        finally:
            close = getattr(changes, "close", None)
            if close is not None:
                close()


def _quietly(call: Any) -> None:
    try:
        call()
    except Exception:  # noqa: BLE001 - the waiting thread raises it
        return


class CloseableIterator:
    """The rows of a result. Closing it ends the job.

    Args:
        j_closeable_iterator: a generator of rows.
        field_data_types: not used.
    """

    def __init__(self, j_closeable_iterator, field_data_types):
        self._rows = j_closeable_iterator

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._rows)

    def next(self):
        """Return the next row.

        Raises:
            StopIteration: when there is none.
        """
        return next(self._rows)

    def close(self):
        """End the job, if it still runs."""
        self._rows.close()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.close()


__getattr__ = missing_name(__name__)
