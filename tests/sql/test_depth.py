"""Statements of any depth and width, and patterns of any form, take little time or say why not."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._sql.errors import SqlParseError, ValidationError, at_any_depth
from pyflink_on_spark._sql.functions.builtin import strings
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.table.expressions import col, lit
from pyflink_on_spark.testing import local_engine

pytestmark = pytest.mark.slow

ROWS = "(VALUES (1, 2, 'x'), (3, 4, 'y')) AS t (a, b, s)"
TERMS = 400
STATEMENTS = {
    "sum": ("SELECT " + " + ".join(["a"] * TERMS), [(TERMS,), (3 * TERMS,)]),
    "difference": ("SELECT " + "(" * TERMS + "a" + " - b)" * TERMS,
                   [(1 - 2 * TERMS,), (3 - 4 * TERMS,)]),
    "texts": ("SELECT " + " || ".join(["s"] * TERMS), [("x" * TERMS,), ("y" * TERMS,)]),
    "parentheses": ("SELECT " + "(" * TERMS + "a" + ")" * TERMS, [(1,), (3,)]),
    "functions": ("SELECT " + "ABS(" * TERMS + "-a" + ")" * TERMS, [(1,), (3,)]),
    "casts": ("SELECT " + "CAST(" * TERMS + "a" + " AS BIGINT)" * TERMS, [(1,), (3,)]),
    "signs": ("SELECT " + "- " * TERMS + "a", [(1,), (3,)]),
    "cases": ("SELECT " + "CASE WHEN a = 1 THEN b ELSE " * TERMS + "0" + " END" * TERMS,
              [(2,), (0,)]),
}  # fmt: skip
CONDITIONS = {
    "or": " OR ".join(f"a = {number} AND b > 0" for number in range(TERMS)),
    "and": " AND ".join(f"a <> {number + 10}" for number in range(TERMS)),
    "not": "NOT " * TERMS + "s IS NULL OR TRUE",
}


@pytest.fixture
def t_env():
    with local_engine():
        yield TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def rows_of(t_env, query):
    with t_env.execute_sql(query).collect() as rows:
        return [tuple(row) for row in rows]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_deep_expression_has_its_value(t_env, name):
    query, expected = STATEMENTS[name]
    assert rows_of(t_env, f"{query} FROM {ROWS}") == expected


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_of_many_terms_keeps_its_rows(t_env, name):
    query = f"SELECT a FROM {ROWS} WHERE {CONDITIONS[name]}"
    assert rows_of(t_env, query) == [(1,), (3,)]


def test_many_branches_of_a_union_give_all_rows(t_env):
    assert rows_of(t_env, " UNION ALL ".join(["SELECT 1"] * TERMS)) == [(1,)] * TERMS


def test_a_thousand_queries_inside_each_other(t_env):
    query = "SELECT a FROM (" * TERMS + f"SELECT a FROM {ROWS}" + ")" * TERMS
    assert rows_of(t_env, query) == [(1,), (3,)]


def test_a_deep_null_stays_null(t_env):
    query = "SELECT " + " + ".join(["a"] * 100) + " FROM (VALUES (1), (CAST(NULL AS INT))) AS t (a)"
    assert rows_of(t_env, query) == [(100,), (None,)]


def test_deep_expressions_of_the_dsl(t_env):
    table = t_env.from_elements([(1,), (3,)], ["a"])
    total, condition = col("a"), col("a") == 0
    for number in range(TERMS):
        total, condition = total + lit(1), condition | (col("a") == number)
    assert str(total).startswith("plus(plus(")
    with table.where(condition).select(total).execute().collect() as rows:
        assert [row[0] for row in rows] == [TERMS + 1, TERMS + 3]


def test_a_statement_that_fits_no_stack_is_refused_in_one_sentence():
    @at_any_depth
    def endless(depth):
        return endless(depth + 1)

    before = sys.getrecursionlimit()
    with pytest.raises(ValidationError, match="nested too deeply"):
        endless(0)
    assert sys.getrecursionlimit() == before


def test_the_error_of_a_deep_statement_names_its_place():
    with pytest.raises(SqlParseError, match="line 1, column 2003"):
        parse_expression("(" * 2000 + "1 ]")


@pytest.mark.parametrize("text", ["9" * 5_000, "-" + "9" * 5_000, "0." + "9" * 5_000])
def test_a_number_of_too_many_digits_is_out_of_range(text):
    with pytest.raises(ValidationError, match="out of range"):
        parse_expression(text)


@pytest.mark.parametrize("text", ["1 /* open", "a + /*", "1 /*+ hint"])
def test_a_comment_without_end_is_an_error_where_it_begins(text):
    with pytest.raises(SqlParseError, match=r'Encountered "/\*" at line 1.*no end'):
        parse_expression(text)


def test_a_bound_of_over_that_is_no_number_is_refused_at_its_place(t_env):
    over = "OVER (ORDER BY PROCTIME() ROWS BETWEEN '' PRECEDING AND CURRENT ROW)"
    with pytest.raises(ValidationError, match=r"line 1, column .*constant number"):
        t_env.execute_sql(f"SELECT SUM(a) {over} FROM {ROWS}")


def test_digits_of_other_scripts_are_no_number(t_env):
    query = "SELECT TRY_CAST(s AS INT) FROM (VALUES ('\uff11\uff12'), ('12')) AS t (s)"
    assert rows_of(t_env, query) == [(None,), (12,)]


def like(text, pattern):
    """Match letter by letter."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in {"_", text[0]} and like(text[1:], pattern[1:])


@given(st.text("ab\n", max_size=8), st.text("ab%_\n", max_size=8))
def test_like_means_what_it_says(text, pattern):
    assert strings.matches_like(text, pattern) == like(text, pattern)


def test_like_takes_no_exponential_time():
    assert not strings.matches_like("a" * 5_000, "%a" * 20 + "%b")
    assert strings.matches_like("a" * 5_000 + "b", "%a" * 20 + "%b")


def test_the_escape_of_like_counts_letters_as_they_are():
    assert strings.matches_like("10%", "10!%", "!")
    assert not strings.matches_like("100", "10!%", "!")
    assert re.escape("%") in strings.like_pattern("!%", "!").pattern
