"""Entries and timers by key group, from plain keys and values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from pyflink_on_spark._runtime.elements.clock import SystemClock
from pyflink_on_spark._runtime.elements.keys import wrap_key
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState
from pyflink_on_spark._runtime.types import key_converter

EVENT, PROCESSING = "event", "processing"


def entries_by_key_group(
    descriptor: Any,
    entries: Iterable[tuple[Any, Hashable, Any]],
    max_parallelism: int,
    key_type: Any,
) -> dict[int, KeyGroupState]:
    """Return the entries of a state as a checkpoint has them.

    Args:
        descriptor: of the state.
        entries: key, namespace and value of each. The value of a list state is an iterable, of a
            map state a dict, of an aggregating state the accumulator.
        max_parallelism: the number of key groups.
        key_type: the declared type of the keys, or None.

    Raises:
        ConversionError: a key or a value does not have its declared type.
        TypeError: a value is not what the kind of state takes.
    """
    backend = _backend(max_parallelism, key_type)
    state = backend.described(descriptor)
    as_key = _keys(key_type)
    for key, namespace, value in entries:
        try:
            backend.key = as_key(key)
            state.set_current_namespace(namespace)
            state.put_whole(value)
        except (TypeError, ValueError) as error:
            error.add_note(f"It is the entry of the key {key!r}.")
            raise
    return backend.snapshot()


def timers_by_key_group(
    timers: Iterable[tuple[Any, int]], queue: str, max_parallelism: int, key_type: Any
) -> dict[int, KeyGroupState]:
    """Return timers as a checkpoint has them.

    Args:
        timers: key and time (ms) of each.
        queue: ``EVENT`` or ``PROCESSING``.
        max_parallelism: the number of key groups.
        key_type: the declared type of the keys, or None.
    """
    backend = _backend(max_parallelism, key_type)
    as_key = _keys(key_type)
    for key, time in timers:
        backend.timers.apply((queue, time, as_key(key), None), True)
    return backend.snapshot()


def _backend(max_parallelism: int, key_type: Any) -> KeyedStateBackend:
    return KeyedStateBackend(SystemClock(), max_parallelism, key_type, converted=True)


def _keys(key_type: Any) -> Callable[[Any], Any]:
    convert = key_converter(key_type)
    return wrap_key if convert is None else lambda key: wrap_key(convert(key))
