"""MATCH_RECOGNIZE: patterns, what is computed of a match, and where the search continues."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pytest
from pyflink.table import DataTypes, StreamTableEnvironment
from pyflink.table.udf import udf

from compat_tests.match_patterns import RECORD, SEEDS, program, run
from compat_tests.tables import changes, csv_table, query

START = datetime.datetime(2024, 1, 1)  # noqa: DTZ001
TICKS = [12, 17, 19, 21, 25, 18, 15, 14, 24, 25, 19]
"""Prices, one each second."""
COLUMNS = (
    "k STRING, id INT, price INT, ts TIMESTAMP(3), tax DECIMAL(6, 2), note STRING, "
    "pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
)
NOT_LATE = COLUMNS.replace("'1' SECOND", "'1' HOUR")
DEFINED = "A AS A.price > 10, B AS B.price < 15, C AS C.price > 12"
UP_AND_DOWN = (
    "A AS A.price < 18, U AS U.price > LAST(U.price, 1) OR LAST(U.price, 1) IS NULL, "
    "D AS D.price < LAST(U.price)"
)


def at(seconds):
    return START + datetime.timedelta(seconds=seconds)


def ticks(prices=TICKS, key="a", seconds=1):
    return [
        (key, number, price, at(number * seconds), f"{price / 4:.2f}", f"s{number}")
        for number, price in enumerate(prices)
    ]


@pytest.fixture
def match(t_env, tmp_path):
    """A function that looks for a pattern in the table `e`."""

    def found(
        measures="A.id AS x, C.id AS y",
        pattern="A B* C",
        define=DEFINED,
        after="AFTER MATCH SKIP PAST LAST ROW",
        order="ts",
        within="",
        rows=None,
        columns=NOT_LATE,
    ):
        lines = "".join(
            ",".join("" if value is None else str(value) for value in row) + "\n"
            for row in rows or ticks()
        )
        t_env.execute_sql("DROP TABLE IF EXISTS e")
        csv_table(t_env, tmp_path, "e", columns, lines)
        return query(
            t_env,
            f"SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY {order} MEASURES {measures} "
            f"ONE ROW PER MATCH {after} PATTERN ({pattern}) {within} DEFINE {define})",
        )

    return found


@pytest.fixture
def e(t_env, tmp_path):
    lines = "".join(",".join(map(str, row)) + "\n" for row in ticks())
    csv_table(t_env, tmp_path, "e", NOT_LATE, lines)
    return t_env


SIMPLE = "PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A) DEFINE A AS price > 20"
TIMED = (
    "PARTITION BY k ORDER BY ts MEASURES A.id AS x, MATCH_ROWTIME() AS rt PATTERN (A B) "
    "DEFINE A AS price > 12"
)


# -- the examples of Flink's documentation -------------------------------------------------------


def test_three_rows_one_after_the_other(t_env, tmp_path):
    rows = "".join(f"7,{n},{name},{at(n)}\n" for n, name in enumerate("abcaabcb"))
    columns = "userid INT, id INT, name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    csv_table(t_env, tmp_path, "MyTable", columns, rows)
    text = (
        "SELECT T.aid, T.bid, T.cid FROM MyTable MATCH_RECOGNIZE (PARTITION BY userid "
        "ORDER BY ts MEASURES A.id AS aid, B.id AS bid, C.id AS cid PATTERN (A B C) "
        "DEFINE A AS name = 'a', B AS name = 'b', C AS name = 'c') AS T"
    )
    assert query(t_env, text) == [(0, 1, 2), (4, 5, 6)]


SUMS = (
    "SUM(A.price) AS sumPrice, FIRST(A.rowtime) AS startTime, LAST(A.rowtime) AS endTime",
    "SKIP {}", "A+ C", "A AS SUM(A.price) < 60",
)  # fmt: skip
LETTERS = ("C.price AS lastPrice", "SKIP PAST LAST ROW", "A {} C",
           "A AS A.price > 18, B AS B.price > 16, C AS C.price < 22")  # fmt: skip
DROP = ("C.rowtime AS dropTime, A.price - C.price AS dropDiff", "SKIP PAST LAST ROW", "A B* C",
        "B AS B.price > A.price - 10, C AS C.price < A.price - 10")  # fmt: skip


def filled(shape, *words):
    return tuple(part.format(*words) if "{}" in part else part for part in shape)


@pytest.mark.parametrize(
    ("shape", "within", "expected"),
    [
        (
            (("START_ROW.rowtime AS start_tstamp, LAST(PRICE_DOWN.rowtime) AS bottom_tstamp, "
             "LAST(PRICE_UP.rowtime) AS end_tstamp"), "SKIP TO LAST PRICE_UP",
             "START_ROW PRICE_DOWN+ PRICE_UP",
             ("PRICE_DOWN AS (LAST(PRICE_DOWN.price, 1) IS NULL AND PRICE_DOWN.price < "
             "START_ROW.price) OR PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1), "
             "PRICE_UP AS PRICE_UP.price > LAST(PRICE_DOWN.price)")),
            "", [("ACME", 4, 7, 8), ("Globex", 1, 3, 4)],
        ),
        (
            (("FIRST(A.rowtime) AS start_tstamp, LAST(A.rowtime) AS end_tstamp, AVG(A.price) AS "
             "avgPrice"), "SKIP PAST LAST ROW", "A+ B", "A AS AVG(A.price) < 18"),
            "", [("ACME", 0, 3, 17), ("ACME", 6, 8, 17), ("Globex", 3, 5, 15)],
        ),
        (filled(LETTERS, "B*"), "", [("ACME", 15), ("Globex", 12), ("Globex", 14)]),
        (
            filled(LETTERS, "B*?"),
            "", [("ACME", 18), ("ACME", 19), ("ACME", 21), ("Globex", 14), ("Globex", 17),
                 ("Globex", 21)],
        ),
        (DROP, "WITHIN INTERVAL '5' SECOND", [("Globex", 10, 13), ("Globex", 3, 11)]),
        (DROP, "", []),
        (
            ("FIRST(A.price) AS a, LAST(B.price) AS b, LAST(price) AS c, COUNT(*) AS n",
             "SKIP PAST LAST ROW", "A B+ C",
             ("A AS A.price > 10, B AS B.price > A.price AND SUM(price) < 100 AND SUM(B.price) < "
              "80, C AS price < LAST(price, 1)")),
            "", [("ACME", 17, 25, 18, 5), ("Globex", 15, 21, 19, 5), ("Globex", 19, 24, 14, 4)],
        ),
        (
            ("FIRST(A.price) AS f, LAST(A.price, 1) AS l, FIRST(A.price, 2) AS g",
             "SKIP TO LAST A", "A{2,} B",
             ("A AS (LAST(A.price, 1) IS NULL OR A.price > LAST(A.price, 1)) AND "
             "(LAST(A.price, 2) IS NULL OR A.price > 2 + LAST(A.price, 2)), "
             "B AS B.price < LAST(A.price)")),
            "", [("ACME", 12, 21, 19), ("ACME", 14, 24, 25), ("Globex", 14, 18, 18),
                 ("Globex", 19, 19, None)],
        ),
        (
            (("LAST(A.price * A.tax) AS x, FIRST(A.price * A.tax, 1) AS y, "
             "LAST(A.price, 1) * LAST(A.tax) AS z"), "SKIP PAST LAST ROW", "A+ B",
             "A AS A.price * A.tax > 20 AND NOT LAST(A.price * A.tax, 3) > 0, B AS B.tax = 1"),
            "", [],
        ),
        (
            filled(SUMS, "PAST LAST ROW"),
            "", [("ACME", 48, 0, 2), ("ACME", 49, 8, 9), ("ACME", 58, 4, 6), ("Globex", 44, 0, 1),
                 ("Globex", 47, 3, 5), ("Globex", 57, 7, 9)],
        ),
        (
            filled(SUMS, "TO NEXT ROW"),
            "", [("ACME", 38, 7, 8), ("ACME", 40, 2, 3), ("ACME", 46, 3, 4), ("ACME", 47, 5, 7),
                 ("ACME", 48, 0, 2), ("ACME", 49, 8, 9), ("ACME", 53, 6, 8), ("ACME", 57, 1, 3),
                 ("ACME", 58, 4, 6), ("Globex", 43, 5, 6), ("Globex", 44, 0, 1),
                 ("Globex", 46, 6, 7), ("Globex", 47, 3, 5), ("Globex", 49, 1, 2),
                 ("Globex", 53, 2, 4), ("Globex", 57, 7, 9), ("Globex", 58, 4, 6)],
        ),
        (
            filled(SUMS, "TO LAST A"),
            "", [("ACME", 40, 2, 3), ("ACME", 46, 3, 4), ("ACME", 48, 0, 2), ("ACME", 49, 8, 9),
                 ("ACME", 53, 6, 8), ("ACME", 58, 4, 6), ("Globex", 44, 0, 1), ("Globex", 46, 6, 7),
                 ("Globex", 49, 1, 2), ("Globex", 53, 2, 4), ("Globex", 57, 7, 9),
                 ("Globex", 58, 4, 6)],
        ),
    ],
    ids=[
        "decrease then increase", "average", "greedy", "reluctant", "time", "no time", "all rows",
        "offsets", "expressions", "past last row", "to next row", "to a variable",
    ],
)  # fmt: skip
def test_ticker(t_env, tmp_path, shape, within, expected):
    lines = "".join(f"ACME,{at(n)},{price},{n % 3 + 1}\n" for n, price in enumerate(TICKS))
    lines += "".join(f"Globex,{at(n)},{price},1\n" for n, price in enumerate(TICKS[::-1]))
    columns = (
        "symbol STRING, rowtime TIMESTAMP(3), price INT, tax INT, "
        "WATERMARK FOR rowtime AS rowtime - INTERVAL '1' HOUR"
    )
    csv_table(t_env, tmp_path, "Ticker", columns, lines)
    measures, after, pattern, define = shape
    text = (
        "SELECT * FROM Ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime MEASURES "
        f"{measures} ONE ROW PER MATCH AFTER MATCH {after} PATTERN ({pattern}) {within} "
        f"DEFINE {define}) MR"
    )
    found = [
        tuple(round((v - START).total_seconds()) if isinstance(v, datetime.datetime) else v
              for v in row)
        for row in query(t_env, text)
    ]  # fmt: skip
    assert sorted(found, key=repr) == expected


# -- patterns ------------------------------------------------------------------------------------

PAIRS = [("a", 0, 1), ("a", 2, 3), ("a", 4, 5), ("a", 6, 7), ("a", 8, 9)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A B* C", [("a", 0, 1), ("a", 2, 3), ("a", 4, 5), ("a", 6, 8), ("a", 9, 10)]),
        ("A (B C)", [("a", 6, 8)]),
        ("(A) B? C", PAIRS),
        ("A? B C", [("a", None, 1), ("a", 6, 8)]),
        ("A C", PAIRS),
        ("A{1,1} C{1}", PAIRS),
        ("A{2} B? C", [("a", 1, 2), ("a", 4, 5), ("a", 7, 8)]),
        ("A B{0,2} C", [("a", 0, 1), ("a", 2, 3), ("a", 4, 5), ("a", 6, 8), ("a", 9, 10)]),
        ("A B{0,3}? C", PAIRS),
        ("A{0,3} B C", []),
        ("A B{2}", []),
        ("A B?", [("a", number, None) for number in range(11)]),
        ("A+? B? C", PAIRS),
        ("A {2} C + ?", [("a", 1, 2), ("a", 4, 5), ("a", 7, 8)]),
    ],
)  # fmt: skip
def test_patterns(match, pattern, expected):
    assert match(pattern=pattern) == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", list(range(10))),
        ("AFTER MATCH SKIP TO NEXT ROW", list(range(10))),
        ("AFTER MATCH SKIP PAST LAST ROW", [0, 2, 4, 6, 9]),
        ("AFTER MATCH SKIP TO FIRST C", [0, 1, 2, 3, 4, 5, 6, 8, 9]),
        ("AFTER MATCH SKIP TO LAST C", [0, 1, 2, 3, 4, 5, 6, 8, 9]),
        ("AFTER MATCH SKIP TO C", [0, 1, 2, 3, 4, 5, 6, 8, 9]),
    ],
)
def test_where_the_search_continues(match, after, expected):
    assert [row[1] for row in match(after=after)] == expected


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("LAST A", "Could not skip to first element of a match."),
        ("FIRST B", "Could not skip to B. No such element in the found match"),
        ("B", "Could not skip to B. No such element in the found match"),
    ],
)
def test_there_is_no_row_to_continue_with(match, after, message):
    with pytest.raises(Exception, match=message):
        match(after=f"AFTER MATCH SKIP TO {after}")


@pytest.mark.parametrize(
    ("seconds", "expected"), [("0", [6]), ("0.5", []), ("2", [7]), ("2.001", [6]), ("3", [6])]
)
def test_how_long_a_match_takes(match, seconds, expected):
    found = match(within=f"WITHIN INTERVAL '{seconds}' SECOND")
    assert [row[1] for row in found if 6 <= row[1] < 8] == expected


def test_rows_of_one_time(match):
    rows = [(key, number, price, at(number // 3), tax, note)
            for key, number, price, _, tax, note in ticks()]  # fmt: skip

    def ids(order):
        return [row[1:] for row in match("A.id AS x, C.id AS y", order=order, rows=rows)]

    assert ids("ts") == [(0, 1), (2, 3), (4, 5), (6, 8), (9, 10)]
    assert ids("ts, price") == [(0, 1), (2, 5), (3, 4), (7, 6), (8, 10)]
    assert ids("ts, price DESC, id") == [(2, 1), (0, 4), (3, 5), (8, 6), (7, 9)]


def test_keys(match):
    rows = [
        row
        for (one, other) in zip(ticks(), ticks(TICKS[::-1], "b"))
        for row in (one, other, (None, *one[1:2], one[2] if one[1] % 3 else None, *one[3:]))
    ]
    found = match("A.id AS x, C.id AS y, LAST(B.id) AS b", rows=rows)
    by_key = {key: [row[1:] for row in found if row[0] == key] for key in ("a", "b", None)}
    assert by_key == {
        "a": [(0, 1, None), (2, 3, None), (4, 5, None), (6, 8, 7), (9, 10, None)],
        "b": [(0, 1, None), (2, 4, 3), (5, 6, None), (7, 8, None)],
        None: [(1, 2, None), (4, 5, None), (7, 8, None)],
    }


# -- conditions and measures ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("define", "expected"),
    [
        ("U AS SUM(price) < 60, D AS COUNT(id) > 2 AND MAX(A.price) < D.price",
         [(0, 2, 3), (5, 7, 8)]),
        ("U AS LAST(U.price, 0) > 18, D AS D.price < FIRST(U.price) OR LAST(A.price) > 16",
         [(1, 4, 5)]),
        ("U AS price > LAST(price, 1), D AS FIRST(price) < price AND price < LAST(price, 1)",
         [(0, 4, 5), (7, 9, 10)]),
        ("A AS D.price IS NULL, U AS U.price > 17, D AS D.price < 20", [(1, 5, 6)]),
        ("A AS COUNT(*) < 3, U AS COUNT(U.id) < 3, D AS COUNT(*) = 4",
         [(0, 2, 3), (4, 6, 7)]),
        ("A AS PREV(A.price, 0) > 20, U AS FALSE, D AS TRUE", []),
        ("U AS MAX(U.price) - MIN(U.price) < 5 AND note <> 's5', D AS D.price IN (18)",
         [(2, 4, 5)]),
        ("U AS CASE WHEN U.price > 18 THEN U.id < 4 ELSE FALSE END", [(1, 3, 4)]),
        ("Z AS Z.price > 3, U AS U.price > 18, D AS D.price < 19", [(1, 4, 5)]),
    ],
)  # fmt: skip
def test_conditions(match, define, expected):
    found = match("A.id AS x, LAST(U.id) AS y, D.id AS z", "A U+ D", define)
    assert [row[1:] for row in found] == expected


def test_what_unknown_rows_give(match):
    assert match("FIRST(A.price, 3) AS x, LAST(C.price, 2) AS y, LAST(B.price) AS z")[0] == (
        "a", None, None, None,
    )  # fmt: skip


def test_measures(match):
    found = match(
        "FIRST(U.id, 1) AS a, LAST(U.id, 1) AS b, LAST(U.id, 20) AS c, FIRST(id) AS d, "
        "LAST(id) AS e, LAST(id, 2) AS f, id AS g, U.id AS h, FIRST(id, 20) AS i, A.id AS j, "
        "FINAL LAST(A.id) AS l, UPPER(LAST(U.note, 1)) AS m, LAST(U.price + U.id, 1) AS n, "
        "ARRAY[A.id, D.id] AS o, CASE WHEN A.id > 3 THEN D.id ELSE A.id END AS p",
        "A U+ D", UP_AND_DOWN,
    )  # fmt: skip
    assert found == [
        ("a", 2, 3, None, 0, 5, 3, 5, 4, None, 0, 0, "S3", 24, [0, 5], 0),
        ("a", 8, 8, None, 6, 10, 8, 10, 9, None, 6, 6, "S8", 32, [6, 10], 10),
    ]


def test_aggregates(match):
    found = match(
        "SUM(U.price) AS a, COUNT(U.price) AS b, AVG(U.price) AS c, MIN(price) AS d, "
        "MAX(U.price) AS e, COUNT(*) AS f, SUM(price) AS h, SUM(D.price) AS i, "
        "SUM(U.price + 1) AS j, SUM(U.tax) AS k2, COUNT(id) AS l, LISTAGG(U.note, '-') AS m, "
        "AVG(U.tax) AS n, SUM(U.price) + COUNT(U.price) * A.price AS o, "
        "COLLECT(D.price) AS p, FIRST_VALUE(U.price) AS q, STDDEV_POP(A.price) AS r",
        "A U+ D", UP_AND_DOWN,
    )  # fmt: skip
    assert found == [
        ("a", 82, 4, 20, 12, 25, 6, 112, 18, 86, Decimal("20.50"), 6, "s1-s2-s3-s4",
         Decimal("5.125000"), 130, {18: 1}, 17, 0),
        ("a", 63, 3, 21, 14, 25, 5, 97, 19, 66, Decimal("15.75"), 5, "s7-s8-s9",
         Decimal("5.250000"), 108, {19: 1}, 14, 0),
    ]  # fmt: skip


def test_aggregates_of_no_rows(match):
    found = match("SUM(B.price) AS a, COUNT(B.price) AS b, MIN(B.price) AS c", "A B* C",
                  "B AS B.price < 3")  # fmt: skip
    assert found == [("a", None, 0, None)] * 5


@pytest.mark.pyflink_bug("a column that is NOT NULL is -1 where its variable has taken no row")
def test_columns_that_are_not_null(match, t_env):
    columns = NOT_LATE.replace("id INT", "id INT NOT NULL")
    found = match("A.id AS x, LAST(B.id) AS y, id AS z", columns=columns)
    assert found == [("a", 0, None, 1), ("a", 2, None, 3), ("a", 4, None, 5), ("a", 6, 7, 8),
                     ("a", 9, None, 10)]  # fmt: skip
    text = (
        "SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS u, "
        "LAST(A.id, 1) AS v, FIRST(A.id, 2) AS w, B.id AS x, LAST(id, 2) AS y, LAST(id, 3) AS z "
        "PATTERN (A{2} B? C) DEFINE A AS TRUE)"
    )
    assert str(t_env.sql_query(text).get_resolved_schema()) == (
        "(\n  `k` STRING,\n  `u` INT NOT NULL,\n  `v` INT NOT NULL,\n  `w` INT,\n  `x` INT,\n"
        "  `y` INT NOT NULL,\n  `z` INT\n)"
    )


# -- time ----------------------------------------------------------------------------------------


def test_time_of_a_match(e):
    text = f"SELECT x, rt FROM e MATCH_RECOGNIZE ({TIMED})"
    assert query(e, text) == [(n, at(n + 1)) for n in range(1, 10)]
    given = text.replace("MATCH_ROWTIME()", "MATCH_ROWTIME(ts)")
    assert query(e, given) == [(n, at(n + 1)) for n in range(1, 10)]
    clock = text.replace("MATCH_ROWTIME()", "MATCH_PROCTIME()").replace("x, rt", "x, rt IS NULL")
    assert query(e, clock) == [(n, False) for n in range(1, 10)]


def test_columns_and_types(e):
    text = (
        "SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY k, note ORDER BY ts MEASURES A.id AS x, "
        "LAST(A.tax) AS `my tax`, COUNT(*) AS n, SUM(A.tax) AS s, AVG(A.price) AS v, "
        "MATCH_ROWTIME() AS rt, MATCH_PROCTIME() AS mp, MATCH_ROWTIME(ts) AS rt2 "
        "PATTERN (A) DEFINE A AS TRUE)"
    )
    assert str(e.sql_query(text).get_resolved_schema()) == (
        "(\n  `k` STRING,\n  `note` STRING,\n  `x` INT,\n  `my tax` DECIMAL(6, 2),\n"
        "  `n` BIGINT NOT NULL,\n  `s` DECIMAL(38, 2),\n  `v` INT,\n"
        "  `rt` TIMESTAMP(3) NOT NULL *ROWTIME*,\n"
        "  `mp` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*,\n"
        "  `rt2` TIMESTAMP(3) *ROWTIME*\n)"
    )


def test_windows_of_matches(e):
    found = f"SELECT * FROM e MATCH_RECOGNIZE ({TIMED})"
    windows = (
        "SELECT window_start, COUNT(*), SUM(x) FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(rt), "
        "INTERVAL '5' SECOND)) GROUP BY window_start, window_end"
    )
    expected = [(at(0), 3, 6), (at(5), 5, 30), (at(10), 1, 9)]
    assert query(e, f"WITH m AS ({found}) {windows}") == expected
    e.create_temporary_view("m", e.sql_query(found))
    assert query(e, windows) == expected
    with pytest.raises(Exception, match="requires the timecol is a time attribute type"):
        e.sql_query(
            f"WITH m AS ({found.replace('MATCH_ROWTIME()', 'LAST(B.ts)')}) {windows}"
        ).explain()


def test_matches_of_matches(e):
    inner = f"SELECT * FROM e MATCH_RECOGNIZE ({TIMED})"
    text = (
        f"SELECT * FROM ({inner}) MATCH_RECOGNIZE (PARTITION BY k ORDER BY rt MEASURES C.x AS y "
        "PATTERN (C) DEFINE C AS x > 3)"
    )
    assert query(e, text) == [("a", number) for number in range(4, 10)]


def test_matches_beside_other_relations(e):
    join = (
        f"SELECT m.x, w FROM e MATCH_RECOGNIZE ({SIMPLE}) AS m "
        "JOIN (VALUES (3, 'three'), (9, 'nine')) AS t(n, w) ON m.x = t.n"
    )
    assert sorted(query(e, join)) == [(3, "three"), (9, "nine")]
    assert query(e, f"SELECT z.x FROM e AS y MATCH_RECOGNIZE ({SIMPLE}) z WHERE x > 4") == [
        (8,), (9,),
    ]  # fmt: skip
    counted = f"SELECT COUNT(*) FROM e MATCH_RECOGNIZE ({SIMPLE})"
    assert changes(e.sql_query(counted))[-1] == ("+U", 4)


def test_processing_time(e):
    text = SIMPLE.replace("BY ts", "BY pt").replace("(A)", "(A B)")
    found = query(e, f"SELECT x, t IS NULL FROM e MATCH_RECOGNIZE ({text})".replace(
        "AS x", "AS x, MATCH_ROWTIME() AS t"))  # fmt: skip
    assert found == [(3, False), (4, False), (8, False), (9, False)]


@pytest.mark.one_attempt("a restart sets the watermark back")
def test_late_rows(match, t_env):
    t_env.get_config().set("pipeline.auto-watermark-interval", "0 ms")
    seconds = [10, 5, 9, 8, 12, 11, 9, 20]
    rows = [("a", n, n + 1, at(second), "", "") for n, second in enumerate(seconds)]
    after = "AFTER MATCH SKIP TO NEXT ROW"
    found = match("A.id AS x, B.id AS y", "A B", "B AS B.price > A.price", after, rows=rows,
                  columns=COLUMNS)  # fmt: skip
    assert found == [("a", 0, 4), ("a", 4, 7)]


@pytest.mark.one_attempt("a restart sets the watermark back")
def test_a_match_waits_for_an_earlier_one_that_may_become_longer(match, t_env):
    """Its time is then that of what ended the wait: the next row of the key, or the watermark."""
    t_env.get_config().set("pipeline.auto-watermark-interval", "0 ms")
    define = "A AS TRUE, B AS TRUE, C AS C.price > A.price"
    measures = "A.id AS x, C.id AS y, MATCH_ROWTIME() AS rt"
    rows = [("a", n, price, at(n), "", "") for n, price in enumerate([100, 1, 50, 40])]
    last = ("a", 4, 30, at(30), "", "")
    within = "WITHIN INTERVAL '10' SECOND"

    def found(*more, within=within):
        return match(measures, "A B*? C", define, "", within=within, rows=[*rows, *more],
                     columns=COLUMNS)  # fmt: skip

    assert found(last, within="") == []
    assert found(last) == [("a", 1, 2, at(29))]
    assert found(("b", 9, 1, at(20), "", ""), last) == [("a", 1, 2, at(19))]


# -- batch mode ----------------------------------------------------------------------------------


@pytest.fixture
def batch(batch_env, tmp_path):
    t_env = StreamTableEnvironment.create(batch_env)
    rows = ticks()[::-1] + ticks(TICKS[::-1], "b")
    lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
    csv_table(t_env, tmp_path, "e", COLUMNS, lines)
    plain = COLUMNS.split(", pt ", maxsplit=1)[0]
    csv_table(t_env, tmp_path, "f", plain, lines)
    return t_env


def test_batch_mode(batch):
    inner = (
        "PARTITION BY k ORDER BY ts, id MEASURES A.id AS x, C.id AS y, MATCH_ROWTIME() AS rt "
        f"AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) WITHIN INTERVAL '2' SECOND "
        f"DEFINE {DEFINED}"
    )
    for name in "ef":
        assert sorted(query(batch, f"SELECT * FROM {name} MATCH_RECOGNIZE ({inner})")) == [
            ("a", 0, 1, at(1)), ("a", 2, 3, at(3)), ("a", 4, 5, at(5)), ("a", 7, 8, at(8)),
            ("a", 9, 10, at(10)), ("b", 0, 1, at(1)), ("b", 3, 4, at(4)),
            ("b", 5, 6, at(6)), ("b", 7, 8, at(8)),
        ]  # fmt: skip
    clock = inner.replace("ORDER BY ts, id", "ORDER BY pt").replace("MATCH_ROWTIME()", "A.price")
    found = query(batch, f"SELECT k, x FROM e MATCH_RECOGNIZE ({clock})")
    assert [x for k, x in found if k == "b"] == [0, 2, 5, 7]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("ts DESC", "Primary sort order of a table must be ascending on time."),
        ("id", "You must specify time point for order by as the first one."),
    ],
)
def test_order_in_batch_mode(batch, order, message):
    inner = SIMPLE.replace("BY ts", f"BY {order}")
    with pytest.raises(Exception, match=message):
        batch.sql_query(f"SELECT * FROM e MATCH_RECOGNIZE ({inner})").explain()


# -- what is refused -----------------------------------------------------------------------------

GREEDY_END = "Greedy quantifiers are not allowed as the last element of a Pattern yet."
EMPTY = "Patterns that can produce empty matches are not supported."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *[({"pattern": f"A B{end}"}, GREEDY_END) for end in ("+", "*", "{2,3}", "{2,}", "{0,2}")],
        ({"pattern": "A B?? C"}, "Reluctant optional variables are not supported yet."),
        ({"pattern": "A B{0,1}? C"}, "Reluctant optional variables are not supported yet."),
        ({"pattern": "A B{0} C"}, "The to should be a number greater than or equal to from: 1."),
        ({"pattern": "A{3,2} C"}, "The to should be a number greater than or equal to from: 3."),
        ({"pattern": "A{,2} C"}, "The from should be a positive number greater than 0."),
        ({"pattern": "A | B C"}, "Currently, CEP doesn't support branching patterns."),
        ({"pattern": "PERMUTE(A, B, C)"}, "Currently, CEP doesn't support PERMUTE patterns."),
        ({"pattern": "A {- B -} C"}, "Currently, CEP doesn't support '{-' '-}' patterns."),
        ({"pattern": "(A B)+ C"}, "Group patterns are not supported yet."),
        ({"pattern": "A B A"}, "Pattern variables must be unique."),
        ({"pattern": "A*?"}, EMPTY),
        ({"pattern": "A? B*?"}, EMPTY),
        ({"pattern": "A+ B? C"}, "Optional pattern cannot be preceded by greedy pattern"),
        ({"pattern": "A{2,3} B*? C"}, "Optional pattern cannot be preceded by greedy pattern"),
        ({"after": "AFTER MATCH SKIP TO FIRST Z"}, "Unknown pattern 'Z'"),
        ({"define": "A AS PREV(A.price) > 1"},
         "Flink does not support physical offsets within partition."),
        ({"define": "A AS NEXT(A.price, 2) > 1"},
         "Flink does not support physical offsets within partition."),
        ({"define": "A AS RUNNING LAST(A.price) > 3"}, "Cannot use RUNNING/FINAL in DEFINE"),
        ({"define": "A AS A.price > 1, A AS A.price > 2"},
         "Pattern variable 'A' has already been defined"),
        ({"define": "A AS A.price + 1"}, "DEFINE clause must be a condition"),
        ({"define": "A AS NULL"}, "Illegal use of 'NULL'"),
        ({"measures": "PREV(A.price) AS x"}, "Cannot use PREV/NEXT in MEASURE"),
        ({"measures": "CLASSIFIER() AS x"}, "Unsupported call: CLASSIFIER"),
        ({"measures": "MATCH_NUMBER() AS x"}, "No match found for function signature MATCH_NUMBER"),
        ({"measures": "RUNNING LAST(A.id) AS x"}, "Unsupported call: RUNNING"),
        ({"measures": "SUM(A.price) FILTER (WHERE A.price > 1) AS x"}, "Unsupported call: FILTER"),
        ({"measures": "SUM(DISTINCT A.price) AS x"}, "DISTINCT/ALL not allowed with SUM"),
        ({"measures": "SUM(A.price + C.price) AS x"}, "Multiple pattern variables in 'SUM"),
        ({"measures": "LAST(A.price + C.price) AS x"}, "Multiple pattern variables in 'LAST"),
        ({"measures": "LAST(FIRST(A.price)) AS x"}, "Cannot nest PREV/NEXT under LAST/FIRST"),
        ({"measures": "LAST(SUM(A.price)) AS x"}, "Cannot use aggregation in navigation"),
        ({"measures": "SUM(SUM(A.price)) AS x"}, "Aggregate expressions cannot be nested"),
        ({"measures": "SUM(1) AS x"}, r"Null parameters in 'SUM\(1\)'"),
        ({"measures": "CAST(MAX(1 + 1) AS BIGINT) AS x"}, r"Null parameters in 'MAX\(1 \+ 1\)'"),
        ({"measures": "COUNT(1) AS x"}, "No pattern variable specified in aggregate"),
        ({"define": "A AS SUM(1) < 3"}, r"Null parameters in 'SUM\(1\)'"),
        ({"measures": "A.nope AS x"}, "Column 'nope' not found in table 'A'"),
        ({"measures": "Z.id AS x"}, "Table 'Z' not found"),
        ({"measures": "a.id AS x"}, "Table 'a' not found"),
        ({"measures": "A.* AS x"}, r"Unknown field '\*'"),
        ({"measures": "A.id AS k"}, "Columns ambiguously defined: {k}"),
        ({"measures": "A.id"}, 'Encountered "ONE"'),
        ({"measures": "MATCH_ROWTIME(id) AS x"},
         "MATCH_ROWTIME requires argument to be a row time attribute type, but is 'INTEGER'"),
        ({"within": "WITHIN INTERVAL '1' MONTH"},
         "Only constant intervals with millisecond resolution are supported"),
        ({"within": "WITHIN INTERVAL -'2' SECOND"}, "Interval must be non-negative"),
        ({"within": "WITHIN 5"}, 'Encountered "5"'),
        ({"order": "ts DESC"}, "Primary sort order of a streaming table must be ascending on"),
        ({"order": "ts NULLS LAST"}, "java.lang.AssertionError"),
        ({"order": "ts, id NULLS FIRST"}, "java.lang.AssertionError"),
        ({"order": "id"}, "You must specify either rowtime or proctime for order by as the first"),
        ({"order": "id, ts"}, "You must specify either rowtime or proctime for order by as the"),
    ],
)  # fmt: skip
def test_what_is_refused(match, change, message):
    with pytest.raises(Exception, match=message):
        match(**change)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (SIMPLE.replace("ORDER BY ts ", ""),
         "You must specify either rowtime or proctime for order by."),
        (SIMPLE.replace("MEASURES A.id AS x ", ""), "Columns ambiguously defined: {}"),
        (SIMPLE.replace("DEFINE A AS price > 20", ""), r'Encountered "\)"'),
        (SIMPLE.replace("PATTERN", "ALL ROWS PER MATCH PATTERN"),
         "All rows per match mode is not supported yet."),
        (SIMPLE.replace("PATTERN", "AFTER MATCH SKIP TO NEXT ROW ONE ROW PER MATCH PATTERN"),
         'Encountered "ONE"'),
    ],
)  # fmt: skip
def test_what_is_missing(e, inner, message):
    with pytest.raises(Exception, match=message):
        query(e, f"SELECT * FROM e MATCH_RECOGNIZE ({inner})")


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ("e MATCH_RECOGNIZE ({}) AS T(a, b)", "Duplicate relation name 'T' in FROM clause"),
        ("e MATCH_RECOGNIZE ({}) T(a, b)", "Duplicate relation name 'T' in FROM clause"),
        ("(e) MATCH_RECOGNIZE ({})", "Expected query or join"),
        ("(e) AS z", "Expected query or join"),
        ("e AS z (k, i, p, ts) MATCH_RECOGNIZE ({})", 'Encountered "MATCH_RECOGNIZE" at line 1'),
        ("e z MATCH_RECOGNIZE ({})", 'Encountered "MATCH_RECOGNIZE" at line 1'),
    ],
)
def test_relations_that_are_refused(e, relations, message):
    with pytest.raises(Exception, match=message):
        query(e, f"SELECT * FROM {relations.format(SIMPLE)}")


@pytest.mark.parametrize(
    "relation", ["e AS z", "(SELECT * FROM e)", "((SELECT * FROM e))", "(SELECT * FROM e) AS z"]
)
def test_relations_whose_rows_are_matched(e, relation):
    found = query(e, f"SELECT * FROM {relation} MATCH_RECOGNIZE ({SIMPLE}) AS T")
    assert found == [("a", 3), ("a", 4), ("a", 8), ("a", 9)]


def test_changes_are_refused(e):
    counted = "(SELECT k, COUNT(*) AS id, 21 AS price, PROCTIME() AS ts FROM e GROUP BY k)"
    message = "Match Recognize doesn't support consuming update changes which is produced by node"
    with pytest.raises(Exception, match=f"{message} GroupAggregate"):
        query(e, f"SELECT * FROM {counted} MATCH_RECOGNIZE ({SIMPLE})")


def test_python_functions(e):
    e.create_temporary_function("twice", udf(lambda n: 2 * n, result_type=DataTypes.INT()))
    assert query(e, f"SELECT twice(x) FROM e MATCH_RECOGNIZE ({SIMPLE})") == [
        (6,), (8,), (16,), (18,),
    ]  # fmt: skip
    message = "Python Function can not be used in MATCH_RECOGNIZE for now."
    for inner in (SIMPLE.replace("A.id", "twice(A.id)"), SIMPLE.replace("price >", "twice(id) >")):
        with pytest.raises(Exception, match=message):
            query(e, f"SELECT * FROM e MATCH_RECOGNIZE ({inner})")


def test_a_row_without_time(match):
    rows = [("a", 1, 11, None, "", ""), ("a", 2, 19, at(3), "", "")]
    with pytest.raises(Exception, match="RowTime field should not be null"):
        match(rows=rows)


def test_the_plan(e):
    inner = (
        "PARTITION BY k ORDER BY ts, id MEASURES FIRST(A.id) AS x, LAST(C.id) AS y ONE ROW PER "
        f"MATCH AFTER MATCH SKIP TO LAST C PATTERN (A B* C) DEFINE {DEFINED}"
    )
    plan = e.sql_query(f"SELECT * FROM e MATCH_RECOGNIZE ({inner})").explain()
    (line, *_) = [line for line in plan.splitlines() if line.strip("+- ").startswith("Match(")]
    for part in (
        ("partitionBy=[k], orderBy=[ts ASC, id ASC], measures=[FINAL(FIRST(A.id, 0)) AS x, "
        "FINAL(LAST(C.id, 0)) AS y], rowsPerMatch=[ONE ROW PER MATCH], after=[SKIP TO LAST "),
        "PATTERN_QUANTIFIER(", ", 0, -1, false)",
    ):  # fmt: skip
        assert part in line


# -- random programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_programs(request, t_env, tmp_path, seed):
    made = program(seed)
    if made.watermarks and request.config.getoption("--mode") != "whole":
        pytest.skip("a restart sets the watermark back, and checkpoints emit watermarks")
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert run(t_env, tmp_path, made) == recorded[str(seed)]


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.parametrize("seed", [2, 6, 10, 14, 30, 42])
def test_random_programs_in_two_subtasks(t_env, tmp_path, seed):
    made = program(seed)
    assert not made.watermarks
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    assert run(t_env, tmp_path, made) == recorded[str(seed)] != {}
