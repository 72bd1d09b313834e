"""The distribution of a stream's elements over the subtasks of the next operator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from pyflink_on_spark._graph.stream_graph import Aligned, Chaining, Transformation
from pyflink_on_spark._runtime.contract.plan import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)
from pyflink_on_spark._runtime.contract.plan import Partitioner as RuntimePartitioner
from pyflink_on_spark._runtime.operators.stateless import DropKeyOperator, PartitionOperator
from pyflink_on_spark.common import ExecutionConfig
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation
from pyflink_on_spark.datastream.data_stream.flow import Flow, user_function
from pyflink_on_spark.datastream.data_stream.operator_settings import OperatorSettings
from pyflink_on_spark.datastream.data_stream.parallelism import checked_max_parallelism
from pyflink_on_spark.datastream.functions import KeySelector, Partitioner
from pyflink_on_spark.datastream.state import MapStateDescriptor

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.data_stream.data_stream import DataStream


_NO_BUFFER_TIMEOUT = -1


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
