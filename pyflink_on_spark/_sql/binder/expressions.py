"""Scopes of names; expressions: operators, NULL, and the forms of functions with arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pyflink_on_spark._sql.codegen.casts import can_cast
from pyflink_on_spark._sql.errors import (
    Span,
    ValidationError,
    did_you_mean,
    invalid,
    not_yet,
    unresolved_field,
)
from pyflink_on_spark._sql.functions.catalog import builtin_functions, function_of_call
from pyflink_on_spark._sql.plan.expressions import (
    Constant,
    Conversion,
    FieldAccess,
    InputRef,
    Invocation,
    Typed,
    convert,
    with_all_digits,
)
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.signatures import (
    AggregateFunction,
    Nulls,
    Overload,
    Parameter,
    ScalarFunction,
    TableFunction,
)
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type, decimal_text, least_restrictive
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_TYPED_BY_OTHERS = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN", "COALESCE",
    "IFNULL", "NULLIF",
})  # fmt: skip
"""Operators and functions that take the type of NULL from the other operands."""
_OF_ANY_TYPE = frozenset({
    "IS NULL", "IS NOT NULL", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "TYPEOF", "JSON", "$JSON",
    "JSON_ARRAY", "JSON_OBJECT", "JSON_STRING", "JSON_QUOTE", "JSON_UNQUOTE", "BTRIM", "SPLIT",
    "REGEXP_COUNT", "REGEXP_INSTR", "REGEXP_SUBSTR", "REGEXP_EXTRACT_ALL", "STARTSWITH", "ENDSWITH",
    "TRANSLATE3", "UNHEX", "URL_ENCODE", "URL_DECODE", "PRINTF", "INET_ATON", "INET_NTOA",
    "OBJECT_OF", "PERCENTILE", "JSON_ARRAYAGG_NULL_ON_NULL", "JSON_ARRAYAGG_ABSENT_ON_NULL",
    "BITMAP_FROM_BYTES", "BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG",
})  # fmt: skip
_OF_ANY_TYPE_BUT_THE_FIRST = frozenset({
    "ELT", "ARRAY_APPEND", "ARRAY_CONTAINS", "ARRAY_JOIN", "ARRAY_POSITION", "ARRAY_PREPEND",
    "ARRAY_REMOVE", "ARRAY_SLICE", "ARRAY_SORT", "JSON_OBJECTAGG_NULL_ON_NULL",
    "JSON_OBJECTAGG_ABSENT_ON_NULL",
})  # fmt: skip
_OF_ONE_TYPE = frozenset({"GREATEST", "LEAST"})
_ONLY_NULL = "ELSE clause or at least one THEN clause must be non-NULL"
_PATTERNS = frozenset({"LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO"})


def is_null(item: syntax.Expression) -> bool:
    """True for a NULL in a statement; those of the Table API have types."""
    return isinstance(item, syntax.Literal) and item.value is None and item.span is not None


def check_no_null(items: Iterable[syntax.Expression]) -> None:
    """Refuse NULL where nothing says which type it has.

    Args:
        items: expressions of a statement.

    Raises:
        ValidationError: one of them is NULL, and nothing else.
    """
    for item in items:
        value = item.operand if isinstance(item, syntax.Alias) else item
        if is_null(value):
            raise invalid("Illegal use of 'NULL'", value.span)


def check_nulls_of_call(node: syntax.Call, function: Any) -> None:
    """Refuse NULL as an argument of functions that do not say which type it has.

    Args:
        node: the call.
        function: the called function; a user's names the types of its arguments.

    Raises:
        ValidationError: an argument is NULL, and the function refuses that.
    """
    name = node.name.upper()
    if name == "JSON_OBJECT":
        _check_keys(node.args[::2])
    if name in _OF_ANY_TYPE or not any(map(is_null, node.args)):
        return
    if builtin_functions().find(function.name) is not function:
        return
    if name in _TYPED_BY_OTHERS:
        _check_typed_by_others(name, node)
    elif name in {"ARRAY", "MAP"}:
        keys, items = (node.args[::2], node.args[1::2]) if name == "MAP" else (node.args, ())
        if all(map(is_null, keys)) or len(set(map(is_null, items))) > 1:
            raise invalid("Parameters must be of the same type", node.span)
    elif name in _OF_ONE_TYPE:
        raise invalid("Unsupported casting from NULL", node.span)
    elif name in _PATTERNS:
        raise invalid(f"Cannot apply '{name}' to arguments of type '{name}(<NULL>)'", node.span)
    else:
        check_no_null(node.args[:1] if name in _OF_ANY_TYPE_BUT_THE_FIRST else node.args)


def _check_typed_by_others(name: str, node: syntax.Call) -> None:
    if name in {"COALESCE", "IFNULL"} and all(map(is_null, node.args)):
        check_no_null(node.args)
    if name == "NULLIF" and is_null(node.args[0]):
        raise invalid(_ONLY_NULL, node.span)
    if name in {"IN", "NOT IN"} and all(map(is_null, node.args)):
        raise invalid("Values in expression list must have compatible types", node.span)


def _check_keys(keys: Iterable[syntax.Expression]) -> None:
    for key in keys:
        value = key
        while isinstance(value, syntax.Cast):
            value = value.operand
        if is_null(value):
            raise invalid(f"Argument to function '{key.span}' must not be NULL", key.span)


def check_case(node: syntax.Case, values: Sequence[Typed]) -> None:
    """Refuse a CASE of which all values are NULL.

    Raises:
        ValidationError: there is no other value.
    """
    if node.span is not None and all(value.type.root is Root.NULL for value in values):
        raise invalid(_ONLY_NULL, node.span)


_CALCITE_NAMES = {Root.INT: "INTEGER", Root.TIMESTAMP_LTZ: "TIMESTAMP_WITH_LOCAL_TIME_ZONE"}
_PREFIXES = frozenset({"+", "-", "NOT"})
_MEMBERSHIPS = frozenset({"IN", "NOT IN"})
_INFIXES = frozenset({"AND", "OR", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})
_TIMESTAMPS = {Root.TIMESTAMP: "TIMESTAMP", Root.TIMESTAMP_LTZ: "TIMESTAMP_LTZ"}
_INSTEAD_OF_CASTS = {
    (False, Root.TIMESTAMP): "TO_TIMESTAMP(FROM_UNIXTIME(numeric_col)) instead, note the numeric "
    "is in seconds.",
    (False, Root.TIMESTAMP_LTZ): "TO_TIMESTAMP_LTZ(numeric_col, precision) instead.",
    (True, Root.TIMESTAMP): "UNIX_TIMESTAMP(CAST(timestamp_col AS STRING)) instead.",
}


def invoke(
    function: ScalarFunction,
    args: Sequence[Typed],
    symbols: tuple[str, ...] = (),
    span: Span | None = None,
) -> Typed:
    """Return a function of some arguments, converted as the function wants them.

    Args:
        function: the function.
        args: the arguments.
        symbols: keywords among them.
        span: where the call is.

    Raises:
        ValidationError: the function does not take such arguments.
    """
    fitting = [overload for overload in function.overloads if overload.takes(len(args))]
    if not fitting:
        raise invalid(_wrong_number(function, args, span), span)
    for overload in fitting:
        converted = convert_args(overload, args)
        if converted is not None:
            return Invocation(
                _result_type(overload, converted, symbols), function, overload, converted, symbols
            )
    raise invalid(wrong_types(function, args, symbols), span)


def all_of(parts: Iterable[Typed]) -> Typed | None:
    """Return the condition that all of some conditions are TRUE, or None if there are none."""
    together: Typed | None = None
    for part in parts:
        if together is None:
            together = part
        else:
            together = invoke(builtin_functions()["AND"], [together, part])
    return together


def _wrong_number(function: ScalarFunction, args: Sequence[Typed], span: Span | None) -> str:
    if not function.by_signature:
        return wrong_count(function)
    if span is not None:
        return _no_match(function.name, args)
    return f"Invalid function call:\n{function.name}({', '.join(str(arg.type) for arg in args)})"


class Form(Protocol):
    """The common part of the forms of scalar and aggregate functions."""

    def parameter(self, index: int) -> Parameter:
        """Return the parameter for an argument."""
        ...


def convert_args(overload: Form, args: Sequence[Typed]) -> tuple[Typed, ...] | None:
    """Return arguments as a form of a function takes them; None if it does not."""
    unified = getattr(overload, "unified", None)
    if unified is not None and args:
        common = unified([arg.type for arg in args])
        if common is None:
            return None
        each = [common] * len(args) if isinstance(common, LogicalType) else common
        args = [convert(arg, kind) for arg, kind in zip(args, each)]
    converted: list[Typed] = []
    for index, arg in enumerate(args):
        wanted = overload.parameter(index)(arg.type)
        if wanted is None:
            return None
        converted.append(convert(arg, wanted))
    return tuple(converted)


def _result_type(
    overload: Overload, args: Sequence[Typed], symbols: tuple[str, ...]
) -> LogicalType:
    if overload.shape is None:
        result = overload.result([arg.type for arg in args])
    else:
        result = overload.shape(args, symbols)
    if overload.nulls is Nulls.CALLED:
        return result
    nullable = any(arg.type.nullable for arg in args)
    if overload.nulls is Nulls.STRICT_NULLABLE:
        nullable = nullable or result.nullable
    return result.with_nullable(nullable).plain()


def wrong_count(function: Any) -> str:
    """Return the message for a wrong number of arguments."""
    counts = sorted(
        {
            count
            for overload in function.overloads
            for count in range(
                len(overload.parameters) - overload.optional, len(overload.parameters) + 1
            )
        }
    )
    wanted = ", ".join(map(str, counts))
    more = (
        " or more" if any(getattr(form, "variadic", False) for form in function.overloads) else ""
    )
    return (
        f"Invalid number of arguments to function '{function.name}'. "
        f"Was expecting {wanted}{more} arguments"
    )


def wrong_types(function: Any, args: Sequence[Typed], symbols: tuple[str, ...] = ()) -> str:
    """Return the message for arguments of wrong types."""
    types = [f"<{calcite_name(arg.type).upper()}>" for arg in args]
    name = function.name.removeprefix("UNARY ")
    if name in _MEMBERSHIPS:
        return "Values passed to IN operator must have compatible types"
    if name.endswith("BETWEEN"):
        name = f"{name} {'SYMMETRIC' if symbols else 'ASYMMETRIC'}"
        written = f"{types[0]} {name} {types[1]} AND {types[2]}"
    elif name.startswith("IS ") and len(types) == 1:
        written = f"{types[0]} {name}"
    elif name in _PREFIXES and len(types) == 1:
        written = f"{name}{types[0]}"
    elif len(types) == 2 and (function.is_operator or name in _INFIXES):
        written = f"{types[0]} {name} {types[1]}"
    else:
        written = f"{name}({', '.join(types)})"
    shown = "\n".join(function.forms)
    forms = f". Supported form(s): {shown}" if shown else ""
    return f"Cannot apply '{name}' to arguments of type '{written}'{forms}"


def calcite_name(kind: LogicalType) -> str:
    """Return a type's name as error messages have it."""
    inner = [calcite_name(child) for child in kind.children]
    if kind.root in {Root.ARRAY, Root.MULTISET}:
        return f"{inner[0]} {kind.root.value}"
    if kind.root is Root.MAP:
        return f"({inner[0]}, {inner[1]}) MAP"
    if kind.root is Root.ROW:
        fields = ", ".join(f"{child} {name}" for child, name in zip(inner, kind.names))
        return f"RecordType:peek_no_expand({fields})"
    name = _CALCITE_NAMES.get(kind.root)
    if name is None:
        return kind.text(string=f"VARCHAR({logical.MAX_LENGTH})", nullability=False)
    return name if kind.precision is None else f"{name}({kind.precision})"


