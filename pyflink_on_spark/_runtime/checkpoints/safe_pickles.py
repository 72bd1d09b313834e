"""Reads pickles of a checkpoint without running code of the job that wrote them."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Self

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.elements.keys import Key
from pyflink_on_spark._runtime.moved_in.coders import own_module

_PLAIN = {
    "builtins": {"complex", "range"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "uuid": {"SafeUUID", "UUID"},
    "pyflink_on_spark.common.time": {"Duration", "Instant", "Time"},
    "pyflink_on_spark.common.types": {"Row", "RowKind", "_create_row"},
    "pyflink_on_spark.datastream.window.windows": {"CountWindow", "GlobalWindow", "TimeWindow"},
    "pyflink_on_spark._runtime.state.operator_state": {"OperatorSnapshot"},
    "pyflink_on_spark._runtime.state.snapshot": {"KeyGroupState", "StateDelta", "StateMeta"},
}
"""What a pickle may make, by module: nothing of it runs anything else."""

_KEY = ("pyflink_on_spark._runtime.elements.keys", "_restore")
_CONTAINERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("builtins", "bytearray"): bytearray,
    ("builtins", "dict"): dict,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "list"): list,
    ("builtins", "set"): set,
    ("builtins", "tuple"): tuple,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "deque"): deque,
}
_CONTENTS = (bytes, dict, list, set, tuple)
"""The contents of containers in a pickle. A number or a range could fill the memory."""


class Opaque:
    """Stands for an object of a class that is not loaded.

    Attributes:
        of: the name of the class.
        content: what the object was made of.
    """

    of = ""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.content: list[Any] = [*arguments, *([named] if named else [])]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Return one that has no content yet; pickles often make objects without ``__init__``."""
        made = super().__new__(cls)
        made.content = []
        return made

    def __setstate__(self, state: Any) -> None:
        self.content.append(state)

    def append(self, item: Any) -> None:
        """Take an item of a list."""
        self.content.append(item)

    def extend(self, items: Any) -> None:
        """Take items of a list."""
        self.content.extend(items)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.content.append((key, value))

    def __call__(self, *arguments: Any, **named: Any) -> Opaque:
        return type(self)(*arguments, **named)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise CheckpointError(
            f"there is an object of the class {self.of}, which was not loaded: load the classes of "
            "the job to write the object (trusted=True, or --trusted)"
        )

    def __repr__(self) -> str:
        return f"<{self.of}: {', '.join(map(repr, self.content))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.of)


class _SafeUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        module = own_module(module)
        if (module, name) == _KEY:
            return _key
        if (module, name) in _CONTAINERS:
            return partial(_container, _CONTAINERS[module, name])
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        return type("Opaque", (Opaque,), {"of": f"{module}.{name}"})


def _container(kind: Callable[..., Any], *arguments: Any) -> Any:
    if arguments and not isinstance(arguments[0], _CONTENTS):
        raise ValueError(f"a {kind.__name__} of a {type(arguments[0]).__name__}")
    return kind(*arguments)


def _key(value: bytes, identity: Hashable) -> Key:
    return Key(load_safely(value), identity)


def load_safely(content: bytes) -> Any:
    """Return the pickled object; objects of the job's own classes are ``Opaque``.

    Raises:
        CheckpointError: the content is no pickle, or is damaged.
    """
    try:
        return _SafeUnpickler(io.BytesIO(content)).load()
    except CheckpointError:
        raise
    except (Exception, RecursionError) as error:
        raise CheckpointError(f"a pickle in the checkpoint is damaged: {error!r}") from error
