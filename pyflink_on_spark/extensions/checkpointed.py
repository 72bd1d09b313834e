"""Functions that take part in checkpoints themselves: mixins for any user function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pyflink_on_spark._runtime import user_code as engine
from pyflink_on_spark.datastream import state
from pyflink_on_spark.datastream.functions import KeyedStateStore
from pyflink_on_spark.datastream.state import BroadcastState, ListState


class OperatorStateStore(state.OperatorStateStore):
    """Gives access to state that belongs to no key.

    A list's elements have to be independent of each other: after a change of parallelism they may
    find themselves in other instances. Names are one per operator.
    """

    @abstractmethod
    def get_list_state(self, state_descriptor: state.ListStateDescriptor) -> ListState[Any]:
        """Return a list whose elements are redistributed evenly when the parallelism changes.

        Args:
            state_descriptor: its name and type.

        Raises:
            TypeError: it describes another kind of state.
            ValueError: it has a time to live.
            RuntimeError: the name belongs to a list that is union-redistributed.
        """

    @abstractmethod
    def get_union_list_state(self, state_descriptor: state.ListStateDescriptor) -> ListState[Any]:
        """Return a list of which every instance gets all elements of all instances after a restart.

        Args:
            state_descriptor: its name and type.

        Raises:
            TypeError: it describes another kind of state.
            ValueError: it has a time to live.
            RuntimeError: the name belongs to a list that is split-redistributed.
        """

    @abstractmethod
    def get_broadcast_state(
        self, state_descriptor: state.MapStateDescriptor
    ) -> BroadcastState[Any, Any]:
        """Return a map that is the same in all instances.

        Args:
            state_descriptor: its name and types.
        """


class FunctionInitializationContext(ABC):
    """The argument of ``initialize_state``."""

    @abstractmethod
    def is_restored(self) -> bool:
        """True if the job was restored from a checkpoint or savepoint."""

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None:
        """Return the number of that checkpoint; None at a fresh start."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the store of state that belongs to no key."""

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore:
        """Return the store of keyed state; its methods raise outside keyed streams."""


class FunctionSnapshotContext(ABC):
    """The argument of ``snapshot_state``."""

    @abstractmethod
    def get_checkpoint_id(self) -> int:
        """Return the checkpoint's number; later ones have larger numbers."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """Return when the checkpoint is taken, in ms since the epoch.

        On Spark: each instance has its own time, that of its own snapshot.
        """


class CheckpointedFunction(ABC):
    """Keeps state that belongs to no key; a second base class of a function, source or sink.

    Example:
        >>> class Numbering(MapFunction, CheckpointedFunction):
        ...     def initialize_state(self, context):
        ...         descriptor = ListStateDescriptor("count", Types.LONG())
        ...         self.state = context.get_operator_state_store().get_list_state(descriptor)
        ...         self.count = sum(self.state.get())
        ...
        ...     def snapshot_state(self, context):
        ...         self.state.update([self.count])
        ...
        ...     def map(self, value):
        ...         self.count += 1
        ...         return self.count, value
        >>> with harness_for(Numbering()) as harness:
        ...     harness.push("a")
        ...     with harness.restart() as restarted:
        ...         restarted.push("b")
        ...         restarted.values()
        [(2, 'b')]
    """

    _checkpoint_protocol: ClassVar[str] = "function"

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _refuse_both(cls)

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Put the state to save into the states; called at every checkpoint.

        Args:
            context: valid during this call only.
        """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get the states, and take over what they hold; called once, before ``open``.

        Args:
            context: provides the states, and whether they were restored.
        """


class ListCheckpointed(ABC):
    """Keeps one list that belongs to no key and is redistributed when the parallelism changes.

    Less general than CheckpointedFunction, and shorter.

    Example:
        >>> class Count(MapFunction, ListCheckpointed):
        ...     count = 0
        ...
        ...     def snapshot_state(self, checkpoint_id, timestamp):
        ...         return [self.count]
        ...
        ...     def restore_state(self, state):
        ...         self.count = sum(state)
        ...
        ...     def map(self, value):
        ...         self.count += 1
        ...         return self.count
        >>> with harness_for(Count()) as harness:
        ...     harness.push("a")
        ...     with harness.restart() as restarted:
        ...         restarted.push("b")
        ...         restarted.values()
        [2]
    """

    _checkpoint_protocol: ClassVar[str] = "list"

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _refuse_both(cls)

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[Any]:
        """Return the state to save, as a list of independent objects; called at every checkpoint.

        Args:
            checkpoint_id: the checkpoint's number.
            timestamp: when it is taken, in ms since the epoch.
        """

    @abstractmethod
    def restore_state(self, state: list[Any]) -> None:
        """Take over this instance's share; called before ``open``, after a restart only.

        Args:
            state: may be empty.
        """


class CheckpointListener(ABC):
    """Is notified of the outcome of checkpoints; a second base class of a function.

    Example:
        >>> class Notified(MapFunction, CheckpointListener):
        ...     complete = 0
        ...
        ...     def notify_checkpoint_complete(self, checkpoint_id):
        ...         self.complete += 1
        ...
        ...     def map(self, value):
        ...         return value, self.complete
        >>> with harness_for(Notified()) as harness:
        ...     snapshot = harness.snapshot()
        ...     harness.notify_checkpoint_complete()
        ...     harness.push("a")
        ...     harness.values()
        [('a', 1)]
    """

    _listens_to_checkpoints: ClassVar[bool] = True

    @abstractmethod
    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Take note that a checkpoint is complete.

        A notification can be missing after a failure; that of a later checkpoint then implies it.
        Of savepoints only the one with which a job stops is notified.

        Args:
            checkpoint_id: its number.
        """

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:  # noqa: B027
        """Take note that a checkpoint was aborted: it could not be written, or took too long.

        Called if the job continues: with ``tolerable-failed-checkpoints``, or after a savepoint.

        Args:
            checkpoint_id: its number.
        """


OperatorStateStore.register(engine.OperatorStateStore)
FunctionInitializationContext.register(engine.InitializationContext)
FunctionSnapshotContext.register(engine.SnapshotContext)


def _refuse_both(kind: type) -> None:
    if {CheckpointedFunction, ListCheckpointed} <= set(kind.__mro__):
        raise TypeError(
            f"{kind.__name__} cannot be both a CheckpointedFunction and a ListCheckpointed: "
            "their snapshot_state methods differ"
        )