def bind_overlaps(
    node: syntax.Call, bind: Callable[[syntax.Expression], Typed], find: Callable[[str], Any]
) -> Typed:
    """Return whether two periods overlap. A period is a moment and an end or a length.

    Args:
        node: its arguments are the start and the end of both periods.
        bind: binds an argument.
        find: finds a function.

    Raises:
        ValidationError: the arguments are no periods.
    """
    start, end, begin, stop = map(bind, node.args)
    root = start.type.root
    ends = {root, Root.NULL, *logical.INTERVALS}
    fits = begin.type.root is root and {end.type.root, stop.type.root} <= ends
    if root not in logical.DATETIMES or not fits:
        raise invalid(
            f"Cannot apply 'OVERLAPS' to arguments of type '<{_period(start, end)}> OVERLAPS "
            f"<{_period(begin, stop)}>'. Supported form(s): '<DATETIME> OVERLAPS <DATETIME>'",
            node.span,
        )

    def end_of(moment: Typed, other: Typed) -> Typed:
        if other.type.root not in logical.INTERVALS:
            return other
        return invoke(find("+"), [moment, other], span=node.span)

    args = [start, end_of(start, end), begin, end_of(begin, stop)]
    return invoke(find("TEMPORAL_OVERLAPS"), args, span=node.span)


