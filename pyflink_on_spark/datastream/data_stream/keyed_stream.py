"""A stream whose elements are grouped by a key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark._graph.stream_graph import Aligned
from pyflink_on_spark._runtime.contract.plan import HashPartitioner
from pyflink_on_spark._runtime.operators.process import KeyedProcessOperator
from pyflink_on_spark._runtime.operators.rolling import (
    RollingAggregateOperator,
    RollingReduceOperator,
)
from pyflink_on_spark._runtime.operators.stateless import (
    DropKeyOperator,
    KeyedFilterOperator,
    KeyedFlatMapOperator,
    KeyedMapOperator,
    KeyedRowsOperator,
)
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream.data_stream.data_stream import (
    PAIRS_NAME,
    VALUES_NAME,
    DataStream,
    DataStreamSink,
    declared_type,
    user_function,
)
from pyflink_on_spark.datastream.data_stream.operator_settings import WithoutOperator
from pyflink_on_spark.datastream.functions import (
    KeyedProcessFunction,
    KeySelector,
    Partitioner,
    ReduceFunction,
)
from pyflink_on_spark.datastream.time_domain import TimeDomain
from pyflink_on_spark.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
)

_FIXED = "Cannot override partitioning for KeyedStream."


class KeyedStream(WithoutOperator, DataStream):
    """A stream grouped by key: its functions have state for each key, and may set timers.

    Args:
        j_keyed_stream: pairs of key and element.
        original_data_type_info: the type of the elements.
        origin_stream: the stream that was keyed.

    On Spark: A key goes to the subtask to which PyFlink's process mode sends it, with three
    exceptions. Keys with declared dates and times go where Flink in UTC sends them, whatever the
    time zone. An untyped key that contains a set of several things, or an object of a class of the
    script, always goes to one subtask; in PyFlink to another one in each run. Equal parts of an
    untyped key are hashed as several objects, also where they are one object in PyFlink.
    """

    _map_operator = KeyedMapOperator
    _flat_map_operator = KeyedFlatMapOperator
    _filter_operator = KeyedFilterOperator

    _class_name = "KeyedStream"

    def __init__(self, j_keyed_stream, original_data_type_info, origin_stream: DataStream):
        self._key_type = j_keyed_stream.transformation.operator.key_type
        super().__init__(j_keyed_stream.partitioned(HashPartitioner(self._key_type)))
        self._original_data_type_info = original_data_type_info
        self._origin_stream = origin_stream

    def reduce(self, func: Callable | ReduceFunction) -> DataStream:
        """Combine each key's elements, two by two.

        In STREAMING mode every element gives the result so far, in BATCH mode a key gives one.

        Args:
            func: a function of two elements, or an object with ``reduce``.
        """
        function = user_function(func, ReduceFunction, "reduce")
        type_info = self._original_data_type_info
        return self._then("Reduce", RollingReduceOperator(function, type_info), type_info)

    class AccumulateType(Enum):
        """The ways in which ``sum`` and its like combine elements."""

        MIN = 1
        MAX = 2
        MIN_BY = 3
        MAX_BY = 4
        SUM = 5

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Add up a field of each key's elements; the other fields are those of the first one.

        Args:
            position_to_sum: the field's index or name; 0 for elements without fields.
        """
        return self._accumulate(position_to_sum, self.AccumulateType.SUM)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Find the smallest value of a field; the other fields are those of the first element."""
        return self._accumulate(position_to_min, self.AccumulateType.MIN)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Find the largest value of a field; the other fields are those of the first element."""
        return self._accumulate(position_to_max, self.AccumulateType.MAX)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Find the element with the smallest value of a field; the first of equal ones."""
        return self._accumulate(position_to_min_by, self.AccumulateType.MIN_BY)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Find the element with the largest value of a field; the first of equal ones."""
        return self._accumulate(position_to_max_by, self.AccumulateType.MAX_BY)

    def process(  # type: ignore[override]
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Make any number of elements of each, with state and timers for each key.

        Args:
            func: its ``process_element`` and ``on_timer`` yield results, and ``tag, value`` for
                side outputs.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if ``func`` is no KeyedProcessFunction, or cannot be pickled.
        """
        if not isinstance(func, KeyedProcessFunction):
            raise TypeError("KeyedProcessFunction is required for KeyedStream.")
        operator = KeyedProcessOperator(
            UserFunction.of(func),
            time_domains=(TimeDomain.EVENT_TIME, TimeDomain.PROCESSING_TIME),
        )
        return self._then("KEYED PROCESS", operator, declared_type(output_type))

    @renamed(key_type="key_type_info")
    def key_by(
        self,
        key_selector: Callable | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> KeyedStream:
        """Group the original elements by another key."""
        return self._origin_stream.key_by(key_selector, key_type)

    def window(self, window_assigner):
        """Cut each key's elements into windows."""
        from pyflink_on_spark.datastream.data_stream.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0):
        """Cut each key's elements into windows of ``size`` elements, every ``slide`` elements."""
        if slide == 0:
            return self.window(CountTumblingWindowAssigner(size))
        return self.window(CountSlidingWindowAssigner(size, slide))

    def union(self, *streams: DataStream) -> DataStream:
        """Merge with streams of the same type; the result is not keyed."""
        return self._values().union(*streams)

    def connect(self, ds):
        """Connect with another stream, or with a broadcast stream."""
        return super().connect(ds)

    def project(self, *field_indexes: int) -> DataStream:
        """Keep some fields of tuples; the result is not keyed."""
        return self._values().project(*field_indexes)

    def add_sink(self, sink_func) -> DataStreamSink:
        """Write the elements to a sink."""
        return self._values().add_sink(sink_func)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Write the elements to the driver's standard output.

        Args:
            sink_identifier: without effect, as in PyFlink: a keyed stream loses it.
        """
        return self._values().print()

    def shuffle(self) -> DataStream:
        """Raise: a keyed stream is spread by its keys."""
        raise Exception(_FIXED)

    def rescale(self) -> DataStream:
        """Raise: a keyed stream is spread by its keys."""
        raise Exception(_FIXED)

    def rebalance(self) -> DataStream:
        """Raise: a keyed stream is spread by its keys."""
        raise Exception(_FIXED)

    def forward(self) -> DataStream:
        """Raise: a keyed stream is spread by its keys."""
        raise Exception(_FIXED)

    def broadcast(self, *args):
        """Raise: a keyed stream is spread by its keys."""
        raise Exception(_FIXED)

    def partition_custom(
        self,
        partitioner: Callable | Partitioner,
        key_selector: Callable | KeySelector,
    ) -> DataStream:
        """Raise: a keyed stream is spread by its keys."""
        raise Exception(_FIXED)

    def _accumulate(self, position: object, kind: AccumulateType) -> DataStream:
        if not isinstance(position, (int, str)):
            raise TypeError(
                "The field position must be of int or str type to locate the value to calculate "
                "for min, max, min_by, max_by and sum. The given type is: "
                f"{type(position)}"
            )
        type_info = self._original_data_type_info
        operator = RollingAggregateOperator(kind.name.lower(), position, type_info)
        return self._then("Reduce", operator, type_info)

    def _element_type(self) -> TypeInformation:
        """Return the type of the elements, without keys."""
        return self._original_data_type_info

    def _to_collect(self) -> DataStream:
        """Return rows of key and element, in the order in which they were keyed."""
        edges = tuple(replace(e, partitioner=None, unfused=True) for e in self._flow.edges)
        types = [declared_type(self._key_type), self._original_data_type_info]
        return DataStream(replace(self._flow, edges=edges))._then(
            VALUES_NAME, KeyedRowsOperator(), declared_type(types), aligned=Aligned.INPUT
        )

    def _pairs(self) -> DataStream:
        """Return the rows of key and element that the stream has for Flink's JVM."""
        key_type = self._key_type or Types.PICKLED_BYTE_ARRAY()
        pair = declared_type([key_type, self._original_data_type_info])
        return self._then(PAIRS_NAME, KeyedRowsOperator(), pair, aligned=Aligned.READER)

    def _values(self) -> DataStream:
        return self._then(
            VALUES_NAME,
            DropKeyOperator(),
            self._original_data_type_info,
            aligned=Aligned.READER,
        )
