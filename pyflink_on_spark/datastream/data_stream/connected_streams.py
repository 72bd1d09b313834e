"""Two streams that one operator reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark._compat.errors import JobTranslationError
from pyflink_on_spark._runtime.operators.connected import (
    BroadcastProcessOperator,
    CoFlatMapOperator,
    CoMapOperator,
    CoProcessOperator,
)
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream.data_stream.data_stream import (
    DataStream,
    add_operator,
    declared_type,
    flow_of,
)
from pyflink_on_spark.datastream.data_stream.keyed_stream import KeyedStream
from pyflink_on_spark.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeySelector,
)
from pyflink_on_spark.datastream.state import MapStateDescriptor
from pyflink_on_spark.datastream.time_domain import TimeDomain

_DOMAINS = (TimeDomain.EVENT_TIME, TimeDomain.PROCESSING_TIME)


class ConnectedStreams:
    """Two streams, of whatever types, for an operator that shares state between them.

    Args:
        stream1: the first input.
        stream2: the second input.
    """

    def __init__(self, stream1: DataStream, stream2: DataStream):
        self.stream1 = stream1
        self.stream2 = stream2

    @renamed(key_type="key_type_info")
    def key_by(
        self,
        key_selector1: Callable | KeySelector,
        key_selector2: Callable | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> ConnectedStreams:
        """Group both streams by a key of the same type."""
        return ConnectedStreams(
            _origin(self.stream1).key_by(key_selector1, key_type),
            _origin(self.stream2).key_by(key_selector2, key_type),
        )

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Make at most one element of each: ``map1`` and ``map2`` may return None.

        Raises:
            TypeError: if ``func`` is no CoMapFunction, or cannot be pickled.
        """
        if not isinstance(func, CoMapFunction):
            raise TypeError("The input function must be a CoMapFunction!")
        operator = CoMapOperator(UserFunction.of(func), self._is_keyed_stream())
        return self._then("Co-Map", operator, output_type)

    def flat_map(
        self, func: CoFlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Make any number of elements of each.

        Raises:
            TypeError: if ``func`` is no CoFlatMapFunction, or cannot be pickled.
        """
        if not isinstance(func, CoFlatMapFunction):
            raise TypeError("The input must be a CoFlatMapFunction!")
        operator = CoFlatMapOperator(UserFunction.of(func), self._is_keyed_stream())
        return self._then("Co-Flat Map", operator, output_type)

    def process(
        self,
        func: CoProcessFunction | KeyedCoProcessFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Make any number of elements of each, with side outputs; on keyed streams with timers.

        Raises:
            TypeError: if ``func`` is of another kind, or cannot be pickled.
        """
        if not isinstance(func, (CoProcessFunction, KeyedCoProcessFunction)):
            raise TypeError("The input must be a CoProcessFunction or KeyedCoProcessFunction!")
        keyed = self._is_keyed_stream()
        operator = CoProcessOperator(UserFunction.of(func), keyed, time_domains=_DOMAINS)
        return self._then("Keyed Co-Process" if keyed else "Co-Process", operator, output_type)

    def _is_keyed_stream(self) -> bool:
        return isinstance(self.stream1, KeyedStream) and isinstance(self.stream2, KeyedStream)

    def _then(self, name: str, operator: object, output_type: object) -> DataStream:
        first, second = self.stream1, self.stream2
        if isinstance(first, KeyedStream) and isinstance(second, KeyedStream):
            _check_same_key_type(first, second)
        else:
            first, second = _pairs(first), _pairs(second)
        return _two_inputs(name, operator, first, second, output_type)


class BroadcastStream:
    """A stream that every subtask of a connected operator sees whole.

    Args:
        input_stream: the stream, broadcast.
        broadcast_state_descriptors: the broadcast states.
    """

    def __init__(
        self,
        input_stream: DataStream | KeyedStream,
        broadcast_state_descriptors: list[MapStateDescriptor],
    ):
        self.input_stream = input_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors


class BroadcastConnectedStream:
    """A stream, keyed or not, connected with a broadcast stream.

    Args:
        non_broadcast_stream: the stream that reads the broadcast state.
        broadcast_stream: the stream that writes it.
        broadcast_state_descriptors: the broadcast states.
    """

    def __init__(
        self,
        non_broadcast_stream: DataStream | KeyedStream,
        broadcast_stream: BroadcastStream,
        broadcast_state_descriptors: list[MapStateDescriptor],
    ):
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors

    def process(
        self,
        func: BroadcastProcessFunction | KeyedBroadcastProcessFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Make any number of elements of each element of both streams.

        Raises:
            TypeError: if a keyed function is given for a stream without key or the other way.
        """
        keyed = isinstance(self.non_broadcast_stream, KeyedStream)
        if isinstance(func, BroadcastProcessFunction) and keyed:
            raise TypeError("BroadcastProcessFunction should be applied to non-keyed DataStream")
        if isinstance(func, KeyedBroadcastProcessFunction) and not keyed:
            raise TypeError("KeyedBroadcastProcessFunction should be applied to keyed DataStream")
        operator = BroadcastProcessOperator(
            UserFunction.of(func),
            keyed,
            UserFunction.of(tuple(self.broadcast_state_descriptors)),
            time_domains=_DOMAINS,
        )
        name = "Keyed-Co-Process-Broadcast" if keyed else "Co-Process-Broadcast"
        return _two_inputs(
            name,
            operator,
            self.non_broadcast_stream,
            self.broadcast_stream.input_stream,
            output_type,
        )


def _origin(stream: DataStream) -> DataStream:
    return stream._origin_stream if isinstance(stream, KeyedStream) else stream


def _pairs(stream: DataStream) -> DataStream:
    """Return a stream; if it is keyed, the rows of key and element, as Flink's JVM has them."""
    return stream._pairs() if isinstance(stream, KeyedStream) else stream


def _check_same_key_type(first: KeyedStream, second: KeyedStream) -> None:
    """Refuse streams whose keys can never be the same one."""
    one, other = (stream._key_type or Types.PICKLED_BYTE_ARRAY() for stream in (first, second))
    if one != other:
        raise JobTranslationError(
            f"Key types of input KeyedStreams don't match: {one} and {other}. "
            "Give both calls of key_by the same key_type, or neither."
        )


def _two_inputs(
    name: str, operator: Any, first: DataStream, second: DataStream, output_type: object
) -> DataStream:
    edges = flow_of(first).reading(0) + flow_of(second).reading(1)
    return DataStream(
        add_operator(
            flow_of(first).environment,
            name,
            operator,
            edges,
            declared_type(output_type),
            python=True,
        )
    )
