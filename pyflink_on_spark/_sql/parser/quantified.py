"""Comparisons with all values of a query, or with some."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import Span, not_yet
from pyflink_on_spark._sql.syntax.expressions import (
    AggregateCall,
    Call,
    Case,
    Expression,
    Literal,
    Name,
    Quantifier,
    Subquery,
)
from pyflink_on_spark._sql.syntax.queries import Aliased, DerivedTable, Query, Select
from pyflink_on_spark._sql.types import logical

_VALUE = "$value"


def quantified(
    left: Expression, operator: str, query: Query, *, every: bool, span: Span | None
) -> Expression:
    """Return what a comparison with a query means.

    Args:
        left: what is compared.
        operator: how.
        query: the query.
        every: whether all of its values count, or some.
        span: where the comparison is.
    """
    if operator == "=" and not every:
        return Subquery(query, Quantifier.IN, (left,), span=span)
    if operator == "<>" and every:
        return Subquery(query, Quantifier.NOT_IN, (left,), span=span)
    if operator in {"=", "<>"}:
        word = "ALL" if every else "SOME"
        not_yet(f"{operator} {word} (query)", span, "Compare with MIN and MAX of the query.")
    largest = (operator in {">", ">="}) is every
    extreme = _of(query, Call("MAX" if largest else "MIN", (Name((_VALUE,)),)))
    rows = _of(query, AggregateCall(Call("COUNT", ()), star=True))
    known = _of(query, Call("COUNT", (Name((_VALUE,)),)))
    holds = Call(operator, (left, extreme), span=span)
    decided: Expression = Call("NOT", (holds,)) if every else holds
    boolean = logical.BOOLEAN
    zero = Literal(0, logical.BIGINT.with_nullable(False))
    return Case(
        (
            (Call("=", (rows, zero)), Literal(every, boolean.with_nullable(False))),
            (decided, Literal(not every, boolean.with_nullable(False))),
            (Call("<", (known, rows)), Literal(None, boolean)),
        ),
        holds,
        span=span,
    )


def _of(query: Query, item: Expression) -> Subquery:
    table = Aliased(DerivedTable(query), "$query", (_VALUE,))
    return Subquery(Select((item,), from_=(table,)), Quantifier.SCALAR)
