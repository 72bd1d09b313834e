"""Calls that would take all memory or time fail with an error that names the option."""

from __future__ import annotations

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._sql.codegen.program import Limits
from pyflink_on_spark._sql.functions.builtin import mathematics, regular_expressions, strings
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.testing import local_engine

LENGTH = "pyflink-on-spark.max-text-length"
TIME = "pyflink-on-spark.regex-timeout"
EXPONENTIAL = "'(x|xx)+y'"
LONG = "REPEAT(s, 60)"
MANY = "2000000000"
PIECES = [
    r"a",
    r"b",
    r".",
    r"[ab]",
    r"\d",
    r"(a)",
    r"(a|b)",
    r"x?",
    r"{e}",
    r"{",
    r"a{2}",
    r"b{1,2}",
    r"(?=a)",
    r"(?!b)",
    r"\b",
    r"a*",
    r"b+?",
    r"|",
    r"(?i:B)",
    r"\{",
    r"[{]",
]


@pytest.fixture
def t_env():
    with local_engine():
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.get_config().set(LENGTH, "100").set(TIME, "20 ms")
        yield t_env


def value(t_env, expression):
    query = f"SELECT {expression} FROM (VALUES ('x', 1)) AS t (s, n)"
    with t_env.execute_sql(query).collect() as rows:
        return next(rows)[0]


@pytest.mark.parametrize(
    "expression",
    [
        f"REPEAT(s, {MANY})",
        f"LPAD(s, {MANY}, '-')",
        f"RPAD(s, {MANY}, '-')",
        f"PRINTF('%{MANY}d', n)",
        f"PRINTF('%.{MANY}d', n)",
        f"REPLACE({LONG}, 'x', {LONG})",
        f"REGEXP_REPLACE({LONG}, '[xy]', {LONG})",
        f"CAST(s AS CHAR({MANY}))",
        f"CAST(n AS CHAR({MANY}))",
        f"CAST(s AS BINARY({MANY}))",
    ],
)
def test_a_text_beyond_the_limit_is_not_made(t_env, expression):
    with pytest.raises(Exception, match=rf"characters; {LENGTH} allows 100"):
        value(t_env, expression)


@pytest.mark.parametrize(
    ("expression", "length"),
    [
        ("REPEAT(s, 100)", 100),
        ("LPAD(s, 100, '-')", 100),
        ("PRINTF('2000000000 %100d', n)", 111),
        ("REPLACE(REPEAT(s, 100), 'x', 'y')", 100),
        ("REPLACE(REPEAT('xyyy', 20), 'x', 'zz')", 100),
        ("REGEXP_REPLACE(REPEAT('xyyy', 20), 'x', 'zz')", 100),
    ],
)
def test_a_text_of_the_limit_is_made(t_env, expression, length):
    assert len(value(t_env, expression)) == length


@pytest.mark.parametrize("separator", ["", ", '-'"])
def test_a_list_of_texts_has_a_limit(t_env, separator):
    rows = ", ".join(f"('{'x' * 9}')" for _ in range(11))
    query = f"SELECT LISTAGG(s{separator}) FROM (VALUES {rows}) AS t (s)"
    told = rf"text of 109 characters; {LENGTH} allows 100"
    with pytest.raises(Exception, match=told), t_env.execute_sql(query).collect() as found:
        list(found)


def test_constants_stay_out_of_the_plan_when_they_are_long():
    with local_engine():
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        assert len(t_env.explain_sql("SELECT REPEAT('x', 1000000)")) < 10_000


@pytest.mark.parametrize(
    "expression",
    [
        f"REGEXP({LONG}, {EXPONENTIAL})",
        f"REGEXP_REPLACE({LONG}, {EXPONENTIAL}, '')",
        f"REGEXP_EXTRACT({LONG}, {EXPONENTIAL})",
        f"REGEXP_EXTRACT_ALL({LONG}, {EXPONENTIAL})",
        f"REGEXP_COUNT({LONG}, {EXPONENTIAL})",
        f"REGEXP_INSTR({LONG}, {EXPONENTIAL})",
        f"REGEXP_SUBSTR({LONG}, {EXPONENTIAL})",
        f"STR_TO_MAP({LONG}, {EXPONENTIAL}, '=')",
        f"STR_TO_MAP({LONG}, ',', {EXPONENTIAL})",
        f"{LONG} SIMILAR TO {EXPONENTIAL}",
        f"{LONG} NOT SIMILAR TO {EXPONENTIAL}",
    ],
)
def test_an_exponential_expression_ends_with_an_error(t_env, expression):
    told = (
        rf"took more than 0\.02 s of the processor, .* for a text of 60 characters; {TIME} allows"
    )
    with pytest.raises(Exception, match=told):
        value(t_env, expression)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("(x|xx)+y", "x" * 60), ("x*x*x*x*x*x*x*[yz]", "x" * 5_000), ("(x+x+)+y", "x" * 50)],
)
def test_what_could_take_long_is_timed(pattern, text):
    with pytest.raises(RuntimeError, match="took more than 0"):
        regular_expressions.regexp(Limits(time=1), text, pattern)


@given(
    st.lists(
        st.sampled_from(PIECES),
        min_size=1,
        max_size=5,
    ).map("".join),
    st.text("abB1{e}", max_size=8),
)
def test_expressions_mean_what_they_mean_to_python(pattern, text):
    """``{e}`` is text there, and no approximate match."""
    own = regular_expressions.compiled(pattern)
    try:
        found = re.compile(pattern)
    except re.error:
        return
    assert own is not None
    assert own.compiled.sub("-", text) == found.sub("-", text)
    assert own.compiled.split(text) == found.split(text)


def test_properties_of_letters_are_those_of_java():
    limits = Limits()
    assert regular_expressions.regexp_extract(limits, "1éa", r"\p{L}+") == "éa"
    assert regular_expressions.regexp_extract(limits, "1éa", r"\p{Alpha}+") == "a"


def test_an_expression_that_is_nested_too_deeply():
    with pytest.raises((ValueError, regex.error)):
        regular_expressions.regexp(Limits(), "x", "(" * 50_000 + ")" * 50_000)


@pytest.mark.parametrize("like", ["LIKE", "NOT LIKE", "ILIKE"])
def test_a_list_of_names_takes_no_exponential_time(t_env, like):
    name = "a" * 200
    t_env.execute_sql(f"CREATE TEMPORARY VIEW {name} AS SELECT 1 AS n")
    with t_env.execute_sql(f"SHOW TABLES {like} '{'%a' * 20}%b'").collect() as rows:
        assert [tuple(row) for row in rows] == ([(name,)] if like == "NOT LIKE" else [])


@pytest.mark.parametrize("digits", [-2_000_000_000, 2_000_000_000])
def test_rounding_to_any_digits(digits):
    """Powers of ten with so many digits would take hours."""
    kept = digits > 0
    assert mathematics.round_integer(15, digits) == (15 if kept else 0)
    assert mathematics.cut_integer(15, digits) == (15 if kept else 0)
    assert mathematics.round_double(1.5, digits) == (1.5 if kept else 0)
    assert mathematics.cut_double(1.5, digits) == (1.5 if kept else 0)
    assert mathematics.cut_decimal(15, 1, 1, digits) == (15 if kept else 0)
    assert mathematics.round_decimal(15, 1, 1, digits) == (15 if kept else 0)


def test_a_width_among_the_arguments_is_not_java_s():
    assert strings.printed(Limits(), "%*d", 2_000_000_000, 1) is None
