"""A stream of elements without a key, and its flow: its edges in the graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NoReturn, Self

from pyflink_on_spark._compat.arguments import renamed
from pyflink_on_spark._compat.own_frames import capture_call_site
from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._connectors.builtin import CollectSink, PrintSink
from pyflink_on_spark._graph.stream_graph import Aligned, Chaining, Edge, Transformation
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)
from pyflink_on_spark._runtime.contract.plan import Partitioner as RuntimePartitioner
from pyflink_on_spark._runtime.operators.process import ProcessOperator
from pyflink_on_spark._runtime.operators.stateless import (
    DropKeyOperator,
    FilterOperator,
    FlatMapOperator,
    IdentityOperator,
    MapOperator,
    PartitionOperator,
    ProjectOperator,
    SelectKeyOperator,
    TextOperator,
)
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common import ExecutionConfig, WatermarkStrategy
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from pyflink_on_spark.datastream.data_stream.operator_settings import (
    OperatorSettings,
    WithoutOperator,
    checked_max_parallelism,
)
from pyflink_on_spark.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
)
from pyflink_on_spark.datastream.output_tag import OutputTag
from pyflink_on_spark.datastream.state import MapStateDescriptor

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.stream_execution_environment import (
        StreamExecutionEnvironment,
    )

_NO_BUFFER_TIMEOUT = -1


@dataclass(frozen=True)
class Flow:
    """The elements of a stream: their origin and their type.

    Args:
        environment: whose job it belongs to.
        edges: how the next operator reads it; more than one for a union.
        type_info: the type of the elements.
        direct: whether it is what an operator emits, not repartitioned and no union, so that the
            operator's settings can be changed through it.
    """

    environment: StreamExecutionEnvironment
    edges: tuple[Edge, ...]
    type_info: TypeInformation
    direct: bool = True

    @property
    def transformation(self) -> Transformation:
        """The operator whose settings the stream's setters change."""
        if not self.direct:
            raise Exception("Only an operator has settings, not a repartitioned stream or a union.")
        return self.edges[0].upstream

    def partitioned(self, partitioner: RuntimePartitioner) -> Flow:
        """Return the same elements, spread in another way."""
        edges = tuple(replace(edge, partitioner=partitioner) for edge in self.edges)
        return replace(self, edges=edges, direct=False)

    def reading(self, port: int) -> tuple[Edge, ...]:
        """Return the edges for a certain input of an operator."""
        return tuple(replace(edge, port=port) for edge in self.edges)


def flow_of(stream: Any) -> Flow:
    """Return the flow that a stream stands for."""
    flow: Flow = stream._flow
    return flow


def add_operator(
    environment: StreamExecutionEnvironment,
    name: str,
    operator: Operator | None,
    edges: tuple[Edge, ...],
    type_info: TypeInformation,
    **settings: Any,
) -> Flow:
    """Record an operator of the program; return its output."""
    settings.setdefault("parallelism", environment._explicit_parallelism())
    transformation = Transformation(
        name=name,
        operator=operator,
        edges=edges,
        call_site=capture_call_site(),
        type_info=type_info,
        **settings,
    )
    environment._add(transformation)
    return Flow(environment, (Edge(transformation, type_info),), type_info)


def user_function(
    function: object, base: type, method: str, complaint: str | None = None
) -> UserFunction:
    """Return a user's function object, or a callable in the shape of one.

    Raises:
        TypeError: if it is neither, or cannot be pickled.
    """
    if isinstance(function, base):
        return UserFunction.of(function)
    if callable(function):
        return UserFunction.of(PlainFunction(method, function))
    raise TypeError(complaint or f"The input must be a {base.__name__} or a callable function")


def declared_type(output_type: object) -> TypeInformation:
    """Return the type a user declared: none is untyped, a list of types is a row of them."""
    if output_type is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(output_type, list):
        row = RowTypeInfo(output_type)
        row.get_field_names()  # gives the fields their names f0, f1, ...
        return row
    if not isinstance(output_type, TypeInformation):
        raise TypeError(
            f"output_type must be None, list or TypeInformation, not {type(output_type).__name__}"
        )
    return output_type


