"""The connectors print and blackhole."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.builtin import PrintSink
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.nodes import ChangeKinds
from pyflink_on_spark._sql.plan.options import Option, boolean, integer, text
from pyflink_on_spark._sql.plan.ports import TableContext, TableFactory, TableSink, Writing
from pyflink_on_spark._sql.types.text import print_text

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._sql.plan.nodes import Schema


_IDENTIFIER = Option("print-identifier", text)
_STANDARD_ERROR = Option("standard-error", boolean, default=False)
_PARALLELISM = Option("sink.parallelism", integer)
_KINDS = ("+I", "-U", "+U", "-D")

_channels = itertools.count(1)


class PrintTableSink(PrintSink):
    """Prints texts on the driver's console; each sink has a channel to the driver of its own.

    Args:
        identifier: stands before each line.
        standard_error: whether it prints there.
    """

    def __init__(self, identifier: str | None, standard_error: bool) -> None:
        self.channel = f"print-table-{next(_channels)}"
        self.standard_error = standard_error
        super().__init__(self.channel, None, identifier)


class PrintFactory(TableFactory):
    """The connector ``print``."""

    identifier = "print"
    options = (_IDENTIFIER, _STANDARD_ERROR, _PARALLELISM)  # type: ignore[assignment]

    def sink(self, context: TableContext) -> TableSink:
        """Return the table."""
        options = context.options
        sink = PrintTableSink(options[_IDENTIFIER], bool(options[_STANDARD_ERROR]))
        return _PrintTable(sink, options[_PARALLELISM], context.time_zone)


class _PrintTable(TableSink):
    accepts = ChangeKinds.ALL
    takes_what_comes = True

    def __init__(self, sink: PrintTableSink, parallelism: int | None, zone: str) -> None:
        self._sink, self._parallelism, self._zone = sink, parallelism, zone

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        return Writing(self._sink, RowTexts(schema, changelog, self._zone), self._parallelism)


class RowTexts(Operator):
    """Makes of each row the text that a print table shows.

    Args:
        schema: the columns.
        changelog: whether elements are pairs of the kind and the row.
        time_zone: the session's, by name.
    """

    emits_immutable = True

    def __init__(self, schema: Schema, changelog: bool, time_zone: str) -> None:
        self._schema, self._changelog, self._zone = schema, changelog, time_zone

    def open(self, context: OperatorContext) -> None:
        """Choose how each column is written."""
        self._texts: list[Callable[[Any], str]] = [
            print_text(kind, self._zone) for kind in self._schema.types
        ]

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the texts."""
        texts = self._texts
        if self._changelog:
            for kind, row in elements:
                yield f"{_KINDS[kind]}[{', '.join([text(v) for text, v in zip(texts, row)])}]"
            return
        for row in elements:
            yield f"+I[{', '.join([text(value) for text, value in zip(texts, row)])}]"


class BlackholeFactory(TableFactory):
    """The connector ``blackhole``."""

    identifier = "blackhole"

    def sink(self, context: TableContext) -> TableSink:
        """Return the table."""
        return _BlackholeTable()


class _BlackholeTable(TableSink):
    accepts = ChangeKinds.ALL
    takes_what_comes = True
    needs_update_before = False

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        return Writing(BlackholeSink())


class BlackholeSink(Sink):
    """Takes everything, and keeps nothing."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer."""
        return _Swallowing()


class _Swallowing(SinkWriter):
    def write(self, elements: Iterator[object]) -> None:
        deque(elements, maxlen=0)
