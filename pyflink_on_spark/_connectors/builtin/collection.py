"""The source of a collection."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import cloudpickle

from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.moved_in.coders import integers, longs, utf
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector import FlinkSplits
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.moved_in.coders import DataInput


class CollectionSource(Source):
    """Reads a copy of a collection, which is taken when the source is made.

    Args:
        elements: the elements, already converted to their type.
        produced_type: the type of the elements, or None.

    Raises:
        TypeError: an element cannot be pickled.
    """

    parallel = False

    def __init__(
        self, elements: Iterable[object], produced_type: TypeInformation | None = None
    ) -> None:
        self.produced_type = produced_type
        remaining = iter(elements)
        chunks = iter(lambda: list(islice(remaining, BUNDLE_SIZE)), [])
        self._chunks = [cloudpickle.dumps(chunk, protocol=5) for chunk in chunks]

    def splits(self, parallelism: int) -> list[None]:
        """Return one split, because one subtask reads a collection."""
        return [None]

    def read(self, split: None, context: OperatorContext) -> Iterator[Bundle]:
        for chunk in self._chunks:
            yield Bundle(pickle.loads(chunk))


_FLINKS_VERSION = 1


class NumberSequence(Source):
    """Reads all integers between two bounds, which are included.

    Args:
        start: the first number.
        end: the last number, which is not less than the first.

    Raises:
        TypeError: a bound is not an int.
        ValueError: the end is less than the start, or a bound does not fit into 64 bits.
    """

    already_typed = True

    def __init__(self, start: int, end: int) -> None:
        for bound in (start, end):
            if not isinstance(bound, int) or isinstance(bound, bool):
                raise TypeError(f"the bounds of a number sequence must be int, not {bound!r}")
            if not -(2**63) <= bound < 2**63:
                raise ValueError(f"the bounds of a number sequence must fit 64 bits, not {bound}")
        if start > end:
            raise ValueError("'from' must be <= 'to'")
        self._start = start
        self._end = end

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the numbers."""
        return Types.LONG()

    def splits(self, parallelism: int) -> list[range]:
        """Divide the numbers into contiguous ranges; the first ones may be longer by one."""
        size, longer = divmod(self._end - self._start + 1, parallelism)
        splits: list[range] = []
        first = self._start
        for i in range(parallelism):
            end = first + size + (i < longer)
            splits.append(range(first, end))
            first = end
        return [numbers for numbers in splits if numbers]

    def positions_of_flink(self, found: FlinkSplits) -> list[object]:
        unread = [_numbers(data, version) for version, data in found.splits]
        if found.enumerator is not None:
            version, data = found.enumerator
            unread += [_numbers(data, version) for _ in range(data.count("splits", 18))]
        return [(numbers, None, 0) for numbers in unread if numbers]

    def positions_for_flink(self, positions: Sequence[Any]) -> tuple[int, bytes]:
        unread = [numbers[skip:] for numbers, _, skip in positions]
        parts = [
            utf(str(index)) + longs(numbers.start, numbers.stop - 1)
            for index, numbers in enumerate(numbers for numbers in unread if numbers)
        ]
        return _FLINKS_VERSION, integers(len(parts)) + b"".join(parts)

    def read(self, split: range, context: OperatorContext) -> Iterator[Bundle]:
        for first in range(split.start, split.stop, BUNDLE_SIZE):
            yield Bundle(list(range(first, min(first + BUNDLE_SIZE, split.stop))))


def _numbers(data: DataInput, version: int) -> range:
    """Read the numbers of a split of Flink."""
    if version != _FLINKS_VERSION:
        raise ValueError(f"number sequences of version {version} are not known")
    data.utf()
    first, last = data.long(), data.long()
    return range(first, last + 1)
