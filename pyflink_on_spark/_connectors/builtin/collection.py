"""The source of a collection."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import cloudpickle

from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


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
        self, elements: Iterable[Any], produced_type: TypeInformation | None = None
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