def _period(start: Typed, end: Typed) -> str:
    one, two = calcite_name(start.type), calcite_name(end.type)
    return f"RECORDTYPE:PEEK_NO_EXPAND({one} EXPR$0, {two} EXPR$1)"


def _with_names_of_table_api(made: Typed) -> Typed:
    """A row whose fields are called f0, f1 and so on, as no row of SQL is."""
    kind = made.type
    names = tuple(f"f{index}" for index in range(len(kind.children)))
    return replace(made, type=replace(kind, names=names))


def _refused_cast(source: LogicalType, target: LogicalType) -> str:
    """The message about a conversion that does not exist, with Flink's way out."""
    for back, time, number in ((False, target, source), (True, source, target)):
        if time.root in _TIMESTAMPS and number.root in logical.NUMERIC:
            name = _TIMESTAMPS[time.root]
            one, two = (name, "NUMERIC") if back else ("NUMERIC", name)
            refused = f"The cast from {one} type to {two} type is not allowed."
            instead = _INSTEAD_OF_CASTS.get((back, time.root))
            return refused if instead is None else f"{refused} It's recommended to use {instead}"
    return (
        f"Cast function cannot convert value of type {calcite_name(source)} to type "
        f"{calcite_name(target)}"
    )


class Functions(Protocol):
    """The functions of a session."""

    def find(self, name: str) -> Any:
        """Return the function of a name, or None."""
        ...

    def find_own(self, name: str) -> object:
        """Return the user's function of a name in a database, or None."""
        ...

    def names(self) -> list[str]:
        """Return the names of all functions."""
        ...


