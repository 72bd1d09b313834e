"""Which question marks are parameters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._connectors.jdbc.databases import (
    MYSQL,
    POSTGRESQL,
    SQLITE,
    translate,
)

ALL = pytest.mark.parametrize("lexicon", [POSTGRESQL, MYSQL, SQLITE])


@ALL
def test_question_marks_are_replaced(lexicon):
    sql = "INSERT INTO t (a, b) VALUES (?, -?/2)"
    assert translate(sql, lexicon, "%s") == ("INSERT INTO t (a, b) VALUES (%s, -%s/2)", 2)
    assert translate(sql, lexicon, "?") == (sql, 2)


@ALL
@pytest.mark.parametrize(
    "text",
    [
        "'?'",
        "'it''s ?'",
        '"odd?"',
        '"a""?"',
        "/* ? */",
        "/* ? \n ? */",
        "-- ?\n",
        "'--' -- ?",
        "'/*' -- ?*/",
    ],
)
def test_text_is_left_alone(lexicon, text):
    sql = f"SELECT ? {text}"
    assert translate(sql, lexicon, "%s") == (f"SELECT %s {text}", 1)


@pytest.mark.parametrize(
    ("lexicon", "text"),
    [
        (POSTGRESQL, r"E'\'?'"),
        (POSTGRESQL, "$$ ? $$"),
        (POSTGRESQL, "$a$ ? $$ ? $a$"),
        (POSTGRESQL, "/* ? /* ? */ ? */"),
        (MYSQL, r"'\'?'"),
        (MYSQL, r'"\"?"'),
        (MYSQL, "`odd?`"),
        (MYSQL, "# ?"),
        (SQLITE, "`odd?`"),
        (SQLITE, "[odd?]"),
    ],
)
def test_a_databases_own_text(lexicon, text):
    assert translate(f"SELECT {text}", lexicon, "%s") == (f"SELECT {text}", 0)


@pytest.mark.parametrize(
    ("lexicon", "sql", "expected", "count"),
    [
        (POSTGRESQL, r"SELECT '\', ?", r"SELECT '\', %s", 1),
        (POSTGRESQL, "SELECT a[?], b->?", "SELECT a[%s], b->%s", 2),
        (POSTGRESQL, "SELECT '{}'::jsonb ?? ?", "SELECT '{}'::jsonb ? %s", 1),
        (POSTGRESQL, "SELECT name$a, ? , $1 + ?", "SELECT name$a, %s , $1 + %s", 2),
        (POSTGRESQL, "SELECT 1 # ?", "SELECT 1 # %s", 1),
        (MYSQL, "SELECT 5--?", "SELECT 5--%s", 1),
        (SQLITE, "SELECT '\\', ?", "SELECT '\\', %s", 1),
        (SQLITE, "SELECT 1 -? /?", "SELECT 1 -%s /%s", 2),
    ],
)
def test_what_only_looks_like_text(lexicon, sql, expected, count):
    assert translate(sql, lexicon, "%s") == (expected, count)


def test_percent_signs_stay_what_they_are():
    sql = "UPDATE t SET a = 5 % ? WHERE b LIKE '%x' -- 50%"
    assert translate(sql, MYSQL, "%s")[0] % 7 == sql.replace("?", "7")
    assert translate(sql, SQLITE, "?") == (sql, 1)


@pytest.mark.parametrize("text", ["'?", '"?', "/* ?", "/* /* */ ?", "`?"])
def test_text_without_an_end_is_refused(text):
    lexicon = MYSQL if text == "`?" else POSTGRESQL
    with pytest.raises(ValueError, match="does not end"):
        translate(f"SELECT {text}", lexicon, "%s")


@ALL
@given(st.text(alphabet="?'\"`[]$/*-#eE%\\ a\n"))
def test_nothing_is_lost(lexicon, sql):
    try:
        translated, count = translate(sql, lexicon, "?")
        formatted, same = translate(sql, lexicon, "%s")
    except ValueError:
        return
    assert count == same
    assert formatted % (("?",) * count) == translated
    assert translated.replace("?", "") == sql.replace("?", "")
    if lexicon is not POSTGRESQL:
        assert translated == sql


PIECES = ["?", "a", " ", "'it''s ?'", '"a""?"', "/* ? */", "-- ?\n", "- ?", "/ ?", ", ", "(", ")"]
OF_ONE = {
    "postgres": ["E'\\'?'", "$$ ? $$", "$t$ ? $$ $t$", "a[?]", "'\\'", "/* /* ? */ ? */", "??"],
    "mysql": ["'\\'?'", "`odd?`", "# ?\n", "5--?"],
    "sqlite": ["`odd?`", "[odd?]", "'\\'"],
}


@pytest.mark.parametrize(
    ("dialect", "lexicon"), [("postgres", POSTGRESQL), ("mysql", MYSQL), ("sqlite", SQLITE)]
)
def test_sqlglot_finds_the_same_parameters(dialect, lexicon):
    dialects = pytest.importorskip("sqlglot.dialects.dialect", reason="sqlglot is not installed")
    tokenize = dialects.Dialect.get_or_raise(dialect).tokenize

    @given(st.lists(st.sampled_from(PIECES + OF_ONE[dialect]), max_size=12))
    def compare(pieces):
        sql = " ".join(pieces)
        marks = [token for token in tokenize(sql) if token.text == "?"]
        assert translate(sql, lexicon, "%s")[1] == len(marks)

    compare()
