"""Literals with escapes, periods of time, and the functions of a session."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import (
    col,
    current_database,
    current_watermark,
    lit,
    temporal_overlaps,
)

from compat_tests.tables import check_values, csv_table, query, rows, value


@pytest.fixture
def b():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_characters_by_their_numbers(b):
    expected = [
        (r"U&'\0041b'", "Ab"),
        (r"u&'\00e9'", "é"),
        (r"U&'\D83D\DE00'", "\U0001f600"),
        (r"U&'!0041\b' UESCAPE '!'", r"A\b"),
        (r"U&'\\x'", r"\x"),
        (r"U&'!!!0041' UESCAPE '!'", "!A"),
        ("U&'a''b'", "a'b"),
        ("U&''", ""),
        (r"CONCAT(U&'\0041', 'z')", "Az"),
        ("'é'", "é"),
    ]  # fmt: skip
    check_values(b, dict(expected))


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        (r"U&'\00'", "starting at character 0 is not exactly four hex digits"),
        (r"U&'ab\00zz'", "starting at character 2 is not exactly four hex digits"),
        ("U&'!0041' UESCAPE '!!'", "UESCAPE '!!' must be exactly one character"),
        ("U&'!0041' UESCAPE 'a'", "UESCAPE 'a' may not be hex digit, whitespace"),
        ("U&'!0041' UESCAPE ' '", "UESCAPE ' ' may not be hex digit, whitespace"),
        ("'abc' UESCAPE '!'", "UESCAPE cannot be specified without Unicode literal introducer"),
    ],
)
def test_wrong_literals(b, literal, message):
    with pytest.raises(Exception, match=message):
        value(b, literal)


JANUARY = "DATE '2020-01-01', DATE '2020-01-05'"

MONTH = "TIMESTAMP '2020-01-01 00:00:00', INTERVAL '1' MONTH"


def test_overlaps(b):
    expected = [
        ("(TIME '2:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '3:30:00', INTERVAL '2' HOUR)", True),
        ("(TIME '9:00:00', TIME '10:00:00') OVERLAPS (TIME '10:15:00', INTERVAL '3' HOUR)", False),
        ("(TIME '9:00:00', TIME '10:00:00') OVERLAPS (TIME '10:00:00', INTERVAL '3' HOUR)", True),
        (f"({JANUARY}) OVERLAPS (DATE '2020-01-05', DATE '2020-01-07')", True),
        (f"({JANUARY}) OVERLAPS (DATE '2020-01-06', DATE '2020-01-07')", False),
        (f"({JANUARY}) OVERLAPS (DATE '2020-01-09', DATE '2020-01-04')", True),
        (f"({MONTH}) OVERLAPS (TIMESTAMP '2020-01-31 12:00:00', INTERVAL '1' DAY)", True),
        ("(DATE '2020-01-01', CAST(NULL AS DATE)) OVERLAPS (DATE '2020-01-31', INTERVAL '1' DAY)",
         False),
        ("(DATE '2020-01-31', CAST(NULL AS DATE)) OVERLAPS (DATE '2020-01-01', INTERVAL '1' DAY)",
         None),
        (f"ROW({JANUARY}) OVERLAPS ROW(DATE '2020-01-06', DATE '2020-01-07')", False),
        (f"NOT ({JANUARY}) OVERLAPS (DATE '2020-01-06', DATE '2020-01-07')", True),
        (f"PERIOD ({JANUARY}) OVERLAPS PERIOD (DATE '2020-01-06', DATE '2020-01-07')", False),
    ]  # fmt: skip
    check_values(b, dict(expected))


def test_periods_of_columns(b):
    periods = (
        f"(VALUES ({JANUARY}, DATE '2020-01-02', DATE '2020-01-03'), "
        f"({JANUARY}, DATE '2020-02-02', CAST(NULL AS DATE))) AS t(a, b, c, d)"
    )
    assert query(b, f"SELECT (a, b) OVERLAPS (c, d) FROM {periods}") == [(True,), (None,)]
    text = f"SELECT c FROM {periods} WHERE (a, b) OVERLAPS (c, d) AND a > DATE '2019-01-01'"
    assert query(b, text) == [(datetime.date(2020, 1, 2),)]
    days = [datetime.date(2020, 1, day) for day in (1, 5, 2, 3)]
    table = b.from_elements([tuple(days)], ["a", "b", "c", "d"])
    found = table.select(
        temporal_overlaps(col("a"), col("b"), col("c"), col("d")),
        temporal_overlaps(col("a"), lit(1).day, col("d"), lit(1).day),
    )
    assert rows(found) == [(True, False)]


@pytest.mark.parametrize(
    "periods",
    [
        f"({JANUARY}) OVERLAPS (TIMESTAMP '2020-01-05 00:00:00', TIMESTAMP '2020-01-07 00:00:00')",
        f"({JANUARY}) OVERLAPS (DATE '2020-01-05')",
        "(1, 2) OVERLAPS (2, 3)",
    ],
)
def test_no_periods(b, periods):
    with pytest.raises(Exception, match="Cannot apply 'OVERLAPS'"):
        value(b, periods)


def test_the_current_database(b):
    assert value(b, "CURRENT_DATABASE() || current_database()") == "default_database" * 2
    b.execute_sql("CREATE TEMPORARY VIEW v AS SELECT CURRENT_DATABASE() AS d")
    with b.execute_sql("DESCRIBE v").collect() as columns:
        assert [tuple(column)[:3] for column in columns] == [("d", "STRING", False)]
    b.execute_sql("CREATE DATABASE other")
    b.use_database("other")
    assert value(b, "CURRENT_DATABASE()") == "other"
    assert rows(b.from_elements([(1,)], ["a"]).select(current_database())) == [("other",)]
    with pytest.raises(Exception, match="Was expecting 0 arguments"):
        value(b, "CURRENT_DATABASE(1)")
    with pytest.raises(Exception, match="Column 'CURRENT_DATABASE' not found"):
        value(b, "CURRENT_DATABASE")


def at(hour, second=0):
    return datetime.datetime(2024, 1, 1, hour, 0, second)  # noqa: DTZ001


@pytest.mark.whole("cuts bring watermarks at other places")
def test_the_current_watermark(t_env, tmp_path):
    lines = "".join(f"{hour},2024-01-01 {hour:02d}:00:00\n" for hour in (1, 2, 5, 4, 7))
    columns = "i INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND"
    csv_table(t_env, tmp_path, "w", columns, lines)
    expected = [
        (hour, seen and seen.replace(minute=59, second=50))
        for hour, seen in ((1, None), (2, at(0)), (5, at(1)), (4, at(4)), (7, at(4)))
    ]
    assert query(t_env, "SELECT i, CURRENT_WATERMARK(ts) FROM w") == expected
    table = t_env.from_path("w").select(col("i"), current_watermark(col("ts")))
    assert rows(table) == expected
    text = "SELECT i FROM w WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)"
    assert query(t_env, text) == [(1,), (2,), (5,), (7,)]
    for argument in ("i", "CAST(ts AS TIMESTAMP(3))"):
        with pytest.raises(Exception, match="CURRENT_WATERMARK"):
            query(t_env, f"SELECT CURRENT_WATERMARK({argument}) FROM w")


@pytest.mark.parametrize(
    ("literal", "shown"),
    [
        ("99999999999999999999", "99999999999999999999"),
        ("9223372036854775808", "9223372036854775808"),
        ("99999999999999999999.5", "99999999999999999999.5"),
        ("1e999", "1E999"),
        ("1.8e308", "1.8E308"),
    ],
)
def test_a_number_out_of_range(b, literal, shown):
    end = 7 + len(literal)
    with pytest.raises(
        Exception, match=f"column 8 to line 1, column {end}: Numeric literal '{shown}' out"
    ):
        b.sql_query(f"SELECT {literal}")


def test_a_column_may_be_called_user(b):
    assert query(b, "SELECT user, t.x FROM (VALUES (1, 2)) AS t(`user`, x)") == [(1, 2)]


def test_numbers_at_the_ends_of_their_range(b):
    lowest = -(2**63)
    check_values(b, {str(lowest): lowest, f"-({-lowest})": lowest, "1e-999": 0.0, "1e308": 1e308})


def columns_of(b, texts, expression):
    values = ", ".join(f"({i}, '{text}')" for i, text in enumerate(texts))
    found = dict(
        query(b, f"SELECT i, CAST({expression} AS STRING) FROM (VALUES {values}) AS v(i, s)")
    )
    return {text: found[i] for i, text in enumerate(texts)}


TIMESTAMPS = {
    "2026-01-01 10:00:00": "2026-01-01 10:00:00.000",
    "2026-01-01 10:00:00.": "2026-01-01 10:00:00.000",
    "2026-01-01 10:00:00.123456": "2026-01-01 10:00:00.123",
    "2026-1-1 1:2:3": "2026-01-01 01:02:03.000",
    "2026-1-1": "2026-01-01 00:00:00.000",
    "2026-12-31 24:00:00": "2027-01-01 00:00:00.000",
    "2026-02-31 10:00:00": "2026-02-28 10:00:00.000",
    "2026-04-31": "2026-04-30 00:00:00.000",
    **dict.fromkeys((
        "2026-01-01 24:00:01", "2026-01-01 24:00:00.5", "2026-04-32", "2026-13-01", "2026-01",
        "2026-01-01 10:00", "2026-01-01T10:00:00", " 2026-01-01 10:00:00", "2026-01-01 10:00:00 ",
        "26-01-01 10:00:00", "0000-01-01 00:00:00", "2026-01-01 10:00:00Z", "2026-01-01 10:60:00",
        "2026-01-01  10:00:00", "2026-01-01 10:00:00.1234567890", "2026-01-01 10:00:00.123+05", "",
    )),
}  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    ["TRY_CAST(s AS TIMESTAMP(3))", "TRY_CAST(s AS TIMESTAMP_LTZ(3))", "TO_TIMESTAMP(s)"],
)
def test_timestamps_of_texts(b, expression):
    b.get_config().set("table.local-time-zone", "UTC")
    assert columns_of(b, TIMESTAMPS, expression) == TIMESTAMPS


def test_formatted_texts(b):
    texts = {
        " 2026-01-01 10:00:00 ": "2026-01-01 10:00:00",
        "26-1-1 1:2:3": "0026-01-01 01:02:03",
        "2026-01-01 24:00:00": "2026-01-02 00:00:00",
        "2026-02-30 10:00:00.5Z": "2026-03-02 10:00:00",
        **dict.fromkeys(("2026-01-01", "2026-01-01 10:00", "2026-01-01T10:00:00")),
    }
    assert columns_of(b, texts, "DATE_FORMAT(s, 'yyyy-MM-dd HH:mm:ss')") == texts


def test_dates_of_texts(b):
    dates = {
        "2026-01-01 any": "2026-01-01",
        " 2026-01-01": "2026-01-01",
        "2026-1-1 24:00:00": "2026-01-01",
        "2026-01": "2026-01-01",
        "26-01-01": "0026-01-01",
        **dict.fromkeys((" 2026-01-01 10:00:00", "2026-02-30", "2026-01-01T10:00:00")),
    }
    assert columns_of(b, dates, "TRY_CAST(s AS DATE)") == dates


SHORT = {
    "99.99": "99.99", "99.999": "100.00", "-99.995": "-100.00", " 1 ": "1.00", "1e1": "10.00",
    "x": "0.00", "7x": "7.00", "5ex": "5.00", ".5": "0.50", "0.005": "0.01",
    **dict.fromkeys(("123456", "00001", "1e5", "", "+", "7xy", "1.2.3", "1e-", "1e-40")),
}  # fmt: skip
LONG = {"99.999": "100.00", "00001": "1.00", **dict.fromkeys(("x", "7x", "1e20", "1e99999999999"))}


@pytest.mark.parametrize(("kind", "expected"), [("DECIMAL(4, 2)", SHORT), ("DECIMAL(20, 2)", LONG)])
def test_decimals_of_texts(b, kind, expected):
    assert columns_of(b, expected, f"TRY_CAST(s AS {kind})") == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [("123456", "DECIMAL(4, 2)"), ("x", "DECIMAL(20, 2)"), ("2026-01-01 10:00", "TIMESTAMP(3)")],
)
def test_a_text_that_cannot_be_cast(b, text, kind):
    with pytest.raises(Exception, match=text):
        columns_of(b, [text], f"CAST(s AS {kind})")


TIMES = (
    "(VALUES (TIMESTAMP '2024-01-01 10:00:00', TIMESTAMP '2024-03-02 12:34:56', DATE '2024-01-01', "
    "DATE '2024-02-05')) AS t(t1, t2, d1, d2)"
)


def test_differences_of_times(b):
    expected = {
        "CAST((t2 - t1) DAY AS STRING)": "+61 02:34:56.000",
        "CAST((t2 - t1) HOUR AS STRING)": "+61 02:34:56.000",
        "CAST((t2 - t1) DAY TO SECOND AS STRING)": "+61 02:34:56.000",
        "CAST((t2 - t1) MONTH AS STRING)": "+0-02",
        "t1 + (t2 - t1) SECOND": datetime.datetime(2024, 3, 2, 12, 34, 56),  # noqa: DTZ001
        "t1 + (t2 - t1) MONTH": datetime.datetime(2024, 3, 1, 10, 0),  # noqa: DTZ001
        "t1 + (d2 - d1) DAY": datetime.datetime(2024, 2, 5, 10, 0),  # noqa: DTZ001
        "(t2 - t1) DAY > INTERVAL '1' DAY": True,
    }
    check_values(b, expected, TIMES)


def test_parts_of_intervals(b):
    expected = {
        "EXTRACT(DAY FROM (t2 - t1) DAY)": 61,
        "EXTRACT(HOUR FROM (t2 - t1) HOUR)": 2,
        "EXTRACT(MONTH FROM (t2 - t1) MONTH)": 2,
    }
    check_values(b, expected, TIMES)


def test_a_difference_needs_a_unit_and_one_type(b):
    with pytest.raises(Exception, match=r"Cannot apply '-' to arguments of type '<TIMESTAMP\(0\)>"):
        b.sql_query(f"SELECT t2 - t1 FROM {TIMES}")
    with pytest.raises(Exception, match="SQL validation failed"):
        b.sql_query(f"SELECT (d2 - t1) HOUR FROM {TIMES}")


NULLS = "Illegal use of 'NULL'"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT NULL",
        "SELECT 1, NULL AS n",
        "SELECT DISTINCT (NULL)",
        "VALUES (1, NULL)",
        "VALUES (1), (NULL)",
        "SELECT a FROM (VALUES (NULL, 1), (2, 3)) AS v(a, b)",
        "SELECT 1 UNION ALL SELECT NULL",
        "WITH c AS (SELECT NULL AS n) SELECT 1 FROM c",
        "SELECT x + NULL FROM (VALUES (1)) AS v(x)",
        "SELECT NULL * x FROM (VALUES (1)) AS v(x)",
        "SELECT s || NULL FROM (VALUES ('a')) AS v(s)",
        "SELECT ROW(1, NULL)",
        "SELECT (1, NULL)",
        "SELECT x FROM (VALUES (1)) AS v(x) WHERE EXISTS (SELECT NULL FROM (VALUES (1)) AS w(y))",
        "SELECT (SELECT NULL)",
        "SELECT x, NULL FROM (VALUES (1)) AS v(x) GROUP BY x",
    ],
)
def test_null_of_no_type(b, text):
    with pytest.raises(Exception, match=NULLS):
        b.sql_query(text)


@pytest.mark.parametrize("text", ["INSERT INTO o VALUES (1, NULL)", "INSERT INTO o SELECT 1, NULL"])
def test_null_of_no_type_is_not_inserted(b, text):
    b.execute_sql("CREATE TABLE o (a INT, b INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(Exception, match=NULLS):
        b.explain_sql(text)


@pytest.mark.parametrize(
    "item",
    [
        "CAST(NULL AS INT)", "TRY_CAST(NULL AS INT)", "x = NULL", "NULL > x", "x IN (NULL)",
        "x IN (1, NULL)", "x BETWEEN NULL AND 1", "NULL IS NULL", "COALESCE(x, NULL)",
        "IFNULL(NULL, 1)", "NULLIF(x, NULL)", "MAP['a', NULL]", "ARRAY[1, NULL]",
        "CASE WHEN x > 1 THEN NULL ELSE 1 END", "CASE x WHEN NULL THEN 1 END", "TYPEOF(NULL)",
        "x IS NOT DISTINCT FROM NULL",
    ],
)  # fmt: skip
def test_null_whose_type_something_says(b, item):
    b.explain_sql(f"SELECT {item} FROM (VALUES (1)) AS v(x) WHERE NULL")


NO_PLACES_FOR_NULL = """
UPPER(NULL); TRIM(NULL); TRIM(BOTH NULL FROM 'a'); CHAR_LENGTH(NULL); SUBSTRING('abc', NULL)
CONCAT('a', NULL); CONCAT_WS(',', s, NULL); REPLACE('abc', NULL, 'x'); LPAD('a', NULL, 'b')
LOCATE('a', NULL); REGEXP('a', NULL); REGEXP_REPLACE('a', 'b', NULL); SPLIT_INDEX('a', NULL, 0)
PARSE_URL('a', NULL); POSITION(NULL IN 'a'); ABS(NULL); ROUND(1.5, NULL); MOD(NULL, 1)
POWER(2, NULL); FLOOR(NULL); LN(NULL); -NULL; +NULL; BIN(NULL); NOT NULL; NULL AND TRUE
TRUE OR NULL; NULL IS TRUE; NULL IS NOT FALSE; NULL IS UNKNOWN; NULL IS JSON; COALESCE(NULL, NULL)
IFNULL(NULL, NULL); IF(NULL, 1, 2); IF(TRUE, NULL, 2); IF(TRUE, 1, NULL); ELT(NULL, 'a')
CARDINALITY(NULL); ARRAY_CONTAINS(NULL, 1); ARRAY_SORT(NULL); ARRAY_JOIN(NULL, ',')
MAP_KEYS(NULL); DATE_FORMAT(NULL, 'yyyy'); TO_DATE(NULL); TO_TIMESTAMP('a', NULL); YEAR(NULL)
EXTRACT(YEAR FROM NULL); FLOOR(NULL TO DAY); TIMESTAMPADD(DAY, NULL, DATE '2024-01-01')
TIMESTAMPDIFF(DAY, NULL, DATE '2024-01-01'); JSON_VALUE(NULL, '$.a'); JSON_EXISTS('{}', NULL)
JSON_OBJECTAGG(KEY NULL VALUE 1); MD5(NULL); SHA2('a', NULL); COUNT(NULL); COUNT(DISTINCT NULL)
SUM(NULL); MAX(NULL); LISTAGG(s, NULL); COLLECT(NULL); ARRAY_AGG(NULL); SUM(x) FILTER (WHERE NULL)
SUM(NULL) OVER (ORDER BY x); LAG(x, 1, NULL) OVER (ORDER BY x)
SUM(x) OVER (PARTITION BY NULL ORDER BY x); ROW_NUMBER() OVER (ORDER BY NULL)
"""
OF_OTHER_MESSAGES = {
    "NULL LIKE 'a'": "Cannot apply 'LIKE'",
    "s NOT LIKE NULL": "Cannot apply 'NOT LIKE'",
    "s SIMILAR TO NULL": "Cannot apply 'SIMILAR TO'",
    "ARRAY[NULL]": "Parameters must be of the same type",
    "MAP[NULL, 1]": "Parameters must be of the same type",
    "MAP['a', NULL, 'b', 1]": "Parameters must be of the same type",
    "CASE WHEN x = 1 THEN NULL END": "at least one THEN clause must be non-NULL",
    "NULLIF(NULL, 1)": "at least one THEN clause must be non-NULL",
}
PLACES_FOR_NULL = """
COALESCE(NULL, 1); IFNULL(x, NULL); NULLIF(1, NULL); TYPEOF(NULL); NULL IS DISTINCT FROM x
x NOT IN (1, NULL); ARRAY_CONTAINS(ARRAY[1], NULL); ARRAY_POSITION(ARRAY[1], NULL)
ARRAY_APPEND(ARRAY[1], NULL); ARRAY_PREPEND(ARRAY[1], NULL); ARRAY_REMOVE(ARRAY[1], NULL)
ARRAY_SLICE(ARRAY[1], 1, NULL); ARRAY_SORT(ARRAY[1], NULL); ARRAY_JOIN(ARRAY['a'], NULL)
ELT(1, 'a', NULL); SPLIT(NULL, ','); BTRIM('a', NULL); REGEXP_COUNT(NULL, 'a')
REGEXP_INSTR('a', NULL); REGEXP_SUBSTR(NULL, 'a'); REGEXP_EXTRACT_ALL('a', 'a', NULL)
STARTSWITH('a', NULL); ENDSWITH(NULL, 'a'); TRANSLATE3('a', NULL, 'b'); UNHEX(NULL)
URL_ENCODE(NULL); PRINTF('%d', NULL); INET_ATON(NULL); JSON_QUOTE(NULL); JSON_STRING(NULL)
JSON_ARRAYAGG(NULL NULL ON NULL); CASE WHEN NULL THEN 1 ELSE 2 END; MAP[x, NULL]
PERCENTILE(NULL, 0.5)
"""
VALUES_WITH_NULL = "(VALUES (1, 'a')) AS v(x, s)"


def _listed(text: str) -> list[str]:
    return [item.strip() for line in text.split("\n") for item in line.split("; ") if line]


def test_functions_that_take_no_null(b):
    for item in _listed(NO_PLACES_FOR_NULL):
        with pytest.raises(Exception, match=NULLS):
            b.sql_query(f"SELECT {item} FROM {VALUES_WITH_NULL}")
    for item, message in OF_OTHER_MESSAGES.items():
        with pytest.raises(Exception, match=message):
            b.sql_query(f"SELECT {item} FROM {VALUES_WITH_NULL}")
    for clause in ("GROUP BY x, NULL", "WHERE NULL AND x = 1", "WHERE NOT NULL"):
        with pytest.raises(Exception, match=NULLS):
            b.sql_query(f"SELECT x FROM {VALUES_WITH_NULL} {clause}")


def test_functions_that_take_null(b):
    for item in _listed(PLACES_FOR_NULL):
        b.sql_query(f"SELECT {item} FROM {VALUES_WITH_NULL}")


def test_values_of_null(b):
    check_values(b, {
        "x = NULL": None, "COALESCE(NULL, 1)": 1, "NULLIF(1, NULL)": 1, "NULL IN (1, 2)": None,
        "1 IN (1, NULL)": True, "1 NOT IN (2, NULL)": None, "ARRAY_CONTAINS(ARRAY[1], NULL)": False,
        "CASE WHEN NULL THEN 1 ELSE 2 END": 2, "JSON_STRING(NULL)": None, "SPLIT(NULL, ',')": None,
        "ARRAY_POSITION(ARRAY[1], NULL)": None, "BTRIM('a', NULL)": None, "URL_ENCODE(NULL)": None,
        "NULL IS DISTINCT FROM x": True, "STARTSWITH('a', NULL)": None,
    }, VALUES_WITH_NULL)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("JSON_OBJECT(KEY NULL VALUE 1)", "Argument to function 'NULL' must not be NULL"),
        ("JSON_OBJECT(KEY 'a' VALUE 1, KEY NULL VALUE 2)", "must not be NULL"),
        ("JSON_OBJECT(KEY CAST(NULL AS STRING) VALUE 1)", "must not be NULL"),
        ("NULL IN (NULL)", "Values in expression list must have compatible types"),
        ("NULL NOT IN (NULL)", "Values in expression list must have compatible types"),
    ],
)
def test_null_that_has_no_meaning(b, text, message):
    with pytest.raises(Exception, match=message):
        b.sql_query(f"SELECT {text}")