class ExpressionBinder:
    """Resolves the scalar expressions of one scope.

    Args:
        scope: the columns that there are.
        functions: the functions that there are.
    """

    def __init__(self, scope: Scope, functions: Functions) -> None:
        self.scope, self._functions = scope, functions
        self.columns: dict[syntax.Expression, Typed] = {}
        """Expressions with known values: functions with OVER, and queries."""
        self._cases: dict[type, Callable[[Any], Typed]] = {
            syntax.Name: scope.resolve,
            syntax.Literal: _constant,
            syntax.Alias: lambda node: self.bind(node.operand),
            syntax.Call: self._call,
            syntax.Cast: self._cast,
            syntax.Case: self._case,
        }

    def bind(self, node: syntax.Expression) -> Typed:
        """Return an expression with all names resolved.

        Raises:
            ValidationError: something in it is wrong.
        """
        case = self._cases.get(type(node))
        if case is not None:
            return case(node)
        if isinstance(node, syntax.OverCall):
            if node not in self.columns:
                raise invalid("A function with OVER can only be selected", node.span)
            return self.columns[node]
        if isinstance(node, syntax.AggregateCall):
            raise _no_place_for_aggregates(node)
        if isinstance(node, syntax.Subquery):
            if node in self.columns:
                return self.columns[node]
            not_yet("a query inside an expression", node.span, "Write it as a join.")
        raise invalid(f"{type(node).__name__} cannot stand here", node.span)

    def condition(self, node: syntax.Expression, clause: str) -> Typed:
        """Return a condition.

        Args:
            node: what was written.
            clause: where, for the message.

        Raises:
            ValidationError: it is not BOOLEAN.
        """
        bound = self.bind(node)
        if bound.type.root is Root.NULL:
            return Constant(logical.BOOLEAN, None)
        if bound.type.root is not Root.BOOLEAN:
            if node.span is None:
                raise invalid(
                    f"{clause} operator requires a boolean expression as input, but $condition is "
                    f"of type {bound.type}",
                    None,
                )
            raise invalid(f"{clause} clause must be a condition", node.span)
        return bound

    def _call(self, node: syntax.Call) -> Typed:
        if node.name == "DOT":
            field = node.args[1]
            assert isinstance(field, syntax.Literal)
            row = self.bind(node.args[0])
            wanted = field.value if node.span is None else _in_any_case(field.value, row.type)
            return field_of(row, wanted, field.span)
        if node.name == "OVERLAPS":
            return bind_overlaps(node, self.bind, self._functions.find)
        function = self.function(node)
        if function is not None:
            check_nulls_of_call(node, function)
        args = [self.bind(arg) for arg in node.args]
        if node.span is None:
            return self._call_of_table_api(node, function, args)
        return self._invoked(node, function, args)

    def _call_of_table_api(self, node: syntax.Call, function: object, args: list[Typed]) -> Typed:
        if node.name == "+" and _begin_with_text(args):
            return self._joined_texts(node)
        made = self._invoked(node, function, _merged(node, args))
        if node.name == "ROW":
            return _with_names_of_table_api(made)
        if _is_arithmetic_of_table_api(node) and made.type.root is Root.FLOAT:
            return convert(made, common_type([arg.type for arg in args]) or made.type)
        return made

    def _invoked(self, node: syntax.Call, function: object, args: list[Typed]) -> Typed:
        if function is None:
            hint = did_you_mean(node.name, self._functions.names())
            raise invalid(_no_match(node.name, args) + hint, node.span)
        if isinstance(function, AggregateFunction):
            raise _no_place_for_aggregates(node)
        if not isinstance(function, ScalarFunction):
            not_yet(f"the function {node.name}", node.span, "Use another function.")
        if node.span is not None and node.name in _EQUALITIES:
            args = equal_numbers(args)
        if function.exact_decimals:
            args = [with_all_digits(arg) for arg in args]
        return invoke(function, args, node.symbols, node.span)

    def _joined_texts(self, node: syntax.Call) -> Typed:
        """A text that ``+`` of the Table API joins with another value as a text."""
        texts = tuple(syntax.Cast(arg, logical.STRING) for arg in node.args)
        return self._call(syntax.Call("||", texts))

    def function(self, node: syntax.Call) -> Any:
        """Return the function of a call, or None if there is none."""
        return function_of_call(node, self._functions.find)

    def table_function(self, node: syntax.Call) -> object:
        """Return the function of a call for rows, or another one that has its name, or None.

        A user's table function may have the name that a later release gave to a function of
        Flink's, as SPLIT; only the user's can be meant here.
        """
        found = self.function(node)
        if isinstance(found, TableFunction):
            return found
        own = self._functions.find_own(node.name)
        return own if isinstance(own, TableFunction) else found

    def _cast(self, node: syntax.Cast) -> Typed:
        operand = self.bind(node.operand)
        nullable = operand.type.nullable or node.lenient or operand.type.root is Root.NULL
        target = node.type.with_nullable(nullable)
        if not can_cast(operand.type, target):
            raise invalid(_refused_cast(operand.type, target), node.span)
        if isinstance(operand, Constant) and operand.value is None:
            return Constant(target, None)
        return Conversion(target, operand, node.lenient)

    def _case(self, node: syntax.Case) -> Typed:
        conditions = [self._case_condition(node, when) for when, _ in node.branches]
        values = [self.bind(then) for _, then in node.branches]
        otherwise = Constant(logical.NULL, None)
        values.append(otherwise if node.otherwise is None else self.bind(node.otherwise))
        check_case(node, values)
        common = least_restrictive([value.type for value in values])
        if common is None:
            raise invalid("Illegal mixing of types in CASE or COALESCE statement", node.span)
        values = [convert(value, common) for value in values]
        pairs = [part for pair in zip(conditions, values) for part in pair]
        return invoke(builtin_functions()["CASE"], [*pairs, values[-1]], span=node.span)

    def _case_condition(self, node: syntax.Case, when: syntax.Expression) -> Typed:
        if node.operand is None:
            return self.condition(when, "WHEN")
        equal = syntax.Call("=", (node.operand, when), span=when.span)
        return self.bind(equal)


