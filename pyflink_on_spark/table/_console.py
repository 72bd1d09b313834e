"""What tables print."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import Any, TextIO

from pyflink_on_spark._graph.transformation import Transformation
from pyflink_on_spark._sql.connectors.printing import PrintTableSink

_console = threading.Lock()


def print_line(line: str) -> None:
    """Print a line; lines of several threads do not get mixed up."""
    _write(sys.stdout, line)


def table_printers(transformations: Iterable[Transformation]) -> dict[str, Any]:
    """Return what a job's print tables do with their lines, by the channel to the driver."""
    sinks = (each.sink for each in transformations)
    return {sink.channel: _printer(sink) for sink in sinks if isinstance(sink, PrintTableSink)}


def _printer(sink: PrintTableSink) -> Any:
    def write(lines: list[str]) -> None:
        _write(sys.stderr if sink.standard_error else sys.stdout, "\n".join(lines))

    return write


def _write(stream: TextIO, text: str) -> None:
    with _console:
        stream.write(text + "\n")
        stream.flush()
