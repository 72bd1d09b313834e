"""SQL text becomes syntax; what is no SQL is refused at its place."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.parser.cursor import canonical_text
from pyflink_on_spark._sql.parser.statements import (
    parse_expression,
    parse_path,
    parse_statement,
    parse_type,
)
from pyflink_on_spark._sql.syntax import queries, statements
from pyflink_on_spark._sql.syntax.expressions import Call, Cast, Literal, Name, OverCall, Subquery
from pyflink_on_spark._sql.types import logical


def shape(expression):
    """Return an expression as nested tuples."""
    if isinstance(expression, Name):
        return ".".join(expression.parts)
    if isinstance(expression, Literal):
        return expression.value
    assert isinstance(expression, Call)
    return (expression.name, *map(shape, expression.args))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", ("+", 1, ("*", 2, 3))),
        ("a - b - c", ("-", ("-", "a", "b"), "c")),
        ("a OR b AND NOT c", ("OR", "a", ("AND", "b", ("NOT", "c")))),
        ("NOT a = b", ("NOT", ("=", "a", "b"))),
        ("a = b IS NULL", ("IS NULL", ("=", "a", "b"))),
        ("a + 1 BETWEEN 2 AND 3 AND c", ("AND", ("BETWEEN", ("+", "a", 1), 2, 3), "c")),
        ("a NOT IN (1, 2)", ("NOT IN", "a", 1, 2)),
        ("a || 'x' LIKE 'y%' ESCAPE '!'", ("LIKE", ("||", "a", "x"), "y%", "!")),
        ("- a", ("UNARY -", "a")),
        ("-1", -1),
        ("t.r.f", "t.r.f"),
        ("m['k'][1].x", ("DOT", ("ITEM", ("ITEM", "m", "k"), 1), "x")),
        ("(1, a)", ("ROW", 1, "a")),
        ("EXTRACT(YEAR FROM d)", ("EXTRACT", "d")),
        ("TRIM(BOTH 'x' FROM y)", ("TRIM", "y", "x")),
        ("POSITION('a' IN b)", ("POSITION", "a", "b")),
        ("`a``b`", "a`b"),
        ("a IS NOT DISTINCT FROM b", ("IS NOT DISTINCT FROM", "a", "b")),
    ],
)
def test_operators_bind_as_in_flink(text, expected):
    assert shape(parse_expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1", 1, "INT NOT NULL"),
        ("3000000000", 3_000_000_000, "BIGINT NOT NULL"),
        ("9223372036854775808", 2**63, "DECIMAL(19, 0) NOT NULL"),
        ("-9223372036854775808", -(2**63), "BIGINT NOT NULL"),
        ("1.50", 150, "DECIMAL(3, 2) NOT NULL"),
        (".5", 5, "DECIMAL(1, 1) NOT NULL"),
        ("1e3", 1000.0, "DOUBLE NOT NULL"),
        ("'it''s'", "it's", "CHAR(4) NOT NULL"),
        ("x'0aFF'", b"\n\xff", "BINARY(2) NOT NULL"),
        ("DATE '1970-01-02'", 1, "DATE NOT NULL"),
        ("TIME '00:00:01'", 1_000_000, "TIME(0) NOT NULL"),
        ("TIMESTAMP '1970-01-01 00:00:00.25'", 250_000, "TIMESTAMP(2) NOT NULL"),
        ("INTERVAL '1-2' YEAR TO MONTH", 14, "INTERVAL MONTH NOT NULL"),
        ("INTERVAL '1 02:00' DAY TO MINUTE", 93_600_000_000, "INTERVAL SECOND(3) NOT NULL"),
        ("INTERVAL -'1.5' SECOND", -1_500_000, "INTERVAL SECOND(3) NOT NULL"),
        ("NULL", None, "NULL"),
    ],
)
def test_constants(text, value, kind):
    literal = parse_expression(text)
    assert (literal.value, str(literal.type)) == (value, kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INT NOT NULL", "INT NOT NULL"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("NUMERIC(5, 2)", "DECIMAL(5, 2)"),
        ("CHARACTER VARYING(7)", "VARCHAR(7)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("ROW<a INT, b ARRAY<STRING NOT NULL>>", "ROW<`a` INT, `b` ARRAY<STRING NOT NULL>>"),
        ("ROW(a INT 'comment')", "ROW<`a` INT>"),
        ("MAP<STRING, ROW<x INT>>", "MAP<STRING, ROW<`x` INT>>"),
        ("INT ARRAY", "ARRAY<INT>"),
        ("INTERVAL DAY TO SECOND", "INTERVAL SECOND(3)"),
        ("DOUBLE PRECISION", "DOUBLE"),
    ],
)
def test_types(text, expected):
    assert str(parse_type(text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT value FROM t", 'Encountered "value" at line 1, column 8'),
        ("SELECT", 'Encountered "<EOF>" at line 1, column 6'),
        ("SELECT a,\n  FROM t", 'Encountered "FROM" at line 2, column 3'),
        ("SELECT 'abc", 'Encountered "\'" at line 1, column 8'),
        ("SELECT @ FROM t", 'Lexical error at line 1, column 8.  Encountered: "@"'),
        ("SELECT a == 1", 'Encountered "=" at line 1, column 11'),
        ("SELECT a::INT", 'Encountered ":"'),
        ('SELECT "a"', "Lexical error at line 1, column 8"),
        ("SELECT a FROM t QUALIFY b", 'Encountered "QUALIFY"'),
        ("FROM t SELECT a", 'Encountered "FROM" at line 1, column 1'),
        ("SELECT * FROM t LIMIT 1 LIMIT 2", 'Encountered "LIMIT" at line 1, column 25'),
        ("SELECT 1; SELECT 2", "only single statement supported"),
        ("SELECT a b c FROM t", 'Encountered "c"'),
        ("INSERT t SELECT 1", 'Encountered "t"'),
        ("CREATE TABLE t (a INT,)", 'Encountered ")"'),
    ],
)
def test_what_is_no_sql_is_refused_at_its_place(text, message):
    with pytest.raises(ValidationError) as caught:
        parse_statement(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT CAST(1 AS foo)", "column 18 to line 1, column 20: Unknown identifier 'foo'"),
        ("SELECT DATE '2024-02-30'", "Illegal DATE literal '2024-02-30'"),
        ("SELECT INTERVAL 'x' DAY", "Illegal interval literal format 'x' for INTERVAL DAY"),
        ("CREATE TABLE t (a INT PRIMARY KEY)", "ENFORCED"),
        ("SELECT CAST(1 AS DECIMAL(39, 0))", "1 to 38 digits"),
    ],
)
def test_wrong_parts_of_right_sql(text, message):
    with pytest.raises(ValidationError) as caught:
        parse_statement(text)
    assert message in str(caught.value)


def test_select():
    statement = parse_statement(
        "SELECT DISTINCT a, COUNT(*) FILTER (WHERE b > 1) AS n FROM t AS x WHERE c GROUP BY a "
        "HAVING COUNT(*) > 1 ORDER BY n DESC NULLS LAST LIMIT 5 OFFSET 2;"
    )
    ordered = statement.query
    assert isinstance(ordered, queries.Ordered)
    assert (ordered.limit.value, ordered.offset.value) == (5, 2)
    assert [(item.ascending, item.nulls_first) for item in ordered.order_by] == [(False, False)]
    select = ordered.query
    assert select.distinct
    assert len(select.items) == 2
    assert select.from_[0].name == "x"
    assert len(select.group_by) == 1
    assert select.having is not None


def test_joins_and_table_functions():
    statement = parse_statement(
        "SELECT * FROM o LEFT JOIN LATERAL TABLE(f(o.a)) AS u(x) ON TRUE "
        "JOIN r FOR SYSTEM_TIME AS OF o.rt AS r ON o.id = r.id CROSS JOIN UNNEST(arr) AS v(w), "
        "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    )
    first, second = statement.query.from_
    kinds = []
    while isinstance(first, queries.Join):
        kinds.append(first.kind)
        first = first.left
    assert kinds == [queries.JoinKind.CROSS, queries.JoinKind.INNER, queries.JoinKind.LEFT]
    assert second.call.name == "TUMBLE"
    assert len(second.call.args) == 3


def test_over():
    statement = parse_statement(
        "SELECT SUM(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) "
        "FROM t"
    )
    (item,) = statement.query.items
    assert isinstance(item, OverCall)
    assert item.window.rows
    assert item.window.lower.distance.value == 3


def test_subqueries():
    where = parse_statement(
        "SELECT 1 FROM t WHERE a IN (SELECT b FROM u) AND NOT EXISTS (VALUES 1)"
    )
    condition = where.query.where
    assert isinstance(condition.args[0], Subquery)
    assert isinstance(condition.args[1].args[0], Subquery)


def test_create_table():
    table = parse_statement(
        """
        CREATE TEMPORARY TABLE IF NOT EXISTS c.d.t (
          id INT NOT NULL PRIMARY KEY NOT ENFORCED COMMENT 'key',
          `time` TIMESTAMP(3),
          p AS PROCTIME(),
          k STRING METADATA FROM 'key' VIRTUAL,
          WATERMARK FOR `time` AS `time` - INTERVAL '5' SECOND
        ) COMMENT 'about' PARTITIONED BY (id) WITH ('connector' = 'x', 'a.b' = 'it''s')
        """
    )
    assert isinstance(table, statements.CreateTable)
    assert table.path == ("c", "d", "t")
    assert (table.temporary, table.if_not_exists, table.comment) == (True, True, "about")
    assert [column.name for column in table.columns] == ["id", "time", "p", "k"]
    assert [column.kind.value for column in table.columns] == [
        "physical", "physical", "computed", "metadata",
    ]  # fmt: skip
    assert table.primary_key.columns[0].parts == ("id",)
    assert str(table.watermarks[0].expression.span) == "`time` - INTERVAL '5' SECOND"
    assert dict(table.options) == {"connector": "x", "a.b": "it's"}


def test_comments_and_paths():
    text = "SELECT /* one */ a -- two\n FROM t // three"
    assert parse_statement(text).query.items == (Name(("a",)),)
    assert parse_path("`a b`.c") == ("a b", "c")


def test_cast_keeps_the_type():
    cast = parse_expression("TRY_CAST(a AS ROW<x INT>)")
    assert isinstance(cast, Cast)
    assert cast.lenient
    assert cast.type == logical.row(("x",), (logical.INT,))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("id*2", "`id` * 2"),
        ("ts - interval '5' second", "`ts` - INTERVAL '5' SECOND"),
        ("to_timestamp(`a b`, 'x''y')", "TO_TIMESTAMP(`a b`, 'x''y')"),
        ("CAST(r.f[1] AS STRING)", "CAST(`r`.`f`[1] AS STRING)"),
        ("(a+b) / c", "(`a` + `b`) / `c`"),
        ("PROCTIME()", "PROCTIME()"),
    ],
)
def test_the_text_that_flink_shows(written, shown):
    assert canonical_text(written) == shown