def equal_numbers(args: Sequence[Typed]) -> list[Typed]:
    """Return operands of an equality; as in Flink's SQL, a DOUBLE after a FLOAT becomes a FLOAT."""
    one, two = args
    if one.type.root is Root.FLOAT and two.type.root is Root.DOUBLE:
        two = convert(two, logical.FLOAT.with_nullable(two.type.nullable))
    return [one, two]


def _merged(node: syntax.Call, args: list[Typed]) -> list[Typed]:
    """Return the arguments of a call of the Table API as its resolver leaves them to Calcite."""
    if node.name in _MERGED_FROM:
        first, step = _MERGED_FROM[node.name]
        result = list(args)
        for start in range(first, first + step):
            common = common_type([arg.type for arg in args[start::step]])
            if common is not None:
                result[start::step] = [convert(arg, common) for arg in args[start::step]]
        return result
    if not _is_arithmetic_of_table_api(node):
        return args
    return [
        arg.operand
        if isinstance(arg, Conversion)
        and isinstance(operand, syntax.Call)
        and _is_arithmetic_of_table_api(operand)
        else arg
        for operand, arg in zip(node.args, args)
    ]


def _is_arithmetic_of_table_api(node: syntax.Call) -> bool:
    """True for what is computed as in SQL, though the Table API gives the result a wider type."""
    return node.span is None and node.name in _COMPUTED_AS_IN_SQL


