"""Tables and views, as a catalog has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.syntax.statements import ColumnKind, Distribution
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._sql.plan.nodes import Node


class ObjectPath(NamedTuple):
    """The whole name of something.

    Args:
        catalog: the catalog's name.
        database: the database's name.
        name: its own name.
    """

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(self)

    @property
    def quoted(self) -> str:
        """The name with back-ticks."""
        return ".".join(f"`{part}`" for part in self)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: its name.
        type: its type; of a rowtime attribute with its attribute.
        kind: where its values come from.
        expression: what computes it, over the physical and metadata columns.
        text: that, as it was written.
        metadata_key: the key of its metadata, if that is not the column's name.
        virtual: whether it is not written.
        comment: what is in it, or None.
    """

    name: str
    type: LogicalType
    kind: ColumnKind = ColumnKind.PHYSICAL
    expression: Typed | None = None
    text: str = ""
    metadata_key: str | None = None
    virtual: bool = False
    comment: str | None = None

    @property
    def persisted(self) -> bool:
        """True for a column that a sink writes."""
        return self.kind is ColumnKind.PHYSICAL or (
            self.kind is ColumnKind.METADATA and not self.virtual
        )


@dataclass(frozen=True)
class Watermark:
    """The watermark of a table.

    Args:
        column: the name of the rowtime attribute.
        expression: over all columns; None for those of the source itself.
        text: that, as it was written.
    """

    column: str
    expression: Typed | None
    text: str


@dataclass(frozen=True)
class ResolvedSchema:
    """The columns of a table, with all types known.

    Args:
        columns: the columns.
        watermark: how it makes watermarks, or None.
        primary_key: the names of the columns of the primary key, or None.
        key_name: the name of that constraint, or None for a made one.
    """

    columns: tuple[Column, ...]
    watermark: Watermark | None = None
    primary_key: tuple[str, ...] | None = None
    key_name: str | None = None

    def of_kind(self, *kinds: ColumnKind) -> tuple[Column, ...]:
        """Return the columns of some kinds."""
        return tuple(column for column in self.columns if column.kind in kinds)

    @property
    def physical(self) -> Schema:
        """The columns that are in the connector's records."""
        return _schema(self.of_kind(ColumnKind.PHYSICAL))

    @property
    def row(self) -> Schema:
        """All columns."""
        return _schema(self.columns)

    @property
    def sink(self) -> Schema:
        """The columns that can be written."""
        return _schema(tuple(column for column in self.columns if column.persisted))

    def index(self, name: str) -> int:
        """Return the position of a column."""
        return self.row.names.index(name)


def _schema(columns: tuple[Column, ...]) -> Schema:
    return Schema(
        tuple(column.name for column in columns), tuple(column.type for column in columns)
    )


@dataclass(frozen=True)
class CatalogTable:
    """A table of a connector.

    Args:
        schema: its columns.
        options: of ``WITH``.
        partition_by: the columns that partitions are made of.
        comment: what is in it, or None.
        distribution: its buckets, or None.
    """

    schema: ResolvedSchema
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    comment: str | None = None
    distribution: Distribution | None = None


@dataclass(frozen=True)
class CatalogView:
    """A query under a name.

    Args:
        query: the plan, or a function that makes it whenever the view is read.
        text: as it was written; None for a table of the DSL or a stream.
        comment: what is in it, or None.
        options: those that a program has given; no query reads them.
        declared: the columns that a program has given; None for those of the query.
    """

    query: Node | Callable[[], Node]
    text: str | None = None
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    declared: ResolvedSchema | None = None

    @property
    def plan(self) -> Node:
        """The query, bound."""
        return self.query() if callable(self.query) else self.query
