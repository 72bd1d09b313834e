"""The value of an expression in a script, as far as it is known without running it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unknown:
    """Nothing is known."""


@dataclass(frozen=True)
class Plain:
    """A value of Python's own: a number, text, list, ..."""


HOLE = "\0"
"""Stands in a text for what is not known of it."""


@dataclass(frozen=True)
class Text:
    """A text of the script.

    Args:
        text: with ``HOLE`` for each part that is not known.
    """

    text: str


@dataclass(frozen=True)
class Items:
    """A list or tuple of the script.

    Args:
        parts: what is in it.
    """

    parts: tuple[Value, ...]


@dataclass(frozen=True)
class Pairs:
    """A dict of the script.

    Args:
        pairs: its keys and their values, each key once.
    """

    pairs: tuple[tuple[Value, Value], ...]

    def updated(self, other: Pairs) -> Pairs:
        """The dict with the keys of another."""
        return Pairs(tuple({**dict(self.pairs), **dict(other.pairs)}.items()))


@dataclass(frozen=True)
class ModuleValue:
    """A module of PyFlink's, by its dotted name."""

    name: str


@dataclass(frozen=True)
class ClassValue:
    """A class of PyFlink's, as this package has it."""

    cls: type


@dataclass(frozen=True)
class InstanceValue:
    """An object of a class of PyFlink's."""

    cls: type


@dataclass(frozen=True)
class CallableValue:
    """A function or method of PyFlink's, and the class of the object that it is called on."""

    function: Any
    receiver: type | None = None


@dataclass(frozen=True)
class AbsentValue:
    """Anything that comes from a part of PyFlink that this package does not have.

    Args:
        root: the imported name that it comes from.
        gives: the class of what it returns when it is called, if that is one of this package's.
    """

    root: str
    gives: type | None = None


@dataclass(frozen=True)
class LocalClass:
    """A class of the script."""

    node: ast.ClassDef


@dataclass(frozen=True)
class LocalInstance:
    """An object of a class of the script."""

    node: ast.ClassDef


@dataclass(frozen=True)
class LocalFunction:
    """A function of the script; of a method, what it is called on."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    bound: LocalInstance | None = None


Value = (
    Unknown
    | Plain
    | Text
    | Items
    | Pairs
    | ModuleValue
    | ClassValue
    | InstanceValue
    | CallableValue
    | AbsentValue
    | LocalClass
    | LocalInstance
    | LocalFunction
)
UNKNOWN = Unknown()
PLAIN = Plain()
WRITTEN = (Text, Items, Pairs)
"""The kinds of values that a script writes down."""


def join(one: Value | None, other: Value) -> Value:
    """Return the common value of two branches."""
    if one is None or one == UNKNOWN:
        return other
    if isinstance(one, WRITTEN) and isinstance(other, WRITTEN) and one != other:
        return PLAIN
    return one if other in {one, UNKNOWN} else UNKNOWN