_COMPUTED_AS_IN_SQL = frozenset({
    "+", "-", "*", "/", "UNARY -", "ABS", "ROUND", "TRUNCATE", "FLOOR", "CEIL",
})  # fmt: skip
_EQUALITIES = frozenset({"=", "<>", "NULLIF"})
_MERGED_FROM = {"ARRAY": (0, 1), "MAP": (0, 2), "IF": (1, 1)}
"""The functions whose arguments the Table API merges: from which on, and every how many."""


def _begin_with_text(args: Sequence[Typed]) -> bool:
    return len(args) == 2 and args[0].type.root in logical.CHARACTERS


def _no_place_for_aggregates(node: syntax.Expression) -> Exception:
    return invalid("Aggregate expression is illegal in this clause", node.span)


def constant(node: syntax.Expression, what: str) -> object:
    """Return the value of an expression of constants only.

    Args:
        node: what was written.
        what: what it is, for the message.

    Raises:
        ValidationError: it is no constant.
    """
    if isinstance(node, syntax.Literal):
        return node.value
    raise invalid(f"{what} has to be a constant", node.span)


def _constant(literal: syntax.Literal) -> Constant:
    # The parser lets this number pass, for a sign may make it the lowest BIGINT.
    kind, value = literal.type, literal.value
    if kind.root is Root.DECIMAL and value == 2**63 and literal.span is not None:
        shown = decimal_text(value, kind.scale or 0)
        raise invalid(f"Numeric literal '{shown}' out of range", literal.span)
    return Constant(kind, value)


