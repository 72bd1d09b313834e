"""Resolves expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pyflink_on_spark._sql.binder.missing_functions import refuse_missing
from pyflink_on_spark._sql.binder.overlaps import bind_overlaps
from pyflink_on_spark._sql.binder.overloads import calcite_name, convert, invoke
from pyflink_on_spark._sql.binder.scope import Scope, field_of
from pyflink_on_spark._sql.codegen.casts import can_cast
from pyflink_on_spark._sql.errors import invalid, not_yet
from pyflink_on_spark._sql.functions.builtin.conditional import CASE
from pyflink_on_spark._sql.plan.expressions import Constant, Conversion, Typed
from pyflink_on_spark._sql.plan.signatures import AggregateFunction, ScalarFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.decimals import decimal_text
from pyflink_on_spark._sql.types.logical import Root


class Functions(Protocol):
    """The functions of a session."""

    def find(self, name: str) -> Any:
        """Return the function of a name, or None."""
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
        """What has the values of functions with OVER, and of queries, already."""
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
            return field_of(self.bind(node.args[0]), field.value, field.span)
        if node.name == "OVERLAPS":
            return bind_overlaps(node, self.bind, self._functions.find)
        args = [self.bind(arg) for arg in node.args]
        function = self.function(node)
        if function is None:
            refuse_missing(node.name, node.span)
            types = ", ".join(f"<{_family(arg)}>" for arg in args)
            raise invalid(f"No match found for function signature {node.name}({types})", node.span)
        if isinstance(function, AggregateFunction):
            raise _no_place_for_aggregates(node)
        if not isinstance(function, ScalarFunction):
            not_yet(f"the function {node.name}", node.span, "Use another function.")
        return invoke(function, args, node.symbols, node.span)

    def function(self, node: syntax.Call) -> Any:
        """Return the function of a call, or None if there is none."""
        return node.function or self._functions.find(node.name)

    def _cast(self, node: syntax.Cast) -> Typed:
        operand = self.bind(node.operand)
        nullable = operand.type.nullable or node.lenient or operand.type.root is Root.NULL
        target = node.type.with_nullable(nullable)
        if not can_cast(operand.type, target):
            raise invalid(
                f"Cast function cannot convert value of type {calcite_name(operand.type)} to type "
                f"{calcite_name(target)}",
                node.span,
            )
        if isinstance(operand, Constant) and operand.value is None:
            return Constant(target, None)
        return Conversion(target, operand, node.lenient)

    def _case(self, node: syntax.Case) -> Typed:
        conditions = [self._case_condition(node, when) for when, _ in node.branches]
        values = [self.bind(then) for _, then in node.branches]
        otherwise = Constant(logical.NULL, None)
        values.append(otherwise if node.otherwise is None else self.bind(node.otherwise))
        common = common_type([value.type for value in values])
        if common is None:
            raise invalid("Illegal mixing of types in CASE or COALESCE statement", node.span)
        values = [convert(value, common) for value in values]
        pairs = [part for pair in zip(conditions, values) for part in pair]
        return invoke(CASE, [*pairs, values[-1]], span=node.span)

    def _case_condition(self, node: syntax.Case, when: syntax.Expression) -> Typed:
        if node.operand is None:
            return self.condition(when, "WHEN")
        equal = syntax.Call("=", (node.operand, when), span=when.span)
        return self.bind(equal)


def _no_place_for_aggregates(node: syntax.Expression) -> Exception:
    return invalid("Aggregate expression is illegal in this clause", node.span)


def constant(node: syntax.Expression, what: str) -> Any:
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


def bind_all(binder: ExpressionBinder, nodes: Sequence[syntax.Expression]) -> tuple[Typed, ...]:
    """Return expressions with all names resolved."""
    return tuple(binder.bind(node) for node in nodes)


def _family(arg: Typed) -> str:
    root = arg.type.root
    if root in logical.NUMERIC:
        return "NUMERIC"
    return "CHARACTER" if root in logical.CHARACTERS else root.value
