"""map, flat_map and filter on a keyed stream, with one value per key that is handed in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream import DataStream, KeyedStream
from pyflink_on_spark.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    RuntimeContext,
)
from pyflink_on_spark.datastream.state import ValueStateDescriptor

_STATE_NAME = "state"


def map_with_state(
    stream: KeyedStream,
    function: Callable[[Any, Any], tuple[Any, Any]],
    output_type: TypeInformation | None = None,
    state_type: TypeInformation | None = None,
) -> DataStream:
    """Make one element of each, with a value for each key.

    Args:
        stream: a keyed stream.
        function: gets an element and the key's value, None if there is none yet; returns the
            result and the key's new value, None to forget it.
        output_type: the type of the results; untyped if not given.
        state_type: the type of the value; untyped if not given.

    Raises:
        TypeError: the stream is not keyed, or the function is not callable or cannot be pickled.
    """
    return _checked(stream, function).map(_MapWithState(function, state_type), output_type)


def flat_map_with_state(
    stream: KeyedStream,
    function: Callable[[Any, Any], tuple[Iterable[Any], Any]],
    output_type: TypeInformation | None = None,
    state_type: TypeInformation | None = None,
) -> DataStream:
    """Make any number of elements of each, with a value for each key.

    Args:
        stream: a keyed stream.
        function: gets an element and the key's value, None if there is none yet; returns an
            iterable of results and the key's new value, None to forget it.
        output_type: the type of the results; untyped if not given.
        state_type: the type of the value; untyped if not given.

    Raises:
        TypeError: the stream is not keyed, or the function is not callable or cannot be pickled.
    """
    return _checked(stream, function).flat_map(_FlatMapWithState(function, state_type), output_type)


def filter_with_state(
    stream: KeyedStream,
    function: Callable[[Any, Any], tuple[bool, Any]],
    state_type: TypeInformation | None = None,
) -> DataStream:
    """Keep some elements, with a value for each key.

    Args:
        stream: a keyed stream.
        function: gets an element and the key's value, None if there is none yet; returns whether
            to keep the element, and the key's new value, None to forget it.
        state_type: the type of the value; untyped if not given.

    Raises:
        TypeError: the stream is not keyed, or the function is not callable or cannot be pickled.
    """
    return _checked(stream, function).filter(_FilterWithState(function, state_type))


class _WithState:
    """Passes the key's value to a function, and stores its result.

    Args:
        function: the user's.
        state_type: the type of the value, or None.
    """

    def __init__(self, function: Any, state_type: TypeInformation | None) -> None:
        self._function = function
        self._type = Types.PICKLED_BYTE_ARRAY() if state_type is None else state_type

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self._state = runtime_context.get_state(ValueStateDescriptor(_STATE_NAME, self._type))

    def _called(self, value: object) -> Any:
        returned = self._function(value, self._state.value())
        if type(returned) is not tuple or len(returned) != 2:
            raise TypeError(f"expected a tuple of a result and the new state, got {returned!r}")
        result, state = returned
        if state is None:
            self._state.clear()
        else:
            self._state.update(state)
        return result


class _MapWithState(_WithState, MapFunction):
    def map(self, value: Any) -> Any:
        return self._called(value)


class _FlatMapWithState(_WithState, FlatMapFunction):
    def flat_map(self, value: Any) -> Iterable[object]:
        results: Iterable[Any] = self._called(value)
        return results


class _FilterWithState(_WithState, FilterFunction):
    def filter(self, value: Any) -> bool:
        return bool(self._called(value))


def _checked(stream: object, function: object) -> KeyedStream:
    if not isinstance(stream, KeyedStream):
        raise TypeError(f"a keyed stream is needed, call key_by() first; got {stream!r}")
    if not callable(function):
        raise TypeError(f"a function of an element and a state is needed, got {function!r}")
    return stream
