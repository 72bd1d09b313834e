"""reduce, sum, min, max, min_by and max_by on a keyed stream.

STREAMING emits the new value for each element, BATCH the last one of each key. The first element of
a key comes out as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.operators.aggregations import aggregation
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import UdfOperator, keyed_state_of
from pyflink_on_spark._runtime.user_code.user_function import close_function

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext
    from pyflink_on_spark._runtime.user_code.user_function import UserFunction

STATE_NAME = "_rolling"


class RollingOperator(Operator):
    """Keeps a value per key, and combines it with each element."""

    keyed = True

    def open(self, context: OperatorContext) -> None:
        """Get ready."""
        self._table = keyed_state_of(context).table(STATE_NAME, "value")
        self._cursor = context.cursor
        self._batch = context.task.batch
        self._combine = self.combination(context)

    def combination(self, context: OperatorContext) -> Callable[[Any, Any], Any]:
        """Return what makes one element of two."""
        raise NotImplementedError

    def process(self, pairs: Iterator[Any]) -> Iterator[Any]:
        """Yield the new value for each element; in BATCH nothing."""
        if self._batch:
            return self._absorbed(pairs)
        if self._table.changed is not None:
            return self._tracked(pairs)
        return self._rolled(pairs)

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the last values in BATCH, at the end."""
        if self._batch and watermark == MAX_WATERMARK:
            return self._final()
        return ()

    def _rolled(self, pairs: Iterator[Any]) -> Iterator[Any]:
        values, combine = self._table.current, self._combine
        get = values.get
        for key, value in pairs:
            current = get(key)
            result = values[key] = value if current is None else combine(current, value)
            yield result

    def _tracked(self, pairs: Iterator[Any]) -> Iterator[Any]:
        table = self._table
        assert table.changed is not None
        values, combine, note = table.current, self._combine, table.changed.add
        get = values.get
        for key, value in pairs:
            current = get(key)
            result = values[key] = value if current is None else combine(current, value)
            note((None, key))
            yield result

    def _absorbed(self, pairs: Iterator[Any]) -> Iterator[Any]:
        deque(self._rolled(pairs), maxlen=0)
        return
        yield

    def _final(self) -> Iterator[Any]:
        values, cursor = self._table.current, self._cursor
        for value in values.values():
            if value is not None:
                cursor.timestamp = MAX_WATERMARK
                yield value
        values.clear()


class RollingReduceOperator(RollingOperator, UdfOperator):
    """Combines the elements of a key with the user's ``reduce``.

    Args:
        function: the user's ReduceFunction.
    """

    def __init__(self, function: UserFunction) -> None:
        self._function = function
        self._loaded: Any = None

    def combination(self, context: OperatorContext) -> Callable[[Any, Any], Any]:
        """Return the user's function, opened."""
        self._loaded = self._function.load()
        self._open_function(self._loaded, context)
        return self._loaded.reduce  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the user's function."""
        if self._loaded is not None:
            close_function(self._loaded)

    def code_of_functions(self) -> Iterable[Any]:
        """Return the user's method."""
        return () if self._loaded is None else (getattr(self._loaded, "reduce", None),)


class RollingAggregateOperator(RollingOperator):
    """Sums up a field, or keeps the smallest or largest.

    Args:
        kind: ``sum``, ``min``, ``max``, ``min_by`` or ``max_by``.
        position: of the field: an int, or a field's name.
    """

    def __init__(self, kind: str, position: int | str) -> None:
        self._kind = kind
        self._position = position

    def combination(self, context: OperatorContext) -> Callable[[Any, Any], Any]:
        """Return what finds out what to do when it is called first."""
        chosen: Callable[[Any, Any], Any] | None = None

        def choose(first: Any, second: Any) -> Any:
            nonlocal chosen
            if chosen is None:
                chosen = self._combine = aggregation(self._kind, self._position, second)
            return chosen(first, second)

        return choose
