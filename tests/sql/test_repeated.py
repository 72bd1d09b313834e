"""Repeated parts of a row's expressions are evaluated once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Scope
from pyflink_on_spark._sql.codegen.aggregates import AggregateCompiler, AggregatedRows
from pyflink_on_spark._sql.codegen.rows import compile_calc, compile_value, repeated, structure
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Constant
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.types import logical

COLUMNS = Schema(("a", "b", "s"), (logical.INT, logical.INT, logical.STRING))
EXTRACTED = "REGEXP_EXTRACT(s, 'x(.*)', 1)"
CASES = (
    "CASE WHEN b <> 0 THEN CAST(s AS INT) / b ELSE CHAR_LENGTH(s) END",
    "CASE LOWER(s) WHEN 'x' THEN 1 WHEN 'x1' THEN CHAR_LENGTH(LOWER(s)) ELSE a END",
    f"{EXTRACTED} IS NOT NULL AND CHAR_LENGTH({EXTRACTED}) > 1",
    f"COALESCE({EXTRACTED}, LOWER(s), CAST(a AS STRING))",
    "CHAR_LENGTH(LOWER(s)) + CHAR_LENGTH(LOWER(s)) * a",
    "TRY_CAST(s AS INT) IS NULL OR TRY_CAST(s AS INT) > a",
)


def bound(text):
    return ExpressionBinder(Scope.of(COLUMNS), builtin_functions()).bind(parse_expression(text))


def calc(condition, *texts, changelog=False):
    where = None if condition is None else bound(condition)
    columns = [bound(text) for text in texts]
    return compile_calc(where, columns, len(COLUMNS), "UTC", changelog=changelog)


def test_a_call_of_condition_and_projection_runs_once():
    program = calc(f"{EXTRACTED} IS NOT NULL", EXTRACTED, f"UPPER({EXTRACTED})")
    calls = []

    def counted(text, pattern, group):
        calls.append(text)
        return text.removeprefix("x") if text.startswith("x") else None

    loaded = program.load().function
    loaded.__globals__["regexp_extract"] = counted
    rows = [(1, 1, "xa"), (1, 1, "b"), (1, 1, None), (1, 1, "xa")]
    assert list(loaded(iter(rows))) == [("a", "A"), ("a", "A")]
    assert calls == ["xa", "b", "xa"]


def test_nothing_is_computed_that_is_not_needed():
    program = calc(None, "CASE WHEN b > 0 THEN CAST(s AS INT) ELSE 0 END", "b > 0 AND 1 = 1",
                   "CASE WHEN b > 0 THEN CAST(s AS INT) + 1 ELSE 1 END")  # fmt: skip
    run = program.load().function
    assert list(run(iter([(1, 0, "no number"), (1, 1, "7")]))) == [(0, False, 1), (7, True, 8)]
    with pytest.raises(ValueError, match="no number"):
        list(run(iter([(1, 1, "no number")])))


def test_changes_keep_their_kinds():
    program = calc("CHAR_LENGTH(LOWER(s)) > 1", "LOWER(s)", changelog=True)
    rows = [("+I", (1, 1, "Ab")), ("-D", (1, 1, "C"))]
    assert list(program.load().function(iter(rows))) == [("+I", ("ab",))]


@pytest.mark.parametrize(
    "text", ["RAND()", "UUID()", "CHAR_LENGTH(UUID())", "a", "b", "CAST(NULL AS INT)"]
)
def test_what_is_never_kept(text):
    program = calc(None, text, text, "s")
    assert "..." not in program.source


def test_zeros_of_both_signs_differ():
    plus, minus = Constant(logical.DOUBLE, 0.0), Constant(logical.DOUBLE, -0.0)
    assert structure(plus) != structure(minus)
    assert not repeated([plus, minus])


def test_a_part_of_what_is_repeated_is_not_kept_on_its_own():
    whole = bound("UPPER(LOWER(s))")
    assert repeated([whole, whole]) == {structure(whole)}
    assert repeated([whole, whole, bound("LOWER(s)")]) == {
        structure(whole), structure(bound("LOWER(s)")),
    }  # fmt: skip


NUMBERS = st.one_of(st.none(), st.integers(-3, 3))
ROWS = st.lists(
    st.tuples(NUMBERS, NUMBERS, st.sampled_from([None, "", "x", "X1", "xab", "12", "-3"])),
    max_size=5,
)


@given(rows=ROWS, order=st.integers(0, 999))
def test_results_are_those_of_each_expression_alone(rows, order):
    texts = list(CASES)
    random.Random(order).shuffle(texts)
    alone = [compile_value(bound(text), len(COLUMNS), "UTC").load().function for text in texts]
    together = calc(None, *texts).load().function
    for row in rows:
        try:
            expected = tuple(function(row) for function in alone)
        except ValueError as error:
            with pytest.raises(type(error)):
                list(together(iter([row])))
        else:
            assert list(together(iter([row]))) == [expected]


def changes(*filters):
    """Return the statements of a COUNT(a) for each condition."""
    count = builtin_functions().find("COUNT")
    form = next(form for form in count.overloads if form.takes(1))
    calls = [
        AggregateInvocation(logical.BIGINT, count, form, (bound("a"),), filter=bound(text))
        for text in filters
    ]
    rows = AggregatedRows(len(COLUMNS), "UTC", retracting=False)
    return "\n".join(AggregateCompiler(calls, rows, reserved=0).changes(retract=False))


def test_a_condition_of_several_aggregates_is_evaluated_once():
    statements = changes("b > 1", "b > 2", "b > 1")
    assert statements.count("> 1") == 1
    assert statements.count("> 2") == 1
    filled = {"acc": [0, 0, 0]}
    for row in [(1, 2, ""), (1, 3, ""), (None, 3, ""), (1, None, ""), (1, 0, "")]:
        exec(statements, {**filled, "row": row})
    assert filled["acc"] == [2, 1, 2]


def test_conditions_that_change_are_evaluated_each_time():
    assert changes("RAND() > 0.5", "RAND() > 0.5").count("random") == 2
