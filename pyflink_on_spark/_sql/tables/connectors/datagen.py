"""The connector datagen: rows of sequences and random values."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.builtin import NumberSequence
from pyflink_on_spark._connectors.generator import PerSecond
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, share_of
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
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
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


Make = Callable[[int], Any]
"""Makes the value of a row of its number."""


@dataclass(frozen=True)
class FieldOptions:
    """The options of a column.

    Args:
        low: the smallest value, or None.
        high: the largest value, or None.
        length: how long a text or an array is.
        varied: whether texts are of any length up to that.
        max_past: how far back (ms) timestamps go.
        null_rate: how many values of 1 are NULL.
    """

    low: float | None = None
    high: float | None = None
    length: int | None = None
    varied: bool = False
    max_past: int = 0
    null_rate: float = 0.0


class Field(ABC):
    """A column's description. Picklable."""

    rows: int | None = None
    """How many values there are; None without an end."""

    @abstractmethod
    def maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        """Return the function that generates the values in a subtask.

        Args:
            seed: the subtask's random numbers.
            now: the subtask's clock, in ms.
        """


@dataclass(frozen=True)
class SequenceField(Field):
    """Numbers one after the other, a row each.

    Args:
        kind: the column's type.
        start: the first number.
        end: the last one.
    """

    kind: LogicalType
    start: int
    end: int

    @property
    def rows(self) -> int:  # type: ignore[override]
        """The number of generated numbers."""
        return self.end - self.start + 1

    def maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        """Return the function from the number of a row to its value."""
        start, root = self.start, self.kind.root
        if root in logical.APPROXIMATE:
            return lambda number: float(start + number)
        if root in logical.CHARACTERS:
            return lambda number: str(start + number)
        if root is Root.DECIMAL:
            factor = 10 ** (self.kind.scale or 0)
            return lambda number: (start + number) * factor
        return lambda number: start + number


@dataclass(frozen=True)
class RandomField(Field):
    """Values by chance.

    Args:
        kind: the column's type.
        options: what is said of it.
        children: the fields of a row, or the elements of an array or map.
    """

    kind: LogicalType
    options: FieldOptions = FieldOptions()
    children: tuple[Field, ...] = ()

    def maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        """Return the function that generates a value, or NULL at the given rate."""
        make = self._maker(seed, now)
        rate = self.options.null_rate
        if not rate:
            return make
        chance = seed.random
        return lambda number: None if chance() < rate else make(number)

    def _maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        root = self.kind.root
        simple = self._simple(seed).get(root)
        if simple is not None:
            return simple
        if root in logical.NUMERIC:
            return self._number(seed)
        if root in logical.CHARACTERS or root in logical.BYTES_LIKE:
            return self._text(seed)
        if root in logical.TIMESTAMPS:
            return self._timestamp(seed, now)
        return self._composite(seed, now)

    @staticmethod
    def _simple(seed: random.Random) -> Mapping[Root, Make]:
        between = seed.randrange
        return {
            Root.BOOLEAN: lambda number: between(2) == 1,
            Root.DATE: lambda number: between(0, 20_000),
            Root.TIME: lambda number: between(86_400) * 1_000_000,
            Root.INTERVAL_MONTH: lambda number: between(120_000),
            Root.INTERVAL_SECOND: lambda number: between(2**31) * 1000,
        }

    def _number(self, seed: random.Random) -> Make:
        low, high, kind = self.options.low, self.options.high, self.kind
        if kind.root in logical.INTEGER_BITS:
            half = 1 << (logical.INTEGER_BITS[kind.root] - 1)
            least = -half if low is None else int(low)
            behind = half if high is None else int(high) + 1
            between = seed.randrange
            return lambda number: between(least, behind)
        if kind.root is Root.DECIMAL:
            factor = 10 ** (kind.scale or 0)
            largest = 10 ** (kind.precision or 10) - 1
            least = 0 if low is None else int(low * factor)
            most = largest if high is None else min(int(high * factor), largest)
            inclusive = seed.randint
            return lambda number: inclusive(least, most)
        limit = 3.4028234663852886e38 if kind.root is Root.FLOAT else 1.7976931348623157e308
        uniform = seed.uniform
        least_float = 0.0 if low is None else low
        return lambda number: uniform(least_float, limit if high is None else high)

    def _text(self, seed: random.Random) -> Make:
        options, kind = self.options, self.kind
        limit = kind.precision or 1
        length = options.length
        if length is None:
            length = limit if limit != logical.MAX_LENGTH else 100
        bits, between = seed.getrandbits, seed.randint
        if kind.root in logical.BYTES_LIKE:
            return lambda number: seed.randbytes(length)

        def make(_number: int) -> str:
            size = between(1, length) if options.varied else length
            return f"{bits(size * 4):0{size}x}" if size else ""

        return make

    def _timestamp(self, seed: random.Random, now: Callable[[], int]) -> Make:
        past, between = self.options.max_past, seed.randint
        if not past:
            return lambda number: now() * 1000
        return lambda number: (now() - between(0, past)) * 1000

    def _composite(self, seed: random.Random, now: Callable[[], int]) -> Make:
        makers = [child.maker(seed, now) for child in self.children]
        length = self.options.length or 3
        root = self.kind.root
        if root is Root.ROW:
            return lambda number: tuple([make(number) for make in makers])
        if root is Root.ARRAY:
            item = makers[0]
            return lambda number: tuple([item(number) for _ in range(length)])
        if root is Root.MULTISET:
            item = makers[0]
            return lambda number: dict.fromkeys([item(number) for _ in range(length)], 1)
        key, value = makers
        return lambda number: {key(number): value(number) for _ in range(length)}


