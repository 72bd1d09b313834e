"""The contract of connectors for tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import ChangeKinds
from pyflink_on_spark._sql.plan.options import Option, TableOptions

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector import Sink, Source
    from pyflink_on_spark._runtime.contract.operator import Operator, OperatorContext
    from pyflink_on_spark._sql.plan.nodes import Schema
    from pyflink_on_spark._sql.plan.options import ObjectPath, ResolvedSchema
    from pyflink_on_spark._sql.types.logical import LogicalType


@dataclass(frozen=True)
class TableContext:
    """A table, as its connector sees it.

    Args:
        path: the table.
        schema: its columns.
        options: of ``WITH`` and of hints.
        partition_by: the columns that partitions are made of.
        configuration: the session's.
        time_zone: the session's, by name.
        batch: whether the query runs in batch mode.
        overwrite: whether an INSERT replaces what is there.
        fixed: the partition columns whose values an INSERT gives.
    """

    path: ObjectPath
    schema: ResolvedSchema
    options: TableOptions
    partition_by: tuple[str, ...] = ()
    configuration: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"
    batch: bool = False
    overwrite: bool = False
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The source of a table, and the conversion of its elements to rows.

    Args:
        source: the runtime's.
        decoder: makes rows of what the source gives; None if the source gives rows.
    """

    source: Source
    decoder: Operator | None = None


class TableSource(ABC):
    """A table that can be scanned.

    Rows are tuples of the physical columns, then of the metadata columns that were asked for. If
    there are other changes than inserts, elements are pairs of the kind and the row.
    """

    changes: ChangeKinds = ChangeKinds.INSERT
    emits_update_before: bool = True
    """True if each update has its UPDATE_BEFORE row; if not, the planner keeps rows to add it."""

    def metadata(self) -> Mapping[str, LogicalType]:
        """Return the metadata that there are, and their types."""
        return {}

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        """Return the same table with only some physical columns, or None if it gives all.

        Args:
            columns: their positions, in the order in which rows have them.
        """
        return None

    def lookup(self, keys: tuple[int, ...]) -> Lookup | None:
        """Return the lookup by the values of some columns, or None if the connector has none.

        Args:
            keys: the positions of the columns among the physical ones.
        """
        return None

    @abstractmethod
    def reading(self, metadata: tuple[str, ...]) -> Reading:
        """Return how to read it.

        Args:
            metadata: the keys of the metadata columns, in the order in which rows have them.
        """


class RefusedSource(TableSource):
    """A table whose connector refuses to read it, which is an error when a query has been planned.

    Args:
        error: says why.
        metadata: the metadata columns that the table declares, by key.
    """

    def __init__(self, error: ValidationError, metadata: Mapping[str, LogicalType]) -> None:
        self.error, self._metadata = error, metadata

    def metadata(self) -> Mapping[str, LogicalType]:
        """Return the declared columns."""
        return self._metadata

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        """Refuse the table.

        Raises:
            ValidationError: always.
        """
        raise self.error


@dataclass(frozen=True)
class Writing:
    """The sink of a table, and the conversion of rows to its elements.

    Args:
        sink: the runtime's.
        encoder: makes of rows what the sink takes; None if that is rows. Elements are rows, or
            pairs of the kind and the row if ``changelog`` was said.
        parallelism: how many subtasks write; None: as many as the input has.
        spread_by: the places of columns; one subtask encodes and writes the rows with equal values
            of them. The encoder then takes pairs of the values and the row.
    """

    sink: Sink
    encoder: Operator | None = None
    parallelism: int | None = None
    spread_by: tuple[int, ...] = ()


class TableSink(ABC):
    """A table that can be written."""

    accepts: ChangeKinds = ChangeKinds.INSERT
    needs_update_before: bool = True
    """True if the sink needs UPDATE_BEFORE rows; with a primary key it does not."""
    takes_what_comes: bool = False
    """True if the sink takes the changes that a query has, and says nothing of others.

    Rows that are only added have no conflicts then, whatever their primary keys.
    """

    @abstractmethod
    def writing(self, schema: Schema, changelog: bool) -> Writing:
        """Return how to write rows.

        Args:
            schema: their columns.
            changelog: whether elements are pairs of the kind and the row.
        """


class TableFactory(ABC):
    """A connector, found by the option ``connector``.

    A subclass overrides what the connector can do.
    """

    identifier: ClassVar[str]
    options: ClassVar[tuple[Option[object], ...]] = ()
    overwrites: ClassVar[bool] = False
    """True if INSERT OVERWRITE can replace the table's rows."""

    def source(self, context: TableContext) -> TableSource:
        """Return a table to be scanned.

        Raises:
            ValidationError: an option is wrong or missing, or it cannot be scanned.
        """
        raise ValidationError(
            f"Connector '{self.identifier}' can only be used as a sink. "
            "It cannot be used as a source."
        )

    def sink(self, context: TableContext) -> TableSink:
        """Return a table to be written.

        Raises:
            ValidationError: an option is wrong or missing, or it cannot be written.
        """
        raise ValidationError(
            f"Connector '{self.identifier}' can only be used as a source. "
            "It cannot be used as a sink."
        )


Rows = Sequence[tuple[Any, ...]]


Find = Callable[[tuple[Any, ...]], Rows]
"""Returns the rows in which the key columns have some values."""


class Lookup(ABC):
    """Finds rows of a table by the values of some columns. Picklable."""

    @abstractmethod
    def open(self, context: OperatorContext | None) -> Find:
        """Return the function that finds rows; called once in each subtask."""

    def close(self, find: Find) -> None:  # noqa: B027 - most have nothing to release
        """Release what ``open`` returned."""
