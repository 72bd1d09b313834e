"""The signatures of functions: kinds of parameters and results, forms, and the code of calls."""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyflink_on_spark._sql.plan.expressions import Constant, Typed
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import INT, INTEGER_BITS, ROWS, LogicalType, Root

Parameter = Callable[[LogicalType], "LogicalType | None"]
"""The type that an argument of some type is converted to, its own as a rule; None: it is refused.
The result's ``nullable`` does not matter."""


Result = Callable[[Sequence[LogicalType]], LogicalType]
"""The type of a result for the types of the converted arguments. Where ``Nulls`` says so, NULL is
added or taken away after that."""


Unified = Callable[[Sequence[LogicalType]], "LogicalType | Sequence[LogicalType] | None"]
"""The type that all arguments are converted to, or a type for each; None: they do not fit."""


Code = Callable[["CallSite"], str]
"""Python source of an expression for a call."""


class Nulls(enum.Enum):
    """The behaviour of a function for NULL."""

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
        unified: the types that arguments have before ``parameters`` looks at them.
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
    unified: Unified | None = None
    condition: Code | None = None
    shape: Callable[[Sequence[Typed], tuple[str, ...]], LogicalType] | None = None
    alternating: bool = False

    def takes(self, count: int) -> bool:
        """True if the function can have this number of arguments."""
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


@dataclass(frozen=True)
class Declaration:
    """The properties that a user's function declares, which DESCRIBE FUNCTION shows.

    Args:
        input_types: of its arguments; None for arguments of any types.
        deterministic: whether it always has the same result for the same arguments.
    """

    input_types: tuple[LogicalType, ...] | None
    deterministic: bool


class Described:
    """The base of functions that DESCRIBE FUNCTION shows."""

    declaration: Declaration | None = None

    def declare(self, declaration: Declaration) -> None:
        """Set the declared properties."""
        object.__setattr__(self, "declaration", declaration)


@dataclass(frozen=True, eq=False)
class ScalarFunction(Described):
    """A function that gives one value for each row.

    Args:
        name: in capitals, or an operator's symbol.
        overloads: its forms; the first one that takes the arguments is used.
        forms: how error messages show the forms, as ``UPPER(<CHARACTER>)``.
        deterministic: whether it always has the same value for the same arguments.
        aliases: other names.
        foldable: whether the driver may compute it of constants.
        by_signature: whether a call with a wrong number of arguments is an unknown function, as the
            message has it.
        exact_decimals: whether a constant that is cast to DECIMAL reaches it with all its digits,
            as Flink's planner hands it to Python.
    """

    name: str
    overloads: tuple[Overload, ...]
    forms: tuple[str, ...] = ()
    deterministic: bool = True
    aliases: tuple[str, ...] = ()
    foldable: bool = True
    by_signature: bool = False
    exact_decimals: bool = False

    @property
    def is_operator(self) -> bool:
        """True for a function that is written between its operands."""
        return not self.name[0].isalpha()


_ATOM = re.compile(r"-?[\w.]+|'[^'\\]*'|\"[^\"\\]*\"")


def is_atom(source: str) -> bool:
    """True for Python source of a name or a constant, which costs nothing to repeat."""
    return _ATOM.fullmatch(source) is not None


class Generator(Protocol):
    """A generator of Python source for expressions."""

    time_zone: str

    def value(self, expression: Typed) -> str:
        """Return the source of an expression's value."""
        ...

    def condition(self, expression: Typed) -> str:
        """Return source that is true in Python if, and only if, an expression is TRUE."""
        ...

    def bind(self, thing: object, hint: str) -> str:
        """Make an object known to the code, and return its name there."""
        ...

    def temporary(self) -> str:
        """Return a name that nothing else has."""
        ...

    def over(self, columns: list[str]) -> Generator:
        """Return a generator of source over other columns, for the same function."""
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
        """Expressions evaluated before the code, each with the value that skips the code."""
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

    def bind(self, thing: object, hint: str) -> str:
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
        """Return a generator of source over other columns, each a name that the code assigns to."""
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
        """Return source that is true in Python if, and only if, an argument is TRUE."""
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