_ENDLESS = 2**62


class DatagenSource(Source):
    """Makes rows, as many as there are values for all columns.

    Args:
        fields: a column each.
        rows: how many rows at most; None for any number.
        per_second: how many rows in a second, of all subtasks.
        batch: whether nobody looks at rows before the end.
    """

    def __init__(
        self, fields: tuple[Field, ...], rows: int | None, per_second: int, batch: bool
    ) -> None:
        limits = [limit for field in fields if (limit := field.rows) is not None]
        if rows is not None:
            limits.append(rows)
        self._fields, self._rows, self._per_second = fields, min(limits, default=None), per_second
        # What takes its time has to be seen before its end.
        self.bounded = self._rows is not None and (batch or self._rows <= per_second)

    def splits(self, parallelism: int) -> list[range]:
        """Cut the rows' numbers into contiguous ranges."""
        rows = _ENDLESS if self._rows is None else self._rows
        return NumberSequence(0, rows - 1).splits(parallelism) if rows else []

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader that generates one subtask's rows."""
        left = splits if restored is None else share_of(restored, context)
        return _DatagenReader(self._fields, list(left), self._per_second, context)


class _DatagenReader(SourceReader):
    def __init__(
        self,
        fields: tuple[Field, ...],
        left: list[range],
        per_second: int,
        context: OperatorContext,
    ) -> None:
        self._left = left
        self._clock = context.clock
        task = context.task
        self._rate = PerSecond(per_second).share(task.subtask_index, task.parallelism)
        self.limit = BUNDLE_SIZE
        seed = random.Random()
        self._makers = [field.maker(seed, context.clock.now) for field in fields]

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """True once all rows were generated."""
        return not self._left

    def poll(self) -> Bundle | None:
        """Return the next rows, as many as may be."""
        if not self._left:
            return None
        numbers = self._left[0]
        wanted = min(self.limit, numbers.stop - numbers.start)
        count = self._rate.take(wanted, self._clock.now())
        if not count:
            return None
        made, rest = numbers[:count], numbers[count:]
        if rest:
            self._left[0] = rest
        else:
            self._left.pop(0)
        if not self._makers:
            return Bundle([()] * count)
        return Bundle(list(zip(*[map(make, made) for make in self._makers])))

    def snapshot(self) -> list[range]:
        """Return the numbers of the rows that are left."""
        return list(self._left)


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
        return DatagenTable(tuple(fields), options[_ROWS_PER_SECOND], rows, context.batch)


class DatagenTable(TableSource):
    """Rows of fields that are made up.

    Args:
        fields: a column each.
        per_second: how many rows in a second.
        rows: how many rows at most; None for any number.
        batch: whether nobody looks at rows before the end.
    """

    def __init__(
        self, fields: tuple[Field, ...], per_second: int, rows: int | None, batch: bool
    ) -> None:
        self._fields, self._per_second, self._rows = fields, per_second, rows
        self._batch = batch

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        """Return the same with some of the columns."""
        fields = tuple(self._fields[column] for column in columns)
        # The shortest sequence ends the table, also if nobody looks at it.
        limits = [limit for field in self._fields if (limit := field.rows) is not None]
        if self._rows is not None:
            limits.append(self._rows)
        return DatagenTable(fields, self._per_second, min(limits, default=None), self._batch)

    def reading(self, metadata: tuple[str, ...]) -> Reading:
        """Return how the rows are read."""
        return Reading(DatagenSource(self._fields, self._rows, self._per_second, self._batch))


def _field(options: TableOptions, name: str, kind: LogicalType) -> Field:
    if options[Option("kind", one_of(*_KINDS), default="random")] == "sequence":
        return _sequence(options, name, kind)
    _check_length(options, name, kind)
    return _random(options, kind)


def _check_length(options: TableOptions, name: str, kind: LogicalType) -> None:
    """Refuse a length for a column whose type has none.

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
    if kind.root is Root.STRUCTURED:
        raise ValidationError(f"Unsupported type: {kind}")
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