def _in_any_case(wanted: str, row: LogicalType) -> str:
    """The first field of a name in any case, as SQL takes it after an expression."""
    return next((name for name in row.names if name.lower() == wanted.lower()), wanted)


def _no_match(name: str, args: Sequence[Typed]) -> str:
    types = ", ".join(f"<{_family(arg)}>" for arg in args)
    return f"No match found for function signature {name}({types})"


def _family(arg: Typed) -> str:
    root = arg.type.root
    if root is Root.STRUCTURED:
        return str(arg.type)
    if root in logical.NUMERIC:
        return "NUMERIC"
    return "CHARACTER" if root in logical.CHARACTERS else root.value


@dataclass(frozen=True)
class ScopeTable:
    """A table that columns come from.

    Args:
        name: its name or alias, or None.
        schema: its columns.
        start: the position of its first column in a row.
        path: its whole name, for columns that are called by it.
        hidden: the columns that have to be called by the table's name.
    """

    name: str | None
    schema: Schema
    start: int
    path: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()

    def answers_to(self, qualifier: tuple[str, ...]) -> bool:
        """True if a qualifier names this table."""
        if len(qualifier) == 1:
            return self.name == qualifier[0]
        return bool(self.path) and self.path[-len(qualifier) :] == qualifier

    def fields_called(self, wanted: str) -> list[Typed]:
        """Return the fields of a name in rows that are columns, or fields of such: the highest."""
        columns = enumerate(self.schema.types, self.start)
        level: list[Typed] = [InputRef(kind, index) for index, kind in columns]
        found: list[Typed] = []
        while not found and (level := [each for each in level if each.type.root in logical.ROWS]):
            found = [field_of(row, wanted) for row in level if wanted in row.type.names]
            level = [field_of(row, index) for row in level for index in range(len(row.type.names))]
        return found


