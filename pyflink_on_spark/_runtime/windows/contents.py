"""The contents of regular windows, and the code that adds elements to them: one for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.immutability import copied, is_immutable

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.function_loop import LoopCode

Entries = dict[Any, Any]
"""The contents of one window, by key."""


class WindowContents(Protocol):
    """The contents of a key's window."""

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what adds an element to the entries of a window."""
        ...

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element."""
        ...

    def result(self, held: Any) -> Any:
        """Return the argument of the window function; None if the window is empty."""
        ...


class Lists:
    """All elements.

    Args:
        kept: whether a window may get further elements after it has fired.
    """

    def __init__(self, kept: bool) -> None:
        self._kept = kept

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what appends an element."""
        held, key = code.new_value(), code.key
        code.add(f"{indent}{held} = {entries}.get({key})")
        code.add(f"{indent}if {held} is None: {entries}[{key}] = [{code.value}]")
        code.add(f"{indent}else: {held}.append({code.value})")

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element."""
        entries.setdefault(key, []).append(value)

    def result(self, held: Any) -> Any:
        """Return the elements, as a list of the function's own."""
        return list(held) if self._kept else held


class Reduced:
    """One value that all elements are reduced to.

    Args:
        reduce: makes one value of two.
        overlapping: whether an element goes to several windows. The first element of a window is
            its value, which ``reduce`` may change: so each window needs one of its own.
    """

    def __init__(self, reduce: Callable[[Any, Any], Any], overlapping: bool) -> None:
        self._reduce = reduce
        self._overlapping = overlapping

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what reduces the value of a window and an element to one value."""
        held, key, value = code.new_value(), code.key, code.value
        first = f"{code.bind('own', own)}({value})" if self._overlapping else value
        code.add(f"{indent}{held} = {entries}.get({key})")
        code.add(f"{indent}if {held} is None: {held} = {first}")
        code.add(f"{indent}else:")
        code.call(held, "reduce", self._reduce, held, value, indent=f"{indent} ")
        code.add(f"{indent}{entries}[{key}] = {held}")

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element."""
        current = entries.get(key)
        entries[key] = own(value) if current is None else self._reduce(current, value)

    def result(self, held: Any) -> Any:
        """Return the value."""
        return held


class Aggregated:
    """An accumulator.

    Args:
        function: the user's AggregateFunction.
    """

    def __init__(self, function: Any) -> None:
        self._create, self._add = function.create_accumulator, function.add
        self._get_result = function.get_result

    def write_lines(self, code: LoopCode, entries: str, indent: str) -> None:
        """Write what adds an element to an accumulator; None empties the accumulator."""
        held, key, value = code.new_value(), code.key, code.value
        create = code.bind("create_accumulator", self._create)
        code.add(f"{indent}if {value} is None: {held} = None")
        code.add(f"{indent}else:")
        code.add(f"{indent} {held} = {entries}.get({key})")
        code.add(f"{indent} if {held} is None: {held} = {create}()")
        code.call(held, "add", self._add, value, held, indent=f"{indent} ")
        code.add(f"{indent}{entries}[{key}] = {held}")

    def add(self, entries: Entries, key: Any, value: Any) -> None:
        """Add one element; None empties the accumulator."""
        accumulator = entries.get(key)
        if value is None:
            entries[key] = None
            return
        entries[key] = self._add(value, self._create() if accumulator is None else accumulator)

    def result(self, held: Any) -> Any:
        """Return the result for the accumulator."""
        return None if held is None else self._get_result(held)


def own(value: Any) -> Any:
    """Return a value that nobody else may change: itself if immutable, else a copy."""
    return value if is_immutable(value) else copied(value)


def contents_of(descriptor: Any, *, kept: bool, overlapping: bool) -> WindowContents:
    """Return the contents of windows whose state has a certain descriptor.

    Args:
        descriptor: of a list, reducing or aggregating state.
        kept: whether a window may get further elements after it has fired.
        overlapping: whether an element goes to several windows.
    """
    kind: str = descriptor._kind
    if kind == "list":
        return Lists(kept)
    if kind == "reducing":
        return Reduced(descriptor.get_reduce_function().reduce, overlapping)
    return Aggregated(descriptor.get_agg_function())