class Binder(Protocol):
    """Makes objects known to code."""

    time_zone: str
    """The session's, by name."""

    def bind(self, thing: object, hint: str) -> str:
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

    def fields_of_flink(
        self, types: Sequence[LogicalType], result: LogicalType, retracting: bool
    ) -> list[LogicalType] | None:
        """Return the types of the fields that Flink's accumulator has; None if nobody knows.

        Args:
            types: of the arguments.
            result: the type of the result.
            retracting: whether rows are retracted.
        """
        return None

    def slots_of_flink(self, fields: Sequence[str]) -> list[str]:
        """Return the sources of the slots, made of the fields of Flink's accumulator."""
        raise NotImplementedError


MakeCode = Callable[[Binder, Sequence[LogicalType], LogicalType, bool], AggregateCode]
"""Makes the code of a call: of the types of its arguments, that of its result, and whether rows
are retracted."""


@dataclass(frozen=True, eq=False)
class AggregateOverload:
    """One form of an aggregate function.

    Args:
        parameters: one for each argument.
        result: the type of the result.
        code: what computes it.
        optional: how many of the last parameters may be left out.
        unified: the types that arguments have before ``parameters`` looks at them.
    """

    parameters: tuple[Parameter, ...]
    result: Result
    code: MakeCode
    optional: int = 0
    unified: Unified | None = None

    def takes(self, count: int) -> bool:
        """True if the function can have this number of arguments."""
        return len(self.parameters) - self.optional <= count <= len(self.parameters)

    def parameter(self, index: int) -> Parameter:
        """Return the parameter for an argument."""
        return self.parameters[index]


@dataclass(frozen=True, eq=False)
class AggregateFunction(Described):
    """A function that gives one value for the rows of a group.

    Args:
        name: in capitals.
        overloads: its forms; the first one that takes the arguments is used.
        forms: how error messages show the forms.
        aliases: other names.
        batch_only: whether there is none in streaming mode.
        of_series: whether it computes with columns of pandas.
    """

    name: str
    overloads: tuple[AggregateOverload, ...]
    forms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    batch_only: bool = False
    of_series: bool = False
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


Named = tuple[tuple[str, ...], tuple[LogicalType, ...]]
"""The names and types of columns."""


Columns = Callable[[Sequence[LogicalType]], "Named | None"]
"""The names and types of the columns for arguments of some types; None: they are refused."""


@dataclass(frozen=True, eq=False)
class TableFunction(Described):
    """A function that gives rows.

    Args:
        name: in capitals.
        columns: what finds the columns.
        code: source of an iterable of tuples.
        deterministic: whether it always has the same rows for the same arguments.
        looks_up: whether it looks up rows of a table.
        key: the positions of the columns by which its rows differ, if it has at most one row for
            the same arguments.
    """

    name: str
    columns: Columns
    code: Code
    deterministic: bool = True
    looks_up: bool = False
    key: frozenset[int] | None = None


def _unnested(types: Sequence[LogicalType]) -> Named | None:
    (kind,) = types
    if kind.root is Root.MAP:
        return ("KEY", "VALUE"), kind.children
    if kind.root not in {Root.ARRAY, Root.MULTISET}:
        return None
    (element,) = kind.children
    if element.root in ROWS:
        return element.names, element.children
    return ("EXPR$0",), (element,)


def _unnest_code(site: CallSite) -> str:
    kind = site.types[0]
    rows = _unnested_rows(site)
    of_rows = kind.root is not Root.MAP and kind.children[0].root in ROWS
    return f"filter(None, {rows})" if of_rows else rows


def _unnested_rows(site: CallSite) -> str:
    # The source of the argument may assign names, which no comprehension may do where it begins.
    kind = site.types[0]
    if kind.root is Root.MAP:
        return f"({site.source(0)} or {{}}).items()"
    elements = f"{site.source(0)} or ()"
    if kind.root is Root.MULTISET:
        elements = f"{site.bind(Counter, 'Counter')}({elements}).elements()"
    return elements if kind.children[0].root in ROWS else f"zip({elements})"


