"""The table that swallows everything."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._sql.plan.changes import ModifyKinds
from pyflink_on_spark._sql.plan.ports import TableContext, TableFactory, TableSink, Writing

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._sql.plan.schema import Schema


class BlackholeFactory(TableFactory):
    """The connector ``blackhole``."""

    identifier = "blackhole"

    def sink(self, context: TableContext) -> TableSink:
        """Return the table."""
        return _BlackholeTable()


class _BlackholeTable(TableSink):
    accepts = ModifyKinds.ALL
    before = False

    def writing(self, schema: Schema, changelog: bool) -> Writing:
        return Writing(BlackholeSink())


class BlackholeSink(Sink):
    """Takes everything, and keeps nothing."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer."""
        return _Swallowing()


class _Swallowing(SinkWriter):
    def write(self, elements: Iterator[Any]) -> None:
        deque(elements, maxlen=0)
