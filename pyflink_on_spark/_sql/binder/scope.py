"""Scopes: the columns that an expression can use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyflink_on_spark._sql.errors import (
    Span,
    ValidationError,
    did_you_mean,
    invalid,
    unresolved_field,
)
from pyflink_on_spark._sql.plan.expressions import FieldAccess, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.types.logical import LogicalType, Root


@dataclass(frozen=True)
class ScopeTable:
    """A table that columns come from.

    Args:
        name: its name or alias, or None.
        schema: its columns.
        start: the position of its first column in a row.
        path: its whole name, for columns that are called by it.
        hidden: the columns that have to be called by the table's name.
    """

    name: str | None
    schema: Schema
    start: int
    path: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()

    def answers_to(self, qualifier: tuple[str, ...]) -> bool:
        """True if a qualifier names this table."""
        if len(qualifier) == 1:
            return self.name == qualifier[0]
        return bool(self.path) and self.path[-len(qualifier) :] == qualifier


@dataclass(frozen=True)
class Scope:
    """The tables whose columns an expression can use.

    Args:
        tables: in the order of their columns in a row.
    """

    tables: tuple[ScopeTable, ...]

    @classmethod
    def of(cls, schema: Schema, name: str | None = None, path: tuple[str, ...] = ()) -> Scope:
        """Return the scope of one table."""
        return cls((ScopeTable(name, schema, 0, path),))

    @property
    def width(self) -> int:
        """The number of columns of a row."""
        return sum(len(table.schema) for table in self.tables)

    def joined(self, other: Scope, span: Span | None = None) -> Scope:
        """Return the scope of rows with the columns of another scope after those of this one.

        Args:
            other: the other scope.
            span: where the other tables are in a SQL text.

        Raises:
            ValidationError: both have a table of the same name.
        """
        names = {table.name for table in self.tables} - {None}
        for table in other.tables:
            if table.name in names:
                raise invalid(f"Duplicate relation name '{table.name}' in FROM clause", span)
        return Scope(self.tables + other.moved(self.width).tables)

    def moved(self, distance: int, hidden: Iterable[str] = ()) -> Scope:
        """Return the same tables further to the right, perhaps with some columns hidden."""
        return Scope(
            tuple(
                replace(
                    table, start=table.start + distance, hidden=table.hidden | frozenset(hidden)
                )
                for table in self.tables
            )
        )

    def retyped(self, types: Sequence[LogicalType]) -> Scope:
        """Return the same names with other types of the columns; more types may follow."""
        tables = []
        for table in self.tables:
            own = tuple(types[table.start : table.start + len(table.schema)])
            tables.append(replace(table, schema=Schema(table.schema.names, own)))
        return Scope(tuple(tables))

    def columns(self, qualifier: tuple[str, ...] = ()) -> Iterable[tuple[str, InputRef]]:
        """Yield the names of all columns, or of those of one table, and the columns."""
        for table in self.tables:
            if not qualifier or table.answers_to(qualifier):
                for index, (name, kind) in enumerate(zip(table.schema.names, table.schema.types)):
                    if not qualifier and name in table.hidden:
                        continue
                    yield name, InputRef(kind, table.start + index)

    def has_table(self, qualifier: tuple[str, ...]) -> bool:
        """True if the scope has a table with this name."""
        return any(table.answers_to(qualifier) for table in self.tables)

    def resolve(self, name: Name) -> Typed:
        """Return the column of a name, or the field of one.

        Raises:
            ValidationError: no column matches, or more than one.
        """
        for length in range(len(name.parts) - 1, 0, -1):
            qualifier = name.parts[:length]
            if self.has_table(qualifier):
                column = self._column(name, length, qualifier)
                return self._fields(column, name, length + 1)
        return self._fields(self._column(name, 0, ()), name, 1)

    def _column(self, name: Name, index: int, qualifier: tuple[str, ...]) -> Typed:
        wanted = name.parts[index]
        found = [column for each, column in self.columns(qualifier) if each == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            raise invalid(f"Column '{wanted}' is ambiguous", name.span)
        raise self._missing(name, index, qualifier)

    def _missing(self, name: Name, index: int, qualifier: tuple[str, ...]) -> ValidationError:
        wanted = name.parts[index]
        if name.span is None:
            return unresolved_field(wanted, [each for each, _ in self.columns()])
        if qualifier:
            table = ".".join(qualifier)
            hint = did_you_mean(wanted, (each for each, _ in self.columns(qualifier)))
            text = f"Column '{wanted}' not found in table '{table}'{hint}"
            return invalid(text, name.spans[index])
        if len(name.parts) > 1:
            table = ".".join(name.parts[:-1])
            place = name.spans[0].to(name.spans[-2])
            names = (each.name for each in self.tables if each.name is not None)
            return invalid(f"Table '{table}' not found{did_you_mean(table, names)}", place)
        hint = did_you_mean(wanted, (each for each, _ in self.columns()))
        return invalid(f"Column '{wanted}' not found in any table{hint}", name.span)

    @staticmethod
    def _fields(column: Typed, name: Name, start: int) -> Typed:
        for index in range(start, len(name.parts)):
            span = name.spans[index] if name.spans else None
            column = field_of(column, name.parts[index], span)
        return column


def field_of(row: Typed, field: str | int, span: Span | None = None) -> Typed:
    """Return a field of a row.

    Args:
        row: the row.
        field: the name of the field, or how many are before it.
        span: the place in the statement.

    Raises:
        ValidationError: the row has no such field.
    """
    kind = row.type
    known = range(len(kind.names)) if isinstance(field, int) else kind.names
    if kind.root is not Root.ROW or field not in known:
        raise invalid(f"Column '{field}' not found in {kind}", span)
    index = field if isinstance(field, int) else kind.names.index(field)
    child = kind.children[index]
    return FieldAccess(child.with_nullable(child.nullable or kind.nullable), row, index)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that are all different: later ones of the same name get a number."""
    taken: set[str] = set()
    unique: list[str] = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            candidate, number = f"{name}{number}", number + 1
        taken.add(candidate)
        unique.append(candidate)
    return tuple(unique)
