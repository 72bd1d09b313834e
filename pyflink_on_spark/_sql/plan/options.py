"""The options of a table, and the objects of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pyflink_on_spark._options.option import (
    parse_boolean,
    parse_duration_ms,
    parse_long,
    parse_memory_bytes,
)
from pyflink_on_spark._sql.errors import ValidationError, did_you_mean
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.syntax.statements import ColumnKind, Distribution
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._sql.plan.nodes import Node


Value = TypeVar("Value")
boolean = parse_boolean
integer = parse_long
memory_size = parse_memory_bytes
duration = parse_duration_ms
"""Reads a time, and gives it in ms."""


@dataclass(frozen=True)
class Option(Generic[Value]):
    """An option that a connector or a format understands.

    Args:
        key: its key; a ``#`` in it stands for the name of a column.
        read: makes its value of a text; raises ValueError.
        default: its value where it is not given.
        required: whether it has to be given.
    """

    key: str
    read: Callable[[str], Value]
    default: Value | None = None
    required: bool = False


def text(value: str) -> str:
    """Read a text."""
    return value


def one_of(*values: str) -> Callable[[str], str]:
    """Read one of some words, in any case."""

    def read(value: str) -> str:
        word = value.strip().lower()
        if word not in values:
            raise ValueError(f"it has to be one of {', '.join(values)}")
        return word

    return read


class TableOptions:
    """The options of a table, and the keys among them that were understood.

    Args:
        given: of ``WITH``.
        prefix: what stands before the keys of a format, ``csv.`` for example.
        used: the keys that were understood; shared with the options of formats.
    """

    def __init__(
        self, given: Mapping[str, str], prefix: str = "", used: set[str] | None = None
    ) -> None:
        self.given, self.prefix = given, prefix
        self.used = set() if used is None else used

    def __getitem__(self, option: Option[Value]) -> Value:
        """Return an option's value.

        Raises:
            ValidationError: it is missing, or its text is wrong.
        """
        key = self.prefix + option.key
        self.used.add(key)
        written = self.given.get(key)
        if written is None:
            if option.required:
                raise ValidationError(
                    "One or more required options are missing.\n\n"
                    f"Missing required options are:\n\n{key}"
                )
            return option.default  # type: ignore[return-value]
        try:
            return option.read(written)
        except ValueError as error:
            raise ValidationError(
                f"Invalid value for option '{key}': '{written}': {error}"
            ) from None

    def note(self, options: Iterable[Option[Any]]) -> None:
        """Count options as understood, also those without a part in the current use.

        Raises:
            ValidationError: the text of one is wrong.
        """
        for option in options:
            self.used.add(self.prefix + option.key)
            if self.has(option):
                self[option]

    def has(self, option: Option[Any]) -> bool:
        """True if the table has this option."""
        return self.prefix + option.key in self.given

    def under(self, prefix: str) -> TableOptions:
        """Return the options whose keys begin with something more, as those of a format."""
        return TableOptions(self.given, self.prefix + prefix, self.used)

    def beginning_with(self, prefix: str) -> dict[str, str]:
        """Return all options whose keys begin so, without that beginning; all are understood."""
        found = {key: value for key, value in self.given.items() if key.startswith(prefix)}
        self.used.update(found)
        return {key.removeprefix(prefix): value for key, value in found.items()}

    def with_default(self, key: str, value: str) -> TableOptions:
        """Return the same options with a value for one that was not given."""
        return TableOptions({key: value, **self.given}, self.prefix, self.used)

    def require(self, options: Iterable[Option[Any]]) -> None:
        """Check that all required options are there.

        Raises:
            ValidationError: some are missing.
        """
        wanted = {self.prefix + option.key for option in options if option.required}
        missing = sorted(wanted - self.given.keys())
        if missing:
            raise ValidationError(
                "One or more required options are missing.\n\nMissing required options are:\n\n"
                + "\n".join(missing)
            )

    def check_all_used(self, connector: str, known: Iterable[str]) -> None:
        """Check that every option was understood.

        Args:
            connector: its identifier.
            known: the keys that it understands, for the message.

        Raises:
            ValidationError: some were not.
        """
        unknown, known = sorted(set(self.given) - self.used), sorted({*known, *self.used})
        if unknown:
            raise ValidationError(
                f"Unsupported options found for '{connector}'.\n\nUnsupported options:\n\n"
                + "\n".join(key + did_you_mean(key, known).replace(";", " -") for key in unknown)
                + "\n\nSupported options:\n\n"
                + "\n".join(known)
            )


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
