"""The connector ``datagen``."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    one_of,
)
from pyflink_on_spark._sql.plan.ports import Reading, TableContext, TableFactory, TableSource
from pyflink_on_spark._sql.tables.connectors.datagen.fields import (
    Field,
    FieldOptions,
    RandomField,
    SequenceField,
)
from pyflink_on_spark._sql.tables.connectors.datagen.source import DatagenSource
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_ROWS_PER_SECOND = Option("rows-per-second", integer, default=10_000)
_NUMBER_OF_ROWS = Option("number-of-rows", integer)
_PARALLELISM = Option("scan.parallelism", integer)
_RANDOM: dict[str, Option[Any]] = {
    "low": Option("min", float),
    "high": Option("max", float),
    "length": Option("length", integer),
    "varied": Option("var-len", boolean, default=False),
    "max_past": Option("max-past", duration, default=0),
    "null_rate": Option("null-rate", float, default=0.0),
}
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
    _check_length(options, name, kind)
    return _random(options, kind)


def _check_length(options: TableOptions, name: str, kind: LogicalType) -> None:
    """Refuse what is said of the length of a column whose type does not let it be said.

    Raises:
        ValidationError: there is such an option.
    """
    length, varied = _RANDOM["length"], _RANDOM["varied"]
    variable = "variable-length type (VARCHAR/STRING/VARBINARY/BYTES)"
    if options.has(length):
        if kind.root in {Root.CHAR, Root.BINARY}:
            raise ValidationError(
                f"Custom length for fixed-length type (CHAR/BINARY) field '{name}' is not "
                "supported."
            )
        most = kind.precision if kind.root in {Root.VARCHAR, Root.VARBINARY} else None
        if most is not None and options[length] > most:
            raise ValidationError(
                f"Custom length '{options[length]}' for {variable} field '{name}' should be "
                f"shorter than '{most}' defined in the schema."
            )
    if options.has(varied) and kind.root not in {Root.VARCHAR, Root.VARBINARY} and options[varied]:
        raise ValidationError(
            "Only supports specifying 'fields.#.var-len' option for "
            f"{variable.replace(' (', 's (')}. The type of field '{name}' is not within this range."
        )


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
    given = {name: options[_RANDOM[name]] for name in _random_options(kind)}
    return RandomField(kind, FieldOptions(**given), children)


def _random_options(kind: LogicalType) -> tuple[str, ...]:
    """Return the names of the options that a random field of a type has."""
    if kind.root in {*logical.NUMERIC, Root.INTERVAL_MONTH, Root.INTERVAL_SECOND}:
        return "low", "high", "null_rate"
    if kind.root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return "max_past", "null_rate"
    if kind.root in {Root.ARRAY, Root.MAP, Root.MULTISET}:
        return "length", "null_rate"
    if kind.root is Root.VARCHAR:
        return "length", "varied", "null_rate"
    if kind.root is Root.VARBINARY:
        return "length", "varied"
    return () if kind.root in {Root.BINARY, Root.DATE, Root.TIME} else ("null_rate",)
