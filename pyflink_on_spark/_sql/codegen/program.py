"""A function that is made in the driver as source, and compiled in each subtask."""

from __future__ import annotations

import itertools
import linecache
import marshal
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.own_frames import compiled_file
from pyflink_on_spark._options.own import MAX_TEXT_LENGTH, REGEX_TIMEOUT
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_numbers = itertools.count(1)
_COMPILED = 512
"""Of how many programs the code is kept."""


class Binding(ABC):
    """Something that a program uses and that only a subtask can make, a user's function, say."""

    @abstractmethod
    def load(self, context: OperatorContext | None) -> Any:
        """Return the object that the program calls; called once."""

    def close(self, loaded: object) -> None:  # noqa: B027 - most things need no closing
        """Release what ``load`` returned."""


@dataclass(frozen=True)
class Part:
    """The source of a function that a program calls. Picklable.

    Args:
        source: of the function; it knows the bindings of the program.
    """

    source: str


@dataclass(frozen=True)
class Program:
    """The source of a module with one function that matters. Picklable.

    Args:
        source: of the module.
        function: the name of the function.
        bindings: what the module finds under names, besides Python's own: objects, ``Binding`` or
            ``Part``.
        own: whether its lines say nothing to a user, so that tracebacks do not show them.
    """

    source: str
    function: str
    bindings: Mapping[str, object] = field(default_factory=dict)
    own: bool = False

    @property
    def text(self) -> str:
        """The whole source: of the module, and of the functions that it calls."""
        parts = (each.source for each in self.bindings.values() if isinstance(each, Part))
        return "".join((self.source, *parts))

    def load(self, context: OperatorContext | None = None) -> LoadedProgram:
        """Compile the source.

        Args:
            context: the operator's, which bindings may need.
        """
        namespace: dict[str, Any] = {}
        opened: list[tuple[Binding, object]] = []
        for name, thing in self.bindings.items():
            if isinstance(thing, Part):
                continue
            if isinstance(thing, Binding):
                namespace[name] = thing.load(context)
                opened.append((thing, namespace[name]))
            else:
                namespace[name] = thing
        # Each subtask has code of its own: Python adapts code to the module that it runs in.
        code = marshal.loads(_compiled(self.text, self.own))
        exec(code, namespace)  # noqa: S102 - our own source
        return LoadedProgram(namespace[self.function], tuple(opened))


@dataclass(frozen=True)
class LoadedProgram:
    """A program in a subtask.

    Args:
        function: what can be called.
        opened: what was made for it.
    """

    function: Callable[..., Any]
    opened: tuple[tuple[Binding, object], ...] = ()

    def close(self) -> None:
        """Release the objects of the program."""
        for binding, loaded in self.opened:
            binding.close(loaded)


@lru_cache(maxsize=_COMPILED)
def _compiled(source: str, own: bool) -> bytes:
    """Return the code of a module. Subtasks and attempts have the same ones, and so have queries.

    Args:
        source: of the module.
        own: whether tracebacks do not show its lines.
    """
    # A traceback shows the lines of a file that linecache knows.
    number = next(_numbers)
    filename = compiled_file(f"program {number}") if own else f"<query {number}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)
    with warnings.catch_warnings():
        # Constants may be compared with None.
        warnings.simplefilter("ignore", SyntaxWarning)
        return marshal.dumps(compile(source, filename, "exec"))


class EventClock:
    """Knows the watermark, if its operator sets it."""

    watermark: int | None = None
    """In ms."""

    def micros(self) -> int | None:
        """Return the watermark in microseconds; None before the first one.

        Raises:
            RuntimeError: the operator does not set it.
        """
        if self.watermark is None:
            raise RuntimeError("CURRENT_WATERMARK has a value in SELECT and WHERE only")
        return None if self.watermark == MIN_TIMESTAMP else self.watermark * 1000


class EventClockBinding(Binding):
    """Makes the clock of a subtask."""

    def load(self, context: OperatorContext | None) -> object:
        """Return the clock."""
        return EventClock()


@dataclass(frozen=True)
class Limits:
    """The most that one call may take.

    Args:
        length: of a text that it makes, in characters.
        time: of the processor for a regular expression, in ms.
    """

    length: int = MAX_TEXT_LENGTH.default
    time: int = REGEX_TIMEOUT.default

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> Limits:
        """Read the limits of a job."""
        return cls(MAX_TEXT_LENGTH.read(configuration), REGEX_TIMEOUT.read(configuration))

    def check(self, length: int) -> None:
        """Refuse a text before it is made.

        Raises:
            ValueError: it has too many characters.
        """
        if length > self.length:
            raise ValueError(
                f"a function would make a text of {length:,} characters; "
                f"{MAX_TEXT_LENGTH.key} allows {self.length:,}"
            )


class Limited(Binding):
    """A binding that gives a function the limits of its job, as its first argument.

    Args:
        function: one of a module, so that it pickles by reference.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def load(self, context: OperatorContext | None) -> object:
        """Return the function of the other arguments; without a context, with default limits."""
        limits = Limits() if context is None else Limits.of(context.configuration)
        return partial(self._function, limits)
