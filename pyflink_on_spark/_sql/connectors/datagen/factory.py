"""The connector ``datagen``."""

from __future__ import annotations

from pyflink_on_spark._sql.connectors.datagen.fields import (
    Field,
    FieldOptions,
    RandomField,
    SequenceField,
)
from pyflink_on_spark._sql.connectors.datagen.source import DatagenSource
from pyflink_on_spark._sql.connectors.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    one_of,
)
from pyflink_on_spark._sql.connectors.table import Reading, TableContext, TableFactory, TableSource
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_ROWS_PER_SECOND = Option("rows-per-second", integer, default=10_000)
_NUMBER_OF_ROWS = Option("number-of-rows", integer)
_PARALLELISM = Option("scan.parallelism", integer)
_KINDS = ("sequence", "random")
_ORDERED = frozenset({*logical.NUMERIC, *logical.CHARACTERS})


class DatagenFactory(TableFactory):
    """Makes tables of made-up rows."""

    identifier = "datagen"
    options = (_ROWS_PER_SECOND, _NUMBER_OF_ROWS, _PARALLELISM)  # type: ignore[assignment]

    def source(self, context: TableContext) -> TableSource:
        """Return the table."""
        options = context.options
        schema = context.schema.physical
        fields = [
            _field(options.under(f"fields.{name}."), name, kind)
            for name, kind in zip(schema.names, schema.types)
        ]
        rows = options[_NUMBER_OF_ROWS]
        options.note((_PARALLELISM,))
        return _DatagenTable(tuple(fields), options[_ROWS_PER_SECOND], rows, context.batch)


class _DatagenTable(TableSource):
    def __init__(
        self, fields: tuple[Field, ...], per_second: int, rows: int | None, batch: bool
    ) -> None:
        self._fields, self._per_second, self._rows = fields, per_second, rows
        self._batch = batch

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        fields = tuple(self._fields[column] for column in columns)
        # The shortest sequence ends the table, also if nobody looks at it.
        limits = [limit for field in self._fields if (limit := field.rows) is not None]
        if self._rows is not None:
            limits.append(self._rows)
        return _DatagenTable(fields, self._per_second, min(limits, default=None), self._batch)

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        return Reading(DatagenSource(self._fields, self._rows, self._per_second, self._batch))


def _field(options: TableOptions, name: str, kind: LogicalType) -> Field:
    if options[Option("kind", one_of(*_KINDS), default="random")] == "sequence":
        return _sequence(options, name, kind)
    return _random(options, kind)


def _sequence(options: TableOptions, name: str, kind: LogicalType) -> Field:
    if kind.root not in _ORDERED:
        raise ValidationError(
            f"{kind.with_nullable(True)} does not support sequence generator for column '{name}'"
        )
    start, end = Option("start", integer, required=True), Option("end", integer, required=True)
    options.require((start, end))
    first, last = options[start], options[end]
    if first > last:
        raise ValidationError(
            f"The start value {first} of column '{name}' is larger than its end value {last}"
        )
    return SequenceField(kind, first, last)


def _random(options: TableOptions, kind: LogicalType) -> Field:
    names = kind.names if kind.root is Root.ROW else ("element",)
    if kind.root is Root.MAP:
        names = ("key", "value")
    children = tuple(
        _random(options.under(f"{name}."), child) for name, child in zip(names, kind.children)
    )
    return RandomField(
        kind,
        FieldOptions(
            low=options[Option("min", float)],
            high=options[Option("max", float)],
            length=options[Option("length", integer)],
            varied=bool(options[Option("var-len", boolean, default=False)]),
            max_past=options[Option("max-past", duration, default=0)],
            null_rate=options[Option("null-rate", float, default=0.0)],
        ),
        children,
    )
