"""What a function is."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._sql.codegen.call_site import CallSite
    from pyflink_on_spark._sql.plan.expressions import Typed

Parameter = Callable[[LogicalType], "LogicalType | None"]
"""The type that an argument of some type is converted to, its own as a rule; None: it is refused.
The result's ``nullable`` does not matter."""

Result = Callable[[Sequence[LogicalType]], LogicalType]
"""The type of a result for the types of the converted arguments. Where ``Nulls`` says so, NULL is
added or taken away after that."""

Code = Callable[["CallSite"], str]
"""Python source of an expression for a call."""


class Nulls(enum.Enum):
    """What a function does about NULL, and when its result can be NULL."""

    STRICT = "strict"
    """It is not called for NULL: the result is NULL if an argument is."""

    STRICT_NULLABLE = "strict, and NULL for some values"
    """The same; and the result can be NULL also if no argument is."""

    CALLED = "called"
    """It gets NULL as any other value; ``Result`` says whether the result can be NULL."""


@dataclass(frozen=True, eq=False)
class Overload:
    """One form of a function.

    Args:
        parameters: one for each argument.
        result: the type of the result.
        code: what computes it.
        nulls: what it does about NULL.
        optional: how many of the last parameters may be left out.
        variadic: whether the last parameter may come any number of times, but at least once.
        unified: gives the type that all arguments are converted to, before ``parameters`` looks at
            them; or None, if they have nothing in common.
        condition: source of what is true in Python if, and only if, the result is TRUE, where that
            is simpler than the value. It gets NULLs.
        shape: gives the type of the result where that depends on constants or keywords, in place of
            ``result``.
        alternating: whether the arguments of a variadic form take turns with all parameters.
    """

    parameters: tuple[Parameter, ...]
    result: Result
    code: Code
    nulls: Nulls = Nulls.STRICT
    optional: int = 0
    variadic: bool = False
    unified: Callable[[Sequence[LogicalType]], LogicalType | None] | None = None
    condition: Code | None = None
    shape: Callable[[Sequence[Typed], tuple[str, ...]], LogicalType] | None = None
    alternating: bool = False

    def takes(self, count: int) -> bool:
        """Tell whether there can be so many arguments."""
        if self.alternating:
            return count % len(self.parameters) == 0 and count > 0
        if self.variadic:
            return count >= len(self.parameters)
        return len(self.parameters) - self.optional <= count <= len(self.parameters)

    def parameter(self, index: int) -> Parameter:
        """Return the parameter for an argument."""
        if self.alternating:
            return self.parameters[index % len(self.parameters)]
        return self.parameters[min(index, len(self.parameters) - 1)]


@dataclass(frozen=True, eq=False)
class ScalarFunction:
    """A function that gives one value for each row.

    Args:
        name: in capitals, or an operator's symbol.
        overloads: its forms; the first one that takes the arguments is used.
        forms: how error messages show the forms, as ``UPPER(<CHARACTER>)``.
        deterministic: whether it always has the same value for the same arguments.
        aliases: other names.
        foldable: whether the driver may compute it of constants.
    """

    name: str
    overloads: tuple[Overload, ...]
    forms: tuple[str, ...] = ()
    deterministic: bool = True
    aliases: tuple[str, ...] = ()
    foldable: bool = True

    @property
    def is_operator(self) -> bool:
        """Whether it is written between its operands."""
        return not self.name[0].isalpha()


@dataclass
class FunctionRegistry:
    """Functions by name.

    Args:
        functions: by name in capitals.
    """

    functions: dict[str, Any] = field(default_factory=dict)

    def add(self, *functions: Any) -> None:
        """Add functions.

        Raises:
            RuntimeError: there is one of that name.
        """
        for function in functions:
            for name in (function.name, *function.aliases):
                if self.functions.setdefault(name, function) is not function:
                    raise RuntimeError(f"the function {name} is there twice")

    def names(self) -> list[str]:
        """Return the names of all functions that are no operators."""
        return [name for name in self.functions if name[0].isalpha()]

    def find(self, name: str) -> Any:
        """Return the function of a name in any case, or None."""
        return self.functions.get(name.upper())
