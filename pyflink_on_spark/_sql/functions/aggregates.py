"""What an aggregate function is: pieces of code over the slots of a group's accumulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyflink_on_spark._sql.plan.signatures import Parameter, Result
from pyflink_on_spark._sql.types.logical import LogicalType


class Binder(Protocol):
    """Makes objects known to code."""

    time_zone: str
    """The session's, by name."""

    def bind(self, thing: Any, hint: str) -> str:
        """Make an object known, and return its name in the code."""
        ...


class AggregateCode:
    """The code of one call. Slots are places of a list, arguments are sources without effects.

    An argument is never NULL in ``accumulate`` and ``retract``, unless ``takes_null`` is set.
    """

    initial: tuple[str, ...] = ("None",)
    takes_null = False
    reversible = True

    def accumulate(self, slots: Sequence[str], args: Sequence[str]) -> list[str]:
        """Return statements that add a row."""
        raise NotImplementedError

    def retract(self, slots: Sequence[str], args: Sequence[str]) -> list[str]:
        """Return statements that take a row back; only called if ``reversible``."""
        raise NotImplementedError

    def merge(self, slots: Sequence[str], others: Sequence[str]) -> list[str]:
        """Return statements that add the rows of another accumulator."""
        raise NotImplementedError

    def value(self, slots: Sequence[str]) -> str:
        """Return the source of the result."""
        raise NotImplementedError


MakeCode = Callable[[Binder, Sequence[LogicalType], LogicalType, bool], AggregateCode]
"""Makes the code of a call: of the types of its arguments, that of its result, and whether rows
are taken back."""


@dataclass(frozen=True, eq=False)
class AggregateOverload:
    """One form of an aggregate function.

    Args:
        parameters: one for each argument.
        result: the type of the result.
        code: what computes it.
        optional: how many of the last parameters may be left out.
    """

    parameters: tuple[Parameter, ...]
    result: Result
    code: MakeCode
    optional: int = 0

    def takes(self, count: int) -> bool:
        """Tell whether there can be so many arguments."""
        return len(self.parameters) - self.optional <= count <= len(self.parameters)

    def parameter(self, index: int) -> Parameter:
        """Return the parameter for an argument."""
        return self.parameters[index]


@dataclass(frozen=True, eq=False)
class AggregateFunction:
    """A function that gives one value for the rows of a group.

    Args:
        name: in capitals.
        overloads: its forms; the first one that takes the arguments is used.
        forms: how error messages show the forms.
        aliases: other names.
        batch_only: whether there is none in streaming mode.
    """

    name: str
    overloads: tuple[AggregateOverload, ...]
    forms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    batch_only: bool = False
    is_operator = False


@dataclass(frozen=True, eq=False)
class RankingFunction(AggregateFunction):
    """A function that only has a meaning for rows in an order, with OVER.

    Args:
        column: computes the values of a whole group in order: of the position of the first row
            that is equal in order to each row, and the arguments of each row.
        streaming: whether ``code`` computes a value from the rows up to one.
    """

    column: Callable[..., list[Any]] = lambda peers, *args: []
    streaming: bool = False
