"""A call, as the code generator of its function sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from pyflink_on_spark._sql.plan.expressions import Constant, Typed
from pyflink_on_spark._sql.types.logical import LogicalType

_ATOM = re.compile(r"-?[\w.]+|'[^'\\]*'|\"[^\"\\]*\"")


def is_atom(source: str) -> bool:
    """Tell whether Python source is a name or a constant, which costs nothing to repeat."""
    return _ATOM.fullmatch(source) is not None


class Generator(Protocol):
    """What makes Python source of expressions."""

    time_zone: str

    def value(self, expression: Typed) -> str:
        """Return the source of an expression's value."""
        ...

    def condition(self, expression: Typed) -> str:
        """Return the source of what is true in Python if, and only if, an expression is TRUE."""
        ...

    def bind(self, thing: Any, hint: str) -> str:
        """Make an object known to the code, and return its name there."""
        ...

    def temporary(self) -> str:
        """Return a name that nothing else has."""
        ...

    def over(self, columns: list[str]) -> Generator:
        """Return what makes source over other columns for the same function."""
        ...


class CallSite:
    """A call that Python source is wanted for.

    No argument of a strict function is NULL when its code runs.

    Args:
        generator: makes the source of the arguments.
        type: the type of the result.
        args: the arguments.
        symbols: keywords among them.
        strict: whether the code must not run if an argument is NULL.
    """

    def __init__(
        self,
        generator: Generator,
        type: LogicalType,  # noqa: A002 - what it is called everywhere else
        args: Sequence[Typed],
        symbols: tuple[str, ...] = (),
        strict: bool = True,
    ) -> None:
        self._generator = generator
        self.type, self.args, self.symbols = type, args, symbols
        self._sources: list[str | None] = [None] * len(args)
        self._strict = strict
        self.checks: list[tuple[str, str]] = []
        """What is evaluated before the code, each with what it must not be for the code to run."""
        if strict:
            for index, arg in enumerate(args):
                if arg.type.nullable:
                    self._check_null(index)

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """The types of the arguments."""
        return tuple(arg.type for arg in self.args)

    @property
    def time_zone(self) -> str:
        """The session's time zone, by name."""
        return self._generator.time_zone

    def bind(self, thing: Any, hint: str) -> str:
        """Make an object known to the code, and return its name there.

        Args:
            thing: can be pickled, or is a ``Binding``, which the worker makes the object of.
            hint: what the name begins with.
        """
        return self._generator.bind(thing, hint)

    def temporary(self) -> str:
        """Return a name that the code may assign to."""
        return self._generator.temporary()

    def over(self, columns: list[str]) -> Generator:
        """Return what makes source over other columns, each a name that the code assigns to."""
        return self._generator.over(columns)

    def source(self, index: int) -> str:
        """Return the source of an argument, to be used once; arguments in their order."""
        source = self._sources[index]
        if source is None:
            source = self._sources[index] = self._generator.value(self.args[index])
        return source

    def sources(self) -> list[str]:
        """Return the sources of all arguments, each to be used once, in their order."""
        return [self.source(index) for index in range(len(self.args))]

    def condition(self, index: int) -> str:
        """Return the source of what is true in Python if, and only if, an argument is TRUE."""
        return self._generator.condition(self.args[index])

    def atom(self, index: int) -> str:
        """Return the source of an argument, to be used any number of times.

        The argument is evaluated before the code, even if the code does not need it.
        """
        source = self.source(index)
        if not is_atom(source):
            name = self.temporary()
            self.checks.append((f"({name} := {source})", "..."))
            self._sources[index] = source = name
        return source

    def atoms(self) -> list[str]:
        """Return the sources of all arguments, each to be used any number of times."""
        return [self.atom(index) for index in range(len(self.args))]

    def for_template(self, template: str) -> list[str]:
        """Return the sources of all arguments as often as a template uses them."""
        return [
            self.atom(index) if template.count(f"{{{index}}}") > 1 else self.source(index)
            for index in range(len(self.args))
        ]

    def constant(self, index: int) -> Any:
        """Return the value of an argument that is a constant.

        Raises:
            LookupError: the argument is not a constant.
        """
        arg = self.args[index]
        if not isinstance(arg, Constant):
            raise LookupError(index)
        return arg.value

    def _check_null(self, index: int) -> None:
        source = self.source(index)
        if is_atom(source):
            self.checks.append((source, "None"))
            return
        name = self.temporary()
        self.checks.append((f"({name} := {source})", "None"))
        self._sources[index] = name
