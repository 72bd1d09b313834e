"""The source of elements that the script itself holds."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import cloudpickle

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.connector import Source

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


class CollectionSource(Source):
    """A copy of a collection, taken when the source is made.

    Args:
        elements: the elements, converted to their type already.
        produced_type: their type, or None.

    Raises:
        TypeError: if an element cannot be pickled.
    """

    parallel = False

    def __init__(
        self, elements: Iterable[Any], produced_type: TypeInformation | None = None
    ) -> None:
        self.produced_type = produced_type
        remaining = iter(elements)
        chunks = iter(lambda: list(islice(remaining, BUNDLE_SIZE)), [])
        self._chunks = [cloudpickle.dumps(chunk, protocol=5) for chunk in chunks]

    def splits(self, parallelism: int) -> list[None]:
        """Return one split: a collection is read by one subtask."""
        return [None]

    def read(self, split: None, context: OperatorContext) -> Iterator[Bundle]:
        for chunk in self._chunks:
            yield Bundle(pickle.loads(chunk))
