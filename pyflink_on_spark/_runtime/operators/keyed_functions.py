"""map, flat_map and filter on a keyed stream: they may have state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._runtime.operators.rich_function import KeyedFunctionOperator


class KeyedMapOperator(KeyedFunctionOperator):
    """Calls ``map`` for each element."""

    methods = ("map",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the result for each element."""
        backend, call = self._backend, self._loaded.map
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield call(value)


class KeyedFlatMapOperator(KeyedFunctionOperator):
    """Calls ``flat_map`` for each element."""

    methods = ("flat_map",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the results for each element."""
        backend, call = self._backend, self._loaded.flat_map
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            yield from call(value)


class KeyedFilterOperator(KeyedFunctionOperator):
    """Calls ``filter`` for each element."""

    methods = ("filter",)

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements that pass."""
        backend, passes = self._backend, self._loaded.filter
        pairs = backend.observed(pairs)
        for backend.key, value in pairs:
            if passes(value):
                yield value
