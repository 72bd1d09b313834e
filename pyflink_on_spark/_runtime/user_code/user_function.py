"""A user's function as it was when it was added to the job, and its own checkpoints."""

from __future__ import annotations

import functools
import inspect
import pickle
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle

from pyflink_on_spark._runtime.state.operator_state import (
    BroadcastState,
    OperatorListState,
    OperatorState,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext

_LIST_CHECKPOINTED = "_list_checkpointed"


@dataclass(frozen=True)
class UserFunction:
    """A function, pickled at once, so that later changes to it or its closure are not seen.

    Args:
        payload: the function as cloudpickle writes it.
        description: its name, for messages.
    """

    payload: bytes
    description: str

    @classmethod
    def of(cls, function: Any) -> UserFunction:
        """Pickle a function, a function object or anything else that the job carries along.

        Raises:
            TypeError: if it holds something that cannot be pickled; says what and where.
        """
        try:
            payload = cloudpickle.dumps(function, protocol=5)
        except Exception as error:  # noqa: BLE001 - so may pickling
            raise TypeError(_complaint(function, error)) from None
        return cls(payload, describe(function))

    def load(self) -> Any:
        """Return a fresh copy."""
        return pickle.loads(self.payload)


def describe(function: object) -> str:
    """Return a short name for a function or a function object."""
    if isinstance(function, PlainFunction):
        return describe(function.plain)
    if isinstance(function, functools.partial):
        return f"partial of {describe(function.func)}"
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _complaint(function: object, error: Exception) -> str:
    if isinstance(function, PlainFunction):
        function = function.plain
    name, value = _unpicklable_part(function)
    where = f"it holds {name} = {type(value).__qualname__} object" if name else ""
    if type(value).__module__.partition(".")[0] == "pyspark":
        return (
            f"{describe(function)} cannot be sent to the workers: {where}, and Spark can only be "
            "used where the job is described, not in its functions. Read what they need before, or "
            "make a stream of a DataFrame with pyflink_on_spark.extensions.from_spark."
        )
    return (
        f"{describe(function)} cannot be sent to the workers: {error}{'; ' if where else ''}{where}"
        ". Create such objects in open(), or inside the function."
    )


def _unpicklable_part(function: object) -> tuple[str | None, object]:
    for name, value in _captured(function).items():
        try:
            cloudpickle.dumps(value)
        except Exception:  # noqa: BLE001 - that is what is asked
            return name, value
    return None, None


def _captured(function: Any) -> dict[str, object]:
    plain = inspect.unwrap(getattr(function, "__func__", function))
    if inspect.isfunction(plain):
        names = inspect.getclosurevars(plain)
        return {**names.nonlocals, **names.globals}
    return dict(getattr(function, "__dict__", {}))


class PlainFunction:
    """A plain callable in the shape of a function class: an object with one method of it.

    Args:
        method: the name of the method, for example ``map``.
        function: what it does.
    """

    def __init__(self, method: str, function: object) -> None:
        self._method = method
        setattr(self, method, function)

    @property
    def plain(self) -> object:
        """The callable itself."""
        return getattr(self, self._method)


def open_function(function: object, runtime_context: object) -> None:
    """Call the user's ``open`` if there is one."""
    if hasattr(function, "open"):
        function.open(runtime_context)


def close_function(function: object) -> None:
    """Call the user's ``close`` if there is one."""
    if hasattr(function, "close"):
        function.close()


def capture_classes() -> dict[str, bytes]:
    """Return the classes that the running script defines at its top level, pickled by value.

    Pickles name a class by its module. Elements of the script's own classes name ``__main__``,
    which is another program in a worker: there, ``install_classes`` puts them beside what is in it.
    """
    found: dict[str, bytes] = {}
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if isinstance(value, type) and value.__module__ == "__main__":
            try:
                found[name] = cloudpickle.dumps(value, protocol=5)
            except Exception:  # noqa: BLE001 - it only counts if an element is of that class
                continue
    return found


def install_classes(captured: dict[str, bytes]) -> None:
    """Make the classes of a script known to this process.

    Args:
        captured: what ``capture_classes`` returned in the process of the script.
    """
    main: object = sys.modules["__main__"]
    for name, pickled in captured.items():
        setattr(main, name, cloudpickle.loads(pickled))


class OperatorStateStore:
    """Gives a function its state that belongs to no key.

    Args:
        state: the operator's.
    """

    def __init__(self, state: OperatorState) -> None:
        self._state = state

    def get_list_state(self, state_descriptor: object) -> OperatorListState:
        """Return a list whose elements are redistributed evenly on rescaling."""
        return self._state.list_state(_name(state_descriptor, "list"))

    def get_union_list_state(self, state_descriptor: object) -> OperatorListState:
        """Return a list of which every subtask gets everything after a restart."""
        return self._state.union_list_state(_name(state_descriptor, "list"))

    def get_broadcast_state(self, state_descriptor: object) -> BroadcastState:
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

    def __init__(self, function: object, context: OperatorContext) -> None:
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