def _numbered(types: Sequence[LogicalType]) -> Named | None:
    unnested = _unnested(types)
    if unnested is None:
        return None
    names, kinds = unnested
    return (*names, "ORDINALITY"), (*kinds, INT.with_nullable(False))


def _numbered_code(site: CallSite) -> str:
    return f"{site.bind(numbered, 'numbered')}({_unnested_rows(site)})"


def numbered(rows: Iterable[Sequence[object] | None]) -> Iterator[tuple[object, ...]]:
    """Yield the rows that are not NULL, with their positions from 1 on in a column more."""
    for position, row in enumerate(rows, 1):
        if row is not None:
            yield (*row, position)


UNNEST = TableFunction("UNNEST", _unnested, _unnest_code)
NUMBERED_UNNEST = TableFunction("UNNEST", _numbered, _numbered_code)


@dataclass(frozen=True, eq=False)
class TableAggregateFunction(Described):
    """A function that gives any number of rows for the rows of a group.

    Args:
        name: for messages.
    """

    name: str

    def binding(self, types: Sequence[LogicalType], zone: str) -> Any:
        """Return the object that calls it with arguments of some types, in a session's zone."""
        raise NotImplementedError


def wrapped(source: str, root: Root) -> str:
    """Return source for a whole number, cut to the bits of a type; the source is used once."""
    half = 1 << (INTEGER_BITS[root] - 1)
    return f"(({source}) + {half} & {2 * half - 1}) - {half}"


def of(*roots: Root) -> Parameter:
    """Take arguments of some kinds as they are, and NULL as the first kind."""

    def check(kind: LogicalType) -> LogicalType | None:
        if kind.root is Root.NULL:
            return default
        return kind.plain() if kind.root in roots else None

    default = _default(roots[0])
    return check


def converted(target: LogicalType, *roots: Root) -> Parameter:
    """Convert arguments of some kinds to one type."""

    def check(kind: LogicalType) -> LogicalType | None:
        return target if kind.root in roots or kind.root in {target.root, Root.NULL} else None

    return check


def any_type(kind: LogicalType) -> LogicalType | None:
    """Take everything."""
    return kind


def _default(root: Root) -> LogicalType:
    if root in logical.CHARACTERS:
        return logical.STRING
    if root in logical.BYTES_LIKE:
        return logical.BYTES
    if root in logical.TIMESTAMPS:
        return LogicalType(root, precision=3)
    return logical.decimal(10) if root is Root.DECIMAL else LogicalType(root)


characters = of(Root.VARCHAR, Root.CHAR)
byte_strings = of(Root.VARBINARY, Root.BINARY)
integers = of(Root.INT, *logical.INTEGERS)
exact = of(Root.INT, *logical.EXACT)
numbers = of(Root.INT, *logical.NUMERIC)
booleans = of(Root.BOOLEAN)
as_text = converted(logical.STRING, *logical.CHARACTERS)
as_int = converted(logical.INT, *logical.INTEGERS)
as_bigint = converted(logical.BIGINT, *logical.INTEGERS)
as_double = converted(logical.DOUBLE, *logical.NUMERIC)


def always(result: LogicalType) -> Result:
    """Give a result of one type."""
    return lambda types: result


def like(index: int = 0) -> Result:
    """Give a result of an argument's type."""
    return lambda types: types[index]


def unified(types: Sequence[LogicalType]) -> LogicalType:
    """Give a result of the type that all arguments have in common."""
    found = common_type(types)
    assert found is not None
    return found


_FULL = 38
_AVERAGE_SCALE = 6


def average_type(types: Sequence[LogicalType]) -> LogicalType:
    """Return the type of an average: that of the values, DECIMAL with more digits."""
    (kind,) = types
    if kind.root is Root.DECIMAL:
        kind = logical.decimal(_FULL, max(_AVERAGE_SCALE, kind.scale or 0))
    return kind.with_nullable(True)
