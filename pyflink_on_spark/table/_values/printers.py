"""What the print tables of a job do with their rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._job.display.console import console
from pyflink_on_spark._sql.tables.connectors.printing import PrintTableSink


def table_printers(transformations: Iterable[Transformation]) -> dict[str, Any]:
    """Return what a job's print tables do with their lines, by the channel to the driver."""
    sinks = (each.sink for each in transformations)
    return {sink.channel: _printer(sink) for sink in sinks if isinstance(sink, PrintTableSink)}


def _printer(sink: PrintTableSink) -> Any:
    def write(lines: list[str]) -> None:
        console.write("\n".join(lines), sys.stderr if sink.standard_error else None)

    return write
