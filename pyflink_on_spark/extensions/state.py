"""Kinds of keyed state that PyFlink lacks, and map, flat_map and filter with one value per key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NoReturn, TypeVar

from pyflink_on_spark._runtime.state import keyed_state as folding_state
from pyflink_on_spark._runtime.state import map_state as sorted_map_state
from pyflink_on_spark._runtime.user_code import PlainFunction
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream import DataStream, KeyedStream
from pyflink_on_spark.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    Function,
    MapFunction,
    RuntimeContext,
)
from pyflink_on_spark.datastream.state import (
    AppendingState,
    MapState,
    StateDescriptor,
    ValueStateDescriptor,
)

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
ACC = TypeVar("ACC")


class SortedMapState(MapState[K, V], Generic[K, V]):
    """A map that is iterated in the order of its keys, which must be comparable with each other.

    It must not be changed while it is iterated, except by the iterator's ``remove()``.
    """

    @abstractmethod
    def first_entry(self) -> tuple[K, V] | None:
        """Return the pair with the smallest key; None if there is none."""

    @abstractmethod
    def last_entry(self) -> tuple[K, V] | None:
        """Return the pair with the largest key; None if there is none."""

    @abstractmethod
    def head_map(self, to_key: K) -> Iterator[tuple[K, V]]:
        """Iterate over the pairs with keys below one.

        Args:
            to_key: not included.
        """

    @abstractmethod
    def tail_map(self, from_key: K) -> Iterator[tuple[K, V]]:
        """Iterate over the pairs with keys from one on.

        Args:
            from_key: included.
        """

    @abstractmethod
    def sub_map(self, from_key: K, to_key: K) -> Iterator[tuple[K, V]]:
        """Iterate over the pairs with keys between two.

        Args:
            from_key: included.
            to_key: not included.
        """


class FoldingState(AppendingState[T, ACC], Generic[T, ACC]):
    """Holds one value that everything added is folded into; ``get()`` is None at first.

    Flink gave it up for AggregatingState, which can do the same.
    """


class FoldFunction(Function, Generic[T, ACC]):
    """Combines what was folded so far with one more value.

    Example:
        >>> class Append(FoldFunction):
        ...     def fold(self, accumulator, value):
        ...         return [*accumulator, value]
        >>> descriptor = FoldingStateDescriptor("seen", [], Append(), Types.PICKLED_BYTE_ARRAY())
    """

    @abstractmethod
    def fold(self, accumulator: ACC, value: T) -> ACC:
        """Return the new accumulator.

        Args:
            accumulator: may be changed and returned.
            value: what was added.
        """


class _LastingStateDescriptor(StateDescriptor):
    """Names a state that knows no time to live."""

    def enable_time_to_live(self, ttl_config: object) -> NoReturn:
        """Raise: this kind of state cannot expire.

        Args:
            ttl_config: not used.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{self!r} cannot have a time to live; a MapState or ValueState can")


class SortedMapStateDescriptor(_LastingStateDescriptor):
    """Names a state of a sorted map.

    Args:
        name: its name.
        key_type_info: the type of the keys.
        value_type_info: the type of the values.
    """

    _state_class = sorted_map_state.SortedMapState
    _kind = _state_class.kind

    def __init__(
        self, name: str, key_type_info: TypeInformation, value_type_info: TypeInformation
    ) -> None:
        super().__init__(name, Types.MAP(key_type_info, value_type_info))


class FoldingStateDescriptor(_LastingStateDescriptor):
    """Names a state of a value that everything added is folded into.

    Args:
        name: its name.
        initial_value: what each key begins with a copy of.
        fold_function: a FoldFunction, or a callable of the accumulator and a value.
        type_info: the type of the accumulator.

    Raises:
        TypeError: ``fold_function`` is neither.
    """

    _state_class = folding_state.FoldingState
    _kind = _state_class.kind

    def __init__(
        self,
        name: str,
        initial_value: ACC,
        fold_function: FoldFunction[Any, ACC] | Callable[[ACC, Any], ACC],
        type_info: TypeInformation,
    ) -> None:
        super().__init__(name, type_info)
        self._initial_value = initial_value
        if isinstance(fold_function, FoldFunction):
            self._fold_function: object = fold_function
        elif callable(fold_function):
            self._fold_function = PlainFunction("fold", fold_function)
        else:
            raise TypeError("fold_function must be a FoldFunction or a callable")

    def get_initial_value(self) -> Any:
        """Return the value with which each key begins."""
        return self._initial_value

    def get_fold_function(self) -> Any:
        """Return the function, as an object with a method ``fold``."""
        return self._fold_function


def get_sorted_map_state(
    runtime_context: RuntimeContext, state_descriptor: SortedMapStateDescriptor
) -> SortedMapState[Any, Any]:
    """Return a sorted map of the current key; to be called in ``open`` or ``initialize_state``.

    Args:
        runtime_context: what ``open`` gets.
        state_descriptor: the state's name and types.

    Raises:
        RuntimeError: the stream is not keyed, or the name belongs to another state.
        TypeError: it describes another kind of state, or ``runtime_context`` is something else.
    """
    kind = sorted_map_state.SortedMapState
    state: SortedMapState[Any, Any] = _keyed_state(runtime_context).state(state_descriptor, kind)
    return state


def get_folding_state(
    runtime_context: RuntimeContext, state_descriptor: FoldingStateDescriptor
) -> FoldingState[Any, Any]:
    """Return a folding state of the current key; to be called in ``open`` or ``initialize_state``.

    Args:
        runtime_context: what ``open`` gets.
        state_descriptor: the state's name, type, function and initial value.

    Raises:
        RuntimeError: the stream is not keyed, or the name belongs to another state.
        TypeError: it describes another kind of state, or ``runtime_context`` is something else.
    """
    kind = folding_state.FoldingState
    state: FoldingState[Any, Any] = _keyed_state(runtime_context).state(state_descriptor, kind)
    return state


def _keyed_state(runtime_context: object) -> Any:
    if not isinstance(runtime_context, RuntimeContext):
        raise TypeError(f"what open() gets is needed, not {runtime_context!r}")
    engine_context: Any = runtime_context
    return engine_context._keyed()


SortedMapState.register(sorted_map_state.SortedMapState)
FoldingState.register(folding_state.FoldingState)


_STATE_NAME = "state"


def map_with_state(
    stream: KeyedStream,
    function: Callable[[Any, Any], tuple[object, object]],
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
    function: Callable[[Any, Any], tuple[Iterable[object], object]],
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
    function: Callable[[Any, Any], tuple[bool, object]],
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

    def __init__(
        self, function: Callable[[Any, Any], object], state_type: TypeInformation | None
    ) -> None:
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
    def map(self, value: object) -> object:
        return self._called(value)


class _FlatMapWithState(_WithState, FlatMapFunction):
    def flat_map(self, value: object) -> Iterable[object]:
        results: Iterable[object] = self._called(value)
        return results


class _FilterWithState(_WithState, FilterFunction):
    def filter(self, value: object) -> bool:
        return bool(self._called(value))


def _checked(stream: object, function: object) -> KeyedStream:
    if not isinstance(stream, KeyedStream):
        raise TypeError(f"a keyed stream is needed, call key_by() first; got {stream!r}")
    if not callable(function):
        raise TypeError(f"a function of an element and a state is needed, got {function!r}")
    return stream
