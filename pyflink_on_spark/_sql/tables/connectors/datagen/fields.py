"""What makes the values of a column."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

Make = Callable[[int], Any]
"""Makes the value of a row of its number."""


@dataclass(frozen=True)
class FieldOptions:
    """What is said of a column.

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
        """Return what makes the values in a subtask.

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
        """How many numbers there are."""
        return self.end - self.start + 1

    def maker(self, seed: random.Random, now: Callable[[], int]) -> Make:
        """Return what makes the number of a row."""
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
        """Return what makes a value."""
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
