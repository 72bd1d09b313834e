"""A harness for one function of a user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark.common import Time
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream import AsyncDataStream, DataStream
from pyflink_on_spark.datastream.functions import (
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
)
from pyflink_on_spark.datastream.state import MapStateDescriptor
from pyflink_on_spark.testing.stream_harness import StreamHarness

Selector = Callable[[Any], Any] | KeySelector

_ASYNC_TIMEOUT_MS = 60_000
_NEED_A_KEY = (
    KeyedProcessFunction,
    KeyedCoProcessFunction,
    KeyedBroadcastProcessFunction,
    ReduceFunction,
)
_HAVE_NO_KEY = (ProcessFunction, BroadcastProcessFunction)
_CONNECTED = (CoMapFunction, CoFlatMapFunction, CoProcessFunction, KeyedCoProcessFunction)
_BROADCAST = (BroadcastProcessFunction, KeyedBroadcastProcessFunction)


def harness_for(
    function: object,
    key_selector: Selector | None = None,
    *,
    second_key_selector: Selector | None = None,
    key_type: TypeInformation | None = None,
    output_type: TypeInformation | None = None,
    broadcast_state: Sequence[MapStateDescriptor] = (),
    **settings: Any,
) -> StreamHarness:
    """Return a harness that runs one function.

    A function with two inputs has its second one, or the broadcast one, as input 2. For windows,
    lambdas, or several operators at once: ``StreamHarness``.

    Args:
        function: a process function of any kind, a MapFunction, FlatMapFunction, FilterFunction,
            ReduceFunction, their connected kinds, or an AsyncFunction (ordered, 60 s timeout).
        key_selector: makes the stream keyed.
        second_key_selector: for the second input; the same if not given.
        key_type: the type of the key.
        output_type: the type of the results.
        broadcast_state: the descriptors of a broadcast function.
        settings: what ``StreamHarness`` takes besides.

    Raises:
        TypeError: if there is no harness for such an object, or a key selector is missing.
    """
    if isinstance(function, _NEED_A_KEY) and key_selector is None:
        raise TypeError(f"a {_kind(function)} runs on a keyed stream: give a key_selector")
    if isinstance(function, _HAVE_NO_KEY) and key_selector is not None:
        raise TypeError(f"a {_kind(function)} does not run on a keyed stream")
    keys = _Keys(key_selector, second_key_selector or key_selector, key_type)
    if isinstance(function, _BROADCAST):

        def broadcast(stream: DataStream, rules: DataStream) -> Any:
            first: Any = keys.first(stream)
            connected = first.connect(rules.broadcast(*broadcast_state))
            return connected.process(function, output_type)

        return StreamHarness(broadcast, 2, **settings)
    if isinstance(function, _CONNECTED):
        return StreamHarness(_connected(function, keys, output_type), 2, **settings)
    return StreamHarness(_single(function, keys, output_type), 1, **settings)


@dataclass(frozen=True)
class _Keys:
    selector: Selector | None
    second_selector: Selector | None
    type_info: TypeInformation | None

    def first(self, stream: DataStream) -> DataStream:
        return stream if self.selector is None else stream.key_by(self.selector, self.type_info)

    def second(self, stream: DataStream) -> DataStream:
        selector = self.second_selector
        return stream if selector is None else stream.key_by(selector, self.type_info)


def _connected(function: object, keys: _Keys, output_type: object) -> Callable[..., DataStream]:
    def define(one: DataStream, other: DataStream) -> Any:
        first: Any = keys.first(one)
        streams = first.connect(keys.second(other))
        if isinstance(function, CoMapFunction):
            return streams.map(function, output_type)
        if isinstance(function, CoFlatMapFunction):
            return streams.flat_map(function, output_type)
        return streams.process(function, output_type)

    return define


def _single(function: object, keys: _Keys, output_type: Any) -> Callable[..., DataStream]:
    def define(origin: DataStream) -> Any:
        stream: Any = keys.first(origin)
        if isinstance(function, ProcessFunction | KeyedProcessFunction):
            return stream.process(function, output_type)
        if isinstance(function, MapFunction):
            return stream.map(function, output_type)
        if isinstance(function, FlatMapFunction):
            return stream.flat_map(function, output_type)
        if isinstance(function, FilterFunction):
            return stream.filter(function)
        if isinstance(function, ReduceFunction):
            return stream.reduce(function)
        if isinstance(function, AsyncFunction):
            timeout = Time.milliseconds(_ASYNC_TIMEOUT_MS)
            return AsyncDataStream.ordered_wait(stream, function, timeout, output_type=output_type)
        raise TypeError(
            f"there is no harness_for a {type(function).__name__}: describe how it is used, "
            "for example StreamHarness(lambda stream: stream.map(my_lambda))"
        )

    return define


def _kind(function: object) -> str:
    return next(kind.__name__ for kind in _NEED_A_KEY + _HAVE_NO_KEY if isinstance(function, kind))