@dataclass(frozen=True)
class Scope:
    """The tables whose columns an expression can use.

    Args:
        tables: in the order of their columns in a row.
    """

    tables: tuple[ScopeTable, ...]

    @classmethod
    def of(cls, schema: Schema, name: str | None = None, path: tuple[str, ...] = ()) -> Scope:
        """Return the scope of one table."""
        return cls((ScopeTable(name, schema, 0, path),))

    @property
    def width(self) -> int:
        """The number of columns of a row."""
        return sum(len(table.schema) for table in self.tables)

    def joined(self, other: Scope, span: Span | None = None) -> Scope:
        """Return the scope of rows with the columns of another scope after those of this one.

        Args:
            other: the other scope.
            span: where the other tables are in a SQL text.

        Raises:
            ValidationError: both have a table of the same name.
        """
        names = {table.name for table in self.tables} - {None}
        for table in other.tables:
            if table.name in names:
                raise invalid(f"Duplicate relation name '{table.name}' in FROM clause", span)
        return Scope(self.tables + other.moved(self.width).tables)

    def moved(self, distance: int, hidden: Iterable[str] = ()) -> Scope:
        """Return the same tables further to the right, perhaps with some columns hidden."""
        return Scope(
            tuple(
                replace(
                    table, start=table.start + distance, hidden=table.hidden | frozenset(hidden)
                )
                for table in self.tables
            )
        )

    def retyped(self, types: Sequence[LogicalType]) -> Scope:
        """Return the same names with other types of the columns; more types may follow."""
        tables = []
        for table in self.tables:
            own = tuple(types[table.start : table.start + len(table.schema)])
            tables.append(replace(table, schema=Schema(table.schema.names, own)))
        return Scope(tuple(tables))

    def columns(self, qualifier: tuple[str, ...] = ()) -> Iterable[tuple[str, InputRef]]:
        """Yield the names of all columns, or of those of one table, and the columns."""
        for table in self.tables:
            if not qualifier or table.answers_to(qualifier):
                for index, (name, kind) in enumerate(zip(table.schema.names, table.schema.types)):
                    if not qualifier and name in table.hidden:
                        continue
                    yield name, InputRef(kind, table.start + index)

    def has_table(self, qualifier: tuple[str, ...]) -> bool:
        """True if the scope has a table with this name."""
        return any(table.answers_to(qualifier) for table in self.tables)

    def resolve(self, name: Name) -> Typed:
        """Return the column of a name, or the field of one.

        Raises:
            ValidationError: no column matches, or more than one.
        """
        for length in range(len(name.parts) - 1, 0, -1):
            qualifier = name.parts[:length]
            if self.has_table(qualifier):
                column = self._column(name, length, qualifier)
                return self._fields(column, name, length + 1)
        return self._fields(self._column(name, 0, ()), name, 1)

    def _column(self, name: Name, index: int, qualifier: tuple[str, ...]) -> Typed:
        wanted = name.parts[index]
        found: list[Typed] = [each for known, each in self.columns(qualifier) if known == wanted]
        if name.span is not None:
            found += self._fields_called(wanted, qualifier)
        if len(found) == 1:
            return found[0]
        if found:
            raise invalid(f"Column '{wanted}' is ambiguous", name.span)
        raise self._missing(name, index, qualifier)

    def _fields_called(self, wanted: str, qualifier: tuple[str, ...]) -> Iterable[Typed]:
        """Yield the fields of rows that SQL takes for columns of the tables without such one."""
        for table in self.tables:
            if qualifier and not table.answers_to(qualifier):
                continue
            if wanted not in table.schema.names:
                yield from table.fields_called(wanted)

    def _missing(self, name: Name, index: int, qualifier: tuple[str, ...]) -> ValidationError:
        wanted = name.parts[index]
        if name.span is None:
            return unresolved_field(wanted, [each for each, _ in self.columns()])
        if qualifier:
            table = ".".join(qualifier)
            hint = did_you_mean(wanted, (each for each, _ in self.columns(qualifier)))
            text = f"Column '{wanted}' not found in table '{table}'{hint}"
            return invalid(text, name.spans[index])
        if len(name.parts) > 1:
            table = ".".join(name.parts[:-1])
            place = name.spans[0].to(name.spans[-2])
            names = (each.name for each in self.tables if each.name is not None)
            return invalid(f"Table '{table}' not found{did_you_mean(table, names)}", place)
        hint = did_you_mean(wanted, (each for each, _ in self.columns()))
        return invalid(f"Column '{wanted}' not found in any table{hint}", name.span)

    @staticmethod
    def _fields(column: Typed, name: Name, start: int) -> Typed:
        for index in range(start, len(name.parts)):
            span = name.spans[index] if name.spans else None
            column = field_of(column, name.parts[index], span)
        return column


def field_of(row: Typed, field: str | int, span: Span | None = None) -> Typed:
    """Return a field of a row.

    Args:
        row: the row.
        field: the name of the field, or how many are before it.
        span: the place in the statement.

    Raises:
        ValidationError: the row has no such field.
    """
    kind = row.type
    known = range(len(kind.names)) if isinstance(field, int) else kind.names
    if kind.root not in logical.ROWS or field not in known:
        raise invalid(f"Column '{field}' not found in {kind}", span)
    index = field if isinstance(field, int) else kind.names.index(field)
    child = kind.children[index]
    return FieldAccess(child.with_nullable(child.nullable or kind.nullable), row, index)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that are all different: later ones of the same name get a number."""
    taken: set[str] = set()
    unique: list[str] = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            candidate, number = f"{name}{number}", number + 1
        taken.add(candidate)
        unique.append(candidate)
    return tuple(unique)
