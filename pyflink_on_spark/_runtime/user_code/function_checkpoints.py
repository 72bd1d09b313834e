"""User functions that take part in checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.operator_state import (
    BroadcastState,
    OperatorListState,
    OperatorState,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext, RuntimeContext

_LIST_CHECKPOINTED = "_list_checkpointed"


class OperatorStateStore:
    """Gives a function its state that belongs to no key.

    Args:
        state: the operator's.
    """

    def __init__(self, state: OperatorState) -> None:
        self._state = state

    def get_list_state(self, state_descriptor: Any) -> OperatorListState:
        """Return a list whose elements are redistributed evenly on rescaling."""
        return self._state.list_state(_name(state_descriptor, "list"))

    def get_union_list_state(self, state_descriptor: Any) -> OperatorListState:
        """Return a list of which every subtask gets everything after a restart."""
        return self._state.union_list_state(_name(state_descriptor, "list"))

    def get_broadcast_state(self, state_descriptor: Any) -> BroadcastState:
        """Return a map that is the same in every subtask."""
        _name(state_descriptor, "map")
        return self._state.broadcast_state(state_descriptor)


class InitializationContext:
    """The argument of ``initialize_state``.

    Args:
        context: the operator's.
    """

    def __init__(self, context: OperatorContext) -> None:
        self._restored = context.restored
        self._operator_state_store = OperatorStateStore(context.operator_state)
        self._runtime_context = context.runtime_context

    def is_restored(self) -> bool:
        """True if the state comes from a checkpoint."""
        return self._restored is not None

    def get_restored_checkpoint_id(self) -> int | None:
        """Return the number of that checkpoint; None at a fresh start."""
        return self._restored

    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the store of state that belongs to no key."""
        return self._operator_state_store

    def get_keyed_state_store(self) -> RuntimeContext:
        """Return the store of keyed state; its use raises outside keyed streams."""
        return self._runtime_context


class SnapshotContext:
    """The argument of ``snapshot_state``.

    Args:
        checkpoint_id: the checkpoint's number.
        timestamp: when it is taken (ms).
    """

    __slots__ = ("_checkpoint_id", "_timestamp")

    def __init__(self, checkpoint_id: int, timestamp: int) -> None:
        self._checkpoint_id = checkpoint_id
        self._timestamp = timestamp

    def get_checkpoint_id(self) -> int:
        """Return the checkpoint's number."""
        return self._checkpoint_id

    def get_checkpoint_timestamp(self) -> int:
        """Return when it is taken, in ms since the epoch."""
        return self._timestamp


class FunctionCheckpoints:
    """One function's part in checkpoints; none, for most functions.

    A function says what it wants by class attributes, not by its methods' names alone: a method
    that happens to be called ``initialize_state`` is the user's own business. The attributes are
    ``_checkpoint_protocol``, which is ``function`` or ``list``, and ``_listens_to_checkpoints``.

    Args:
        function: the user's, loaded, or an object around it.
        context: the operator's.
    """

    def __init__(self, function: Any, context: OperatorContext) -> None:
        self._function = _innermost(function)
        self._context = context
        self._protocol = getattr(self._function, "_checkpoint_protocol", None)
        self._listens = getattr(self._function, "_listens_to_checkpoints", False)

    def initialize(self) -> None:
        """Give the function its state; before it is opened."""
        context = self._context
        if self._protocol == "function":
            self._function.initialize_state(InitializationContext(context))
        elif self._protocol == "list" and context.restored is not None:
            state = context.operator_state.list_state(_LIST_CHECKPOINTED)
            self._function.restore_state(state.get())

    def snapshot(self, checkpoint_id: int) -> None:
        """Have the function save its state."""
        if self._protocol is None:
            return
        now = self._context.clock.now()
        if self._protocol == "function":
            self._function.snapshot_state(SnapshotContext(checkpoint_id, now))
        else:
            elements = self._function.snapshot_state(checkpoint_id, now)
            state = self._context.operator_state.list_state(_LIST_CHECKPOINTED)
            state.update(elements or ())

    def complete(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint is complete."""
        if self._listens:
            self._function.notify_checkpoint_complete(checkpoint_id)

    def aborted(self, checkpoint_id: int) -> None:
        """Notify the function that a checkpoint was aborted."""
        if self._listens:
            self._function.notify_checkpoint_aborted(checkpoint_id)


def _innermost(function: Any) -> Any:
    """Return the user's own function, without its wrappers."""
    while True:
        inner = getattr(function, "_wrapped_function", None) or getattr(function, "plain", None)
        if inner is None or inner is function:
            return function
        function = inner


def _name(descriptor: Any, kind: str) -> str:
    if getattr(descriptor, "_kind", kind) != kind:
        raise TypeError(f"{descriptor!r} does not describe a {kind} state")
    config = getattr(descriptor, "_ttl_config", None)
    if config is not None and config.is_enabled():
        raise ValueError(f"{descriptor!r}: only keyed state can have a time to live")
    return str(descriptor.get_name())