class EmittedStream(OperatorSettings):
    """A stream as its operator emits it: the operator's settings, and the elements' type."""

    _flow: Flow

    @property
    def _transformation(self) -> Transformation:
        return self._flow.transformation

    def get_name(self) -> str:
        """Return the operator's name."""
        return self._transformation.name

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the operator's number of key groups, above which its parallelism cannot grow.

        Raises:
            TypeError: it is no int.
            ValueError: it is not from 1 to 32768.
        """
        self._transformation.max_parallelism = checked_max_parallelism(max_parallelism)
        return self

    def get_type(self) -> TypeInformation:
        """Return the type of the elements."""
        type_info = self._flow.type_info
        if isinstance(type_info, RowTypeInfo):
            types = type_info.get_field_types()
            names = type_info._field_names or [f"f{index}" for index in range(len(types))]
            return RowTypeInfo(types, list(names))
        return type_info

    def get_execution_environment(self):
        """Return the environment that the stream belongs to."""
        return self._flow.environment

    def get_execution_config(self) -> ExecutionConfig:
        """Return the environment's execution config."""
        return self._flow.environment.get_config()

    def force_non_parallel(self) -> Self:
        """Make the operator one that can have only one subtask."""
        self._transformation.parallel = False
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long the operator may hold back elements.

        Args:
            timeout_millis: in ms; -1 until a buffer is full.

        Raises:
            ValueError: the timeout is less than -1.

        On Spark: recorded; a buffer is sent when it is full or its subtask is idle, or after
        about 100 ms.
        """
        if timeout_millis < _NO_BUFFER_TIMEOUT:
            raise ValueError("timeout must be >= -1")
        return self

    def start_new_chain(self) -> Self:
        """Let a new task begin with the operator.

        On Spark: only the names of tasks change; operators that need no exchange still run
        together.
        """
        self._transformation.chaining = Chaining.HEAD
        return self


PARTITION_NAME = "_partition_custom_map_operator"
VALUES_NAME = "_keyed_stream_values_operator"
BAD_KEY_SELECTOR = "Parameter key_selector should be type of KeySelector or a callable function."


class PartitionedStream(EmittedStream):
    """A stream whose partitioning can be chosen."""

    @abstractmethod
    def _partitioned(self, partitioner: RuntimePartitioner) -> DataStream:
        """Return a stream whose elements are distributed by a partitioner."""

    @abstractmethod
    def _then(
        self, name: str, operator: Any, type_info: TypeInformation, **settings: Any
    ) -> DataStream:
        """Add an operator, and return the stream of its results."""

    def rebalance(self) -> DataStream:
        """Spread the elements evenly over all subtasks of the next operator."""
        return self._partitioned(RebalancePartitioner())

    def rescale(self) -> DataStream:
        """Spread the elements evenly over a subtask's own share of the next operator's subtasks."""
        return self._partitioned(RescalePartitioner())

    def shuffle(self) -> DataStream:
        """Spread the elements at random."""
        return self._partitioned(ShufflePartitioner())

    def forward(self) -> DataStream:
        """Send what subtask i emits to subtask i of the next operator."""
        return self._partitioned(ForwardPartitioner())

    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ):
        """Send every element to every subtask of the next operator.

        Args:
            broadcast_state_descriptor: makes it a BroadcastStream, to be connected with another
                stream, with this broadcast state.
            other_broadcast_state_descriptors: further broadcast states.
        """
        from pyflink_on_spark.datastream.data_stream.connected_streams import BroadcastStream

        stream = self._partitioned(BroadcastPartitioner())
        if broadcast_state_descriptor is None:
            return stream
        descriptors = [broadcast_state_descriptor, *other_broadcast_state_descriptors]
        for descriptor in descriptors:
            if not isinstance(descriptor, MapStateDescriptor):
                raise TypeError("broadcast_state_descriptor must be MapStateDescriptor")
        return BroadcastStream(stream, descriptors)

    def partition_custom(
        self,
        partitioner: Callable | Partitioner,
        key_selector: Callable | KeySelector,
    ) -> DataStream:
        """Choose the next operator's subtask for each element.

        Args:
            partitioner: gets the key and the number of subtasks, returns the index of one.
            key_selector: finds the key of an element.

        Raises:
            TypeError: if one of them is not callable, or cannot be pickled.
        """
        chooser = user_function(
            partitioner,
            Partitioner,
            "partition",
            "Parameter partitioner should be type of Partitioner or a callable function.",
        )
        selector = user_function(key_selector, KeySelector, "get_key", BAD_KEY_SELECTOR)
        operator = PartitionOperator(chooser, selector)
        placed = self._beside_input(PARTITION_NAME, operator)
        spread = placed._partitioned(CustomPartitioner())
        return spread._then(VALUES_NAME, DropKeyOperator(), self.get_type(), aligned=Aligned.READER)

    def _beside_input(self, name: str, operator: object) -> DataStream:
        """Add an operator in the subtasks of its input, whatever partitioning was asked for."""
        forwarded = self._partitioned(ForwardPartitioner())
        return forwarded._then(name, operator, self.get_type(), aligned=Aligned.INPUT)


KEY_BY_NAME = "_stream_key_by_map_operator"
PAIRS_NAME = "_keyed_stream_pairs_operator"


class DataStream(PartitionedStream):
    """A stream of elements of one type.

    Its methods describe what happens to them; nothing runs before the environment executes.

    Args:
        j_data_stream: what the elements are; made by the environment and by other streams.
    """

    _map_operator: type[Any] = MapOperator
    _flat_map_operator: type[Any] = FlatMapOperator
    _filter_operator: type[Any] = FilterOperator

    def __init__(self, j_data_stream):
        self._flow: Flow = j_data_stream

    # -- operators -------------------------------------------------------------------------------

    def map(
        self,
        func: Callable | MapFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Make one element of each.

        Args:
            func: a function, or an object with ``map``.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if ``func`` is neither, or cannot be pickled.
        """
        function = user_function(func, MapFunction, "map")
        return self._then("Map", self._map_operator(function), declared_type(output_type))

    @renamed(output_type="result_type")
    def flat_map(
        self,
        func: Callable | FlatMapFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Make any number of elements of each.

        Args:
            func: a function, or an object with ``flat_map``; returns something to iterate.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if ``func`` is neither, or cannot be pickled.
        """
        function = user_function(func, FlatMapFunction, "flat_map")
        return self._then("FlatMap", self._flat_map_operator(function), declared_type(output_type))

    def filter(self, func: Callable | FilterFunction) -> DataStream:
        """Keep the elements for which a function is true.

        Args:
            func: a function, or an object with ``filter``.

        Raises:
            TypeError: if ``func`` is neither, or cannot be pickled.
        """
        function = user_function(func, FilterFunction, "filter")
        return self._then("Filter", self._filter_operator(function), self._element_type())

    def process(
        self, func: ProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Make any number of elements of each, with side outputs and a view of time.

        Args:
            func: its ``process_element`` yields results, and ``tag, value`` for side outputs.
            output_type: the type of the results; untyped if not given.

        Raises:
            TypeError: if ``func`` cannot be pickled.
        """
        operator = ProcessOperator(UserFunction.of(func))
        return self._then("PROCESS", operator, declared_type(output_type))

    def project(self, *field_indexes: int) -> DataStream:
        """Keep some fields of tuples, in the given order.

        Raises:
            Exception: if the stream is not declared to be of tuples.
            ValueError: no field is named.
            IndexError: the tuples have no such field.
            TypeError: an index is no int.
        """
        type_info = self.get_type()
        if not isinstance(type_info, TupleTypeInfo):
            raise Exception("Only Tuple DataStreams can be projected.")
        if not field_indexes:
            raise ValueError("project() needs to select at least one (1) field.")
        fields = type_info.get_field_types()
        for index in field_indexes:
            if type(index) is not int:
                raise TypeError(f"The index of a field must be an int, not {index!r}.")
            if not 0 <= index < len(fields):
                raise IndexError(f"The tuple has the fields 0 to {len(fields) - 1}, not {index}.")
        projected = Types.TUPLE([fields[index] for index in field_indexes])
        return self._then("Projection", ProjectOperator(field_indexes), projected, python=False)

    def union(self, *streams: DataStream) -> DataStream:
        """Merge streams of the same type into one.

        Raises:
            Exception: if their types differ.
        """
        flows = [self._flow]
        for stream in streams:
            flow = flow_of(_plain(stream))
            if flow.type_info != self.get_type():
                raise Exception(
                    "Cannot union streams of different types: "
                    f"{self.get_type()} and {flow.type_info}"
                )
            flows.append(flow)
        edges = tuple(replace(edge, united=True) for flow in flows for edge in flow.edges)
        direct = len(flows) == 1 and self._flow.direct
        return DataStream(Flow(self._flow.environment, edges, self.get_type(), direct))

    def connect(self, ds):
        """Connect with another stream, of whatever type, or with a broadcast stream.

        Returns:
            ConnectedStreams, or BroadcastConnectedStream for a BroadcastStream.
        """
        from pyflink_on_spark.datastream.data_stream.connected_streams import (
            BroadcastConnectedStream,
            BroadcastStream,
            ConnectedStreams,
        )

        if isinstance(ds, BroadcastStream):
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        return ConnectedStreams(self, ds)

    @renamed(key_type="key_type_info")
    def key_by(
        self,
        key_selector: Callable | KeySelector,
        key_type: TypeInformation | None = None,
    ):
        """Group the elements by a key.

        The selector runs in the subtasks that emit the elements: a partitioning before ``key_by``,
        as ``broadcast()``, has no effect, and all streams of a union need the same parallelism.

        Args:
            key_selector: a function, or an object with ``get_key``.
            key_type: the type of the keys; untyped if not given: then 1, True and 1.0 are three
                keys.

        Raises:
            TypeError: if ``key_selector`` is neither, or cannot be pickled, or ``key_type`` is no
                type.
            ValueError: if the type is an array, or a tuple or row that contains one.
        """
        from pyflink_on_spark.datastream.data_stream.keyed_stream import KeyedStream

        selector = user_function(key_selector, KeySelector, "get_key", BAD_KEY_SELECTOR)
        typed = None if isinstance(key_type, PickledBytesTypeInfo) else key_type
        if typed is not None:
            check_key_type(typed)
        fields = isinstance(key_selector, itemgetter | attrgetter)
        operator = SelectKeyOperator(selector, typed, repr(key_selector) if fields else None)
        keyed = self._beside_input(KEY_BY_NAME, operator)
        return KeyedStream(flow_of(keyed), self.get_type(), self)

    def window_all(self, window_assigner):
        """Cut the whole stream into windows; one subtask sees all elements."""
        from pyflink_on_spark.datastream.data_stream.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Give elements timestamps, and the stream watermarks.

        On Spark: an unbounded job emits watermarks by the clock, as in PyFlink. A bounded job emits
        one after a number of elements, and by the clock only where its functions are slow, so that
        its results can be repeated.
        """
        strategy = watermark_strategy._spec
        if strategy.assigner is not None:
            strategy.assigner.extract_timestamp  # noqa: B018 - raises here, not in a worker
        assigner = None if strategy.assigner is None else UserFunction.of(strategy.assigner)
        delay = {"none": None, "monotonous": 0}.get(strategy.kind, strategy.bound_ms)
        operator = AssignTimestamps(assigner, delay, idle_after=strategy.idle_timeout_ms)
        return self._then(
            "Timestamps/Watermarks", operator, self.get_type(), python=assigner is not None
        )

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Return the side output of the operator.

        Raises:
            ValueError: the same side output was asked for with another type.
        """
        flow = self._flow
        tag_id, type_info = output_tag.tag_id, output_tag.type_info
        if flow.transformation.side_types.setdefault(tag_id, type_info) != type_info:
            raise ValueError(
                f"The side output {tag_id!r} was already requested with a different type, "
                f"{flow.transformation.side_types[tag_id]}, not {type_info}. This is not allowed, "
                "side output ids need to be unique."
            )
        edge = Edge(flow.transformation, type_info, side_tag=tag_id)
        return DataStream(
            add_operator(
                flow.environment,
                "Map",
                IdentityOperator(),
                (edge,),
                type_info,
                python=True,
            )
        )

    # -- ends ------------------------------------------------------------------------------------

    def add_sink(self, sink_func) -> DataStreamSink:
        """Write the elements to a sink, for example a StreamingFileSink."""
        return self.sink_to(sink_func, name="Unnamed")

    def sink_to(self, sink, name: str = "Writer") -> DataStreamSink:
        """Write the elements to a sink, for example a FileSink.

        Raises:
            TypeError: if it is not a sink, or cannot write elements of this type.
        """
        runtime_sink = getattr(sink, "_sink", None)
        if runtime_sink is None:
            raise TypeError(f"{type(sink).__name__} is not a sink that can be written to")
        transformer = sink.get_transformer() if hasattr(sink, "get_transformer") else None
        stream = _plain(self if transformer is None else transformer.apply(self))
        return stream._end(name, runtime_sink.with_input_type(stream.get_type()))

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Write the elements to the driver's standard output.

        Args:
            sink_identifier: stands before each line.
        """
        stream, type_info = self, self.get_type()
        if isinstance(type_info, (PickledBytesTypeInfo, RowTypeInfo)):
            stream = self._then("Map", TextOperator(type_info), Types.STRING())
        channel = self._flow.environment._printing_channel()
        sink = PrintSink(channel, stream.get_type(), sink_identifier)
        return stream._end("Print to Std. Out", sink)

    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None):
        """Run what leads to this stream, and return its elements.

        Args:
            job_execution_name: the job's name.
            limit: the most elements to return.

        Returns:
            A CloseableIterator, which returns elements while the job runs; with ``limit`` a list.
        """
        iterator = collect(self._to_collect(), job_execution_name)
        if limit is None:
            return iterator
        with iterator:
            return [element for _, element in zip(range(limit), iterator)]

    def cache(self):
        """Return the stream for use in several jobs.

        On Spark: each job computes the elements again.
        """
        note_recorded("DataStream.cache()", "each job computes the elements again")

        return CachedDataStream(self._flow)

    # -- for the mirror's other classes ----------------------------------------------------------

    def _partitioned(self, partitioner: RuntimePartitioner) -> DataStream:
        return DataStream(self._flow.partitioned(partitioner))

    def _then(
        self,
        name: str,
        operator: Any,
        type_info: TypeInformation,
        *,
        python: bool = True,
        **settings: Any,
    ) -> DataStream:
        flow = self._flow
        return DataStream(
            add_operator(
                flow.environment, name, operator, flow.edges, type_info, python=python, **settings
            )
        )

    def _element_type(self) -> TypeInformation:
        """Return the type of the elements, without keys."""
        return self.get_type()

    def _to_collect(self) -> DataStream:
        """Return the stream whose elements are collected."""
        return self

    def _end(self, name: str, sink: object, **settings: object) -> DataStreamSink:
        flow = self._flow
        ended = add_operator(
            flow.environment, name, None, flow.edges, flow.type_info, sink=sink, **settings
        )
        return DataStreamSink(ended.transformation)


def _plain(stream: DataStream) -> DataStream:
    values = getattr(stream, "_values", None)
    return stream if values is None else values()


def collect(stream: Any, job_name: str | None) -> CloseableIterator:
    """Run what leads to a stream without a key, and return its elements while the job runs."""
    environment = flow_of(stream).environment
    channel = "collect"
    beside = environment._forget()
    edges = tuple(
        replace(edge, collected=True, unfused=edge.united or edge.partitioner is not None)
        for edge in flow_of(stream).edges
    )
    collected = type(stream)(replace(flow_of(stream), edges=edges))
    collected._end(
        "Data stream collect sink", CollectSink(channel), aligned=Aligned.INPUT, single=True
    )
    elements = environment._collect(job_name, channel, beside)
    return CloseableIterator(elements, stream.get_type())


_ARRAYS = (BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


def check_key_type(key_type: TypeInformation) -> None:
    """Refuse arrays, and tuples and rows that contain them: Flink cannot hash them.

    Raises:
        TypeError: it is no type.
        ValueError: if the type has one.
    """
    if not isinstance(key_type, TypeInformation):
        raise TypeError(f"key_type must be None or a TypeInformation, not {key_type!r}")
    arrays = list(_arrays_in(key_type))
    if arrays:
        raise ValueError(
            f"Type {key_type} cannot be used as key. Contained UNSUPPORTED key types: "
            f"{', '.join(map(str, arrays))}. A key of bytes needs no type: leave key_type out."
        )


def _arrays_in(found: TypeInformation) -> Iterator[TypeInformation]:
    if isinstance(found, _ARRAYS):
        yield found
    elif isinstance(found, (RowTypeInfo, TupleTypeInfo)):
        for field in found.get_field_types():
            yield from _arrays_in(field)


class DataStreamSink(OperatorSettings):
    """A sink that was added to a stream. Its setters change the sink and return it."""

    def __init__(self, j_data_stream_sink):
        self._j_data_stream_sink: Transformation = j_data_stream_sink

    @property
    def _transformation(self) -> Transformation:
        return self._j_data_stream_sink


class CloseableIterator:
    """The elements of a running job, as they come. Closing it ends the job.

    Args:
        j_closeable_iterator: a generator of the elements.
        type_info: their type.
    """

    def __init__(self, j_closeable_iterator, type_info: TypeInformation | None = None):
        self._elements = j_closeable_iterator
        self._type_info = type_info

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.close()

    def next(self) -> Any:
        """Return the next element.

        Raises:
            StopIteration: when the job has ended.
            JobExecutionError: when it has failed.
        """
        return next(self._elements)

    def close(self) -> None:
        """End the job, if it still runs."""
        self._elements.close()


class CachedDataStream(WithoutOperator, DataStream):
    """A stream that later jobs of the environment use again; made by ``cache()``.

    On Spark: each job computes the elements again, as PyFlink does where jobs share no cluster. For
    elements that are dear to compute write them to files once, and read those.
    """

    _class_name = "CachedDataStream"

    def invalidate(self) -> None:
        """Drop the cached elements, so that the next job computes them again.

        On Spark: nothing is kept.
        """

    def set_description(self, description: str) -> NoReturn:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set description for CachedDataStream is not supported.")
