"""Expressions become Python source."""

from __future__ import annotations

import itertools
import pickle

import pytest

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Scope
from pyflink_on_spark._sql.codegen.rows import (
    ExpressionCompiler,
    compile_calc,
    compile_condition,
    compile_value,
    folded,
)
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark._sql.plan.expressions import Constant
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.types import logical

NULLABLE = Schema(
    ("a", "b", "p", "q"), (logical.INT, logical.INT, logical.BOOLEAN, logical.BOOLEAN)
)
REQUIRED = Schema(NULLABLE.names, tuple(kind.with_nullable(False) for kind in NULLABLE.types))


def bound(text, schema=NULLABLE):
    return ExpressionBinder(Scope.of(schema), builtin_functions()).bind(parse_expression(text))


def source(text, schema=NULLABLE):
    return ExpressionCompiler(list(schema.names)).value(bound(text, schema))


def condition(text, schema=NULLABLE):
    return ExpressionCompiler(list(schema.names)).condition(bound(text, schema))


def test_columns_without_null_need_no_checks():
    assert source("a = b", REQUIRED) == "(a == b)"
    assert source("p AND NOT q", REQUIRED) == "(p and (not q))"
    assert condition("a = b AND a < 3", REQUIRED) == "((a == b) and (a < 3))"


def test_columns_with_null_are_checked_once():
    assert source("a = b") == "(None if a is None or b is None else a == b)"
    assert condition("a = b") == "(a is not None and b is not None and a == b)"


AND = {
    True: {True: True, False: False, None: None},
    False: {True: False, False: False, None: False},
    None: {True: None, False: False, None: None},
}


@pytest.mark.parametrize("values", list(itertools.product((True, False, None), repeat=2)))
def test_three_valued_logic(values):
    p, q = values
    row = (None, None, p, q)
    for text, expected in [
        ("p AND q", AND[p][q]),
        ("p OR q", _not(AND[_not(p)][_not(q)])),
        ("NOT (p AND q)", _not(AND[p][q])),
        ("(p AND q) IS TRUE", AND[p][q] is True),
    ]:
        expression = bound(text)
        assert compile_value(expression, 4, "UTC").load().function(row) is expected
        holds = compile_condition(expression, [4], "UTC").load().function(row)
        assert bool(holds) is (expected is True)


def _not(value):
    return None if value is None else not value


def test_whole_numbers_wrap():
    wrapped = compile_value(bound("a * a + b", REQUIRED), 4, "UTC").load().function
    assert wrapped((2**16, 5, None, None)) == 5
    assert wrapped((2**15, 2**30, None, None)) == -(2**31)


def test_a_branch_that_is_not_taken_is_not_computed():
    value = compile_value(bound("CASE WHEN b = 0 THEN 0 ELSE a / b END"), 4, "UTC")
    assert value.load().function((1, 0, None, None)) == 0
    with pytest.raises(ZeroDivisionError):
        compile_value(bound("a / b"), 4, "UTC").load().function((1, 0, None, None))


def test_calc():
    program = compile_calc(bound("a > 1"), [bound("b + 1"), bound("a")], 4, "UTC", changelog=False)
    run = pickle.loads(pickle.dumps(program)).load().function
    rows = [(1, 1, None, None), (None, 1, None, None), (2, None, None, None), (3, 5, None, None)]
    assert list(run(iter(rows))) == [(None, 2), (6, 3)]


def test_calc_of_a_changelog_keeps_kinds():
    program = compile_calc(bound("a > 1"), [bound("a * 2")], 4, "UTC", changelog=True)
    elements = [(0, (1, 1, None, None)), (3, (4, 1, None, None))]
    assert list(program.load().function(iter(elements))) == [(3, (8,))]


def test_constants_are_folded():
    assert folded(bound("1 + 2 * 3"), "UTC") == Constant(logical.INT.with_nullable(False), 7)
    assert str(folded(bound("a + (1 + 1)"), "UTC")) == "($0 + 2)"
    assert not isinstance(folded(bound("1 / 0"), "UTC"), Constant)


def test_overloads_are_found_by_all_arguments():
    assert str(bound("a + 1.5").type) == "DECIMAL(12, 1)"
    assert str(bound("a * 2e0").type) == "DOUBLE"
    assert str(bound("DATE '2024-01-01' + INTERVAL '1' DAY").type) == "DATE NOT NULL"
    assert str(bound("1.00 / 3").type) == "DECIMAL(14, 13) NOT NULL"
