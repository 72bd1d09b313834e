"""The distribution of a stream's elements over the subtasks of the next operator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._graph.transformation import Aligned
from pyflink_on_spark._runtime.contract.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)
from pyflink_on_spark._runtime.contract.partitioners import (
    Partitioner as RuntimePartitioner,
)
from pyflink_on_spark._runtime.operators.stateless import DropKeyOperator, PartitionOperator
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream.data_stream.emitted_stream import EmittedStream
from pyflink_on_spark.datastream.data_stream.flow import user_function
from pyflink_on_spark.datastream.functions import KeySelector, Partitioner
from pyflink_on_spark.datastream.state import MapStateDescriptor

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.data_stream.data_stream import DataStream

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

    def _beside_input(self, name: str, operator: Any) -> DataStream:
        """Add an operator in the subtasks of its input, whatever partitioning was asked for."""
        forwarded = self._partitioned(ForwardPartitioner())
        return forwarded._then(name, operator, self.get_type(), aligned=Aligned.INPUT)
