"""Rows of tables that come later than the watermark of their time."""

from __future__ import annotations

import datetime
import time

import pytest
from pyflink.common import Types
from pyflink.table import Schema

from compat_tests.pacing import PAUSE_SECONDS
from compat_tests.tables import changes, csv_table

pytestmark = [pytest.mark.one_attempt("a restart sets the watermark back"), pytest.mark.timed]

START = datetime.datetime(2024, 1, 1)  # noqa: DTZ001
ROWS = [
    ("a", 1, 1000), ("a", 2, 5000), ("b", 3, 5000), ("c", 4, 4999), ("d", 5, 5001), ("a", 6, 500),
    ("e", 7, 1), ("d", 8, 20000), ("f", 9, 20000), ("g", 10, 20001), ("a", 11, 19999),
    ("b", 12, 20002),
]  # fmt: skip
"""The key, a number, and the time, which is the watermark as well once a row has passed."""

SESSIONS = [
    ("a", 1, 1000), ("a", 2, 3000), ("b", 3, 3000), ("a", 4, 10000), ("a", 5, 8500), ("b", 6, 7000),
    ("a", 7, 8000), ("a", 8, 7000), ("a", 9, 6999), ("a", 10, 6000), ("c", 11, 8000),
    ("c", 12, 8001), ("c", 13, 6500), ("a", 14, 30000), ("a", 15, 28000), ("a", 16, 26000),
    ("a", 17, 23999), ("b", 18, 28001), ("b", 19, 27999), ("b", 20, 26001), ("c", 21, 27999),
    ("a", 22, 40000),
]  # fmt: skip
"""Late rows that sessions of two seconds reach, one after the other, and others."""


@pytest.fixture
def late(t_env, tmp_path):
    """A function that runs a query over `e`, a table of rows."""
    t_env.get_config().set("pipeline.auto-watermark-interval", "0 ms")  # after every row

    def run(query, rows=ROWS, delay=0):
        lines = "".join(f"{key},{v},{START + _ms(time)}\n" for key, v, time in rows)
        watermark = f"WATERMARK FOR ts AS ts - INTERVAL '{delay / 1000}' SECOND(2, 3)"
        csv_table(t_env, tmp_path, "e", f"k STRING, v INT, ts TIMESTAMP(3), {watermark}", lines)
        found = changes(t_env.sql_query(query))
        return [tuple(map(_time, row)) for row in found]

    return run


def _ms(number):
    return datetime.timedelta(milliseconds=number)


def _time(value):
    return (value - START) // _ms(1) if isinstance(value, datetime.datetime) else value


def added(found):
    """Returns rows that are only added, in order; those of one moment may come in any."""
    assert {kind for kind, *_ in found} <= {"+I"}
    return sorted(tuple(row) for _, *row in found)


def first(order):
    numbered = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {order}) AS n FROM e"
    return f"SELECT k, v FROM ({numbered}) WHERE n = 1"


def test_first_row_of_a_key(late):
    assert late(first("ASC")) == [
        ("+I", "a", 1), ("+I", "b", 3), ("+I", "d", 5), ("+I", "f", 9), ("+I", "g", 10),
    ]  # fmt: skip


def test_first_row_with_its_number(late):
    numbered = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM e"
    assert late(f"SELECT k, n + 1 FROM ({numbered}) WHERE n <= 1") == [
        ("+I", "a", 2), ("+I", "b", 2), ("+I", "d", 2), ("+I", "f", 2), ("+I", "g", 2),
    ]  # fmt: skip


def test_limit_by_time(late):
    rows = [("a", 1, 5000), ("b", 2, 1000), ("c", 3, 500), ("d", 4, 500)]
    assert late("SELECT v FROM e ORDER BY ts LIMIT 1", rows) == [
        ("+I", 1), ("-U", 1), ("+U", 2), ("-U", 2), ("+U", 3),
    ]  # fmt: skip


def test_first_row_of_a_key_is_final(late):
    rows = [
        ("a", 1, 3000), ("a", 2, 2001), ("a", 3, 2001), ("b", 4, 2500), ("b", 5, 4000),
        ("b", 6, 1999), ("c", 7, 1999), ("c", 8, 2000), ("a", 9, 2001), ("c", 10, 9000),
    ]  # fmt: skip
    assert late(first("ASC"), rows, delay=2000) == [
        ("+I", "c", 8), ("+I", "a", 2), ("+I", "b", 4),
    ]  # fmt: skip


def test_first_rows_are_only_added(late):
    query = f"SELECT k, COUNT(*) FROM ({first('ASC')}) GROUP BY k"
    assert late(query) == [
        ("+I", "a", 1), ("+I", "b", 1), ("+I", "d", 1), ("+I", "f", 1), ("+I", "g", 1),
    ]  # fmt: skip


def test_last_row_of_a_key(late):
    rows = [("a", 1, 5000), ("b", 2, 4000), ("a", 3, 4999), ("a", 4, 5000), ("b", 5, 4001)]
    assert late(first("DESC"), rows) == [
        ("+I", "a", 1), ("+I", "b", 2), ("-U", "a", 1), ("+U", "a", 4), ("-U", "b", 2),
        ("+U", "b", 5),
    ]  # fmt: skip


def test_order_of_time(late):
    assert late("SELECT k, v FROM e ORDER BY ts") == [
        ("+I", "a", 1), ("+I", "a", 2), ("+I", "d", 5), ("+I", "d", 8), ("+I", "g", 10),
        ("+I", "b", 12),
    ]  # fmt: skip


def test_order_of_delayed_times(late):
    rows = [("a", 1, 3000), ("a", 2, 1000), ("a", 3, 999), ("a", 4, 4000), ("a", 5, 999),
            ("a", 6, 1000), ("a", 7, 1001), ("a", 8, 9000)]  # fmt: skip
    assert late("SELECT v FROM e ORDER BY ts, v", rows, delay=2000) == [
        ("+I", 3), ("+I", 2), ("+I", 7), ("+I", 1), ("+I", 4), ("+I", 8),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["new", "old"])
def test_sessions_of_keys(late, kind):
    if kind == "new":
        windows = "SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND)"
        query = (
            f"SELECT k, window_start, window_end, COUNT(*), SUM(v) FROM TABLE({windows}) "
            "GROUP BY k, window_start, window_end"
        )
    else:
        window = "ts, INTERVAL '2' SECOND"
        query = (
            f"SELECT k, SESSION_START({window}), SESSION_END({window}), COUNT(*), SUM(v) FROM e "
            f"GROUP BY k, SESSION({window})"
        )
    assert added(late(query, SESSIONS)) == [
        ("a", 1000, 5000, 2, 3), ("a", 6000, 12000, 6, 43), ("a", 26000, 32000, 3, 45),
        ("a", 40000, 42000, 1, 22), ("b", 3000, 5000, 1, 3),
    ]  # fmt: skip


def test_sessions_of_all_rows(late):
    query = (
        "SELECT window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE e, DESCRIPTOR(ts), "
        "INTERVAL '2' SECOND)) GROUP BY window_start, window_end"
    )
    assert late(query, SESSIONS) == [
        ("+I", 1000, 5000, 3), ("+I", 6000, 12000, 10), ("+I", 26000, 32000, 7),
        ("+I", 40000, 42000, 1),
    ]  # fmt: skip


def test_sessions_at_the_border(late):
    rows = [("a", 1, 10000), ("a", 2, 8000), ("a", 3, 5999), ("a", 4, 6000), ("a", 5, 20000)]
    query = (
        "SELECT window_start, window_end, SUM(v) FROM TABLE(SESSION(TABLE e, DESCRIPTOR(ts), "
        "INTERVAL '2' SECOND)) GROUP BY window_start, window_end"
    )
    assert late(query, rows) == [("+I", 6000, 12000, 7), ("+I", 20000, 22000, 5)]


def test_rows_of_sessions(late):
    windows = "SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND)"
    found = added(late(f"SELECT v, window_start, window_end FROM TABLE({windows})", SESSIONS))
    assert [(start, end, v) for v, start, end in found] == [
        *((1000, 5000, v) for v in (1, 2)), (3000, 5000, 3),
        *((6000, 12000, v) for v in (4, 5, 7, 8, 9, 10)),
        *((26000, 32000, v) for v in (14, 15, 16)), (40000, 42000, 22),
    ]  # fmt: skip


WINDOWS = {
    "TUMBLE": "INTERVAL '5' SECOND",
    "HOP": "INTERVAL '2' SECOND, INTERVAL '4' SECOND",
    "CUMULATE": "INTERVAL '2' SECOND, INTERVAL '6' SECOND",
}
SUMS = {
    "TUMBLE": [(0, 5000, 1, 1), (5000, 10000, 3, 10), (20000, 25000, 4, 39)],
    "HOP": [
        (-2000, 2000, 1, 1), (0, 4000, 1, 1), (2000, 6000, 4, 14), (4000, 8000, 4, 14),
        (18000, 22000, 5, 50), (20000, 24000, 4, 39),
    ],
    "CUMULATE": [
        (0, 2000, 1, 1), (0, 4000, 1, 1), (0, 6000, 7, 28), (18000, 22000, 5, 50),
        (18000, 24000, 5, 50),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", WINDOWS)
def test_windows(late, kind):
    windows = f"TABLE({kind}(TABLE e, DESCRIPTOR(ts), {WINDOWS[kind]}))"
    of_windows = "window_start, window_end"
    query = f"SELECT {of_windows}, COUNT(*), SUM(v) FROM {windows} GROUP BY {of_windows}"
    assert added(late(query)) == SUMS[kind]


@pytest.mark.parametrize("kind", WINDOWS)
def test_windows_that_are_not_sliced(late, kind):
    windows = f"TABLE({kind}(TABLE e, DESCRIPTOR(ts), {WINDOWS[kind]}))"
    of_windows = "window_start, window_end"
    numbered = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {of_windows} ORDER BY v) AS n"
    query = f"SELECT {of_windows}, v FROM ({numbered} FROM {windows}) WHERE n <= 9"
    found = added(late(query))
    kept = {}
    for start, end, v in found:
        kept.setdefault((start, end), []).append(v)
    assert [(*window, len(vs), sum(vs)) for window, vs in kept.items()] == SUMS[kind]


def test_first_and_last_rows_of_windows(late):
    def of_windows(order):
        parts = "PARTITION BY k, window_start, window_end"
        numbered = f"SELECT *, ROW_NUMBER() OVER ({parts} ORDER BY ts {order}) AS n"
        windows = f"TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), {WINDOWS['CUMULATE']}))"
        return added(late(f"SELECT window_end, k, v FROM ({numbered} FROM {windows}) WHERE n = 1"))

    assert [row for row in of_windows("ASC") if row[1] == "a"] == [
        (2000, "a", 1), (4000, "a", 1), (6000, "a", 6), (22000, "a", 11), (24000, "a", 11),
    ]  # fmt: skip


OVER = [
    ("a", 1, 1000), ("a", 2, 5000), ("a", 3, 2000), ("a", 4, 4999), ("b", 5, 30000),
    ("a", 6, 12000), ("a", 7, 11000), ("a", 8, 29000), ("b", 9, 31000), ("a", 10, 28000),
    ("a", 11, 60000), ("a", 12, 3000), ("b", 13, 200000), ("a", 14, 100000), ("b", 15, 300000),
    ("a", 16, 3000),
]  # fmt: skip


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("", [(1, 1), (2, 3), (5, 5), (9, 14), (11, 14), (13, 27), (15, 42)]),
        (
            "RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW",
            [
                (1, 1), (2, 3), (5, 5), (7, 7), (6, 13), (8, 8), (9, 14), (11, 11), (13, 13),
                (14, 14), (15, 15), (16, 16),
            ],
        ),
        (
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            [
                (1, 1), (2, 3), (5, 5), (7, 10), (6, 15), (8, 21), (9, 14), (11, 25), (13, 27),
                (14, 33), (15, 37),
            ],
        ),
    ],
)  # fmt: skip
def test_over(late, frame, expected):
    query = f"SELECT v, SUM(v) OVER (PARTITION BY k ORDER BY ts {frame}) FROM e"
    assert [tuple(row) for _, *row in late(query, OVER)] == expected


@pytest.fixture
def sides(paced_env, t_env):
    """A function that runs a query over the rows of two views, `l` and `r`, one after the other."""
    paced_env.get_config().set_auto_watermark_interval(0)  # after every row
    paced_env.set_buffer_timeout(0)
    t_env.get_config().set_local_timezone("UTC")

    def pause(element):
        time.sleep(PAUSE_SECONDS)
        return element

    def run(query, rows):
        kind = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT(), Types.LONG()])
        paced = paced_env.from_collection(rows, kind).map(pause, kind)
        schema = (
            Schema.new_builder()
            .column_by_expression("ts", "CAST(TO_TIMESTAMP_LTZ(f3, 3) AS TIMESTAMP(3))")
            .watermark("ts", "ts")
            .build()
        )
        t_env.create_temporary_view("both", t_env.from_data_stream(paced, schema))
        for side in ("l", "r"):
            t_env.execute_sql(
                f"CREATE TEMPORARY VIEW {side} AS "
                f"SELECT f1 AS k, f2 AS v, ts FROM `both` WHERE f0 = '{side}'"
            )
        t_env.execute_sql(
            "CREATE TEMPORARY VIEW latest AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER "
            "(PARTITION BY k ORDER BY ts DESC) AS n FROM r) WHERE n = 1"
        )
        return sorted((tuple(row) for _, *row in changes(t_env.sql_query(query))), key=str)

    return run


PAIRS = [
    ("l", "a", 1, 101000), ("r", "a", 2, 101000), ("r", "a", 3, 105000), ("l", "a", 4, 104000),
    ("l", "a", 5, 103999), ("r", "a", 6, 103000), ("r", "a", 7, 102999), ("l", "a", 8, 106000),
    ("l", "a", 9, 120000), ("r", "a", 10, 119000), ("r", "a", 11, 118999), ("l", "a", 13, 106000),
    ("l", "a", 14, 104500), ("r", "b", 15, 119000), ("l", "b", 16, 118999), ("l", "b", 17, 119500),
    ("r", "a", 20, 140000), ("l", "a", 21, 139000), ("l", "a", 22, 120500),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            1,
            1,
            [
                (1, 2), (21, 20), (4, 3), (8, 3), (9, 10), (13, None), (14, None), (16, None),
                (17, None), (22, None), (5, None), (None, 11), (None, 15), (None, 6), (None, 7),
            ],
        ),
        (
            0,
            8,
            [
                (1, 2), (1, 3), (1, 6), (1, 7), (21, 20), (4, 3), (5, 3), (13, None), (14, None),
                (16, None), (17, None), (22, None), (8, None), (9, None), (None, 10), (None, 11),
                (None, 15),
            ],
        ),
    ],
)  # fmt: skip
def test_intervals(sides, before, after, expected):
    bounds = f"l.ts - INTERVAL '{before}' SECOND AND l.ts + INTERVAL '{after}' SECOND"
    query = f"SELECT l.v, r.v FROM l FULL JOIN r ON l.k = r.k AND r.ts BETWEEN {bounds}"
    assert sides(query, PAIRS) == sorted(expected, key=str)


VERSIONS = [
    ("r", "a", 1, 101000), ("l", "a", 2, 101500), ("r", "a", 3, 102000), ("l", "a", 4, 101000),
    ("l", "a", 6, 102000), ("l", "a", 7, 102001), ("r", "a", 8, 101700), ("l", "a", 9, 101800),
    ("r", "b", 10, 100500), ("l", "b", 11, 100499), ("l", "b", 12, 100600), ("l", "c", 13, 100100),
    ("l", "a", 14, 105000), ("r", "a", 15, 104000), ("l", "a", 16, 104500), ("l", "a", 17, 103000),
    ("r", "a", 18, 109000), ("l", "a", 19, 108999), ("l", "a", 20, 109000), ("l", "a", 21, 104100),
]  # fmt: skip


def test_versions(sides):
    query = "SELECT l.v, x.v FROM l JOIN latest FOR SYSTEM_TIME AS OF l.ts AS x ON l.k = x.k"
    assert sides(query, VERSIONS) == sorted(
        [(2, 1), (6, 3), (7, 3), (12, 10), (14, 3), (16, 15), (17, 3), (20, 18)], key=str
    )


def test_joined_windows(sides):
    windows = "(SELECT * FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND)))"
    query = (
        f"SELECT l.v, r.v FROM {windows.format('l')} AS l FULL JOIN {windows.format('r')} AS r "
        "ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
    )
    rows = [
        ("l", "a", 1, 101000), ("r", "a", 2, 102000), ("l", "a", 3, 104999), ("r", "a", 4, 101000),
        ("l", "b", 6, 104999), ("r", "b", 7, 105000), ("l", "b", 8, 104999), ("l", "b", 9, 105000),
        ("l", "a", 10, 120000), ("r", "a", 11, 109999), ("r", "a", 12, 120000),
        ("l", "c", 13, 117000), ("l", "d", 14, 124998),
    ]  # fmt: skip
    assert sides(query, rows) == sorted([(1, 2), (10, 12), (14, None), (3, 2), (9, 7)], key=str)


MIXED = [
    ("a", 1, 3000), ("a", 2, 1000), ("b", 3, 2000), ("a", 4, 2500), ("b", 5, 500), ("a", 6, 4000),
    ("a", 7, 2500), ("a", 8, 9000), ("b", 9, 6000), ("a", 10, 5500), ("a", 11, 7000),
    ("b", 12, 8000), ("a", 13, 15000), ("a", 14, 12000), ("b", 15, 14000), ("a", 16, 9999),
    ("a", 17, 10500), ("a", 18, 30000),
]  # fmt: skip
"""Rows out of order, some of which come after windows that end with their slice."""
LISTS = {
    "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND)": {
        "a": [
            (0, "1,2,4,6,7", "0-1-2-3"), (5000, "8,10,11", "4-5"), (10000, "14,17", "7-8"),
            (15000, "13", "6"), (30000, "18", "9"),
        ],
        "b": [(0, "3,5", "1-2"), (5000, "9,12", "4-6"), (10000, "15", "7")],
    },
    "CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)": {
        "a": [
            (0, "2", "1"), (0, "2,1,4,7", "1-0-2-3"), (0, "2,1,4,7,6,10", "1-0-2-3-5"),
            (6000, "11", "5"), (6000, "11,8", "5-4"), (6000, "11,8,16,17", "5-4-8"),
            (12000, "14", "7"), (12000, "14,13", "7-6"), (12000, "14,13", "7-6"),
            *[(30000, "18", "9")] * 3,
        ],
        "b": [
            (0, "5", "2"), *[(0, "5,3", "2-1")] * 2, (6000, "9", "4"),
            *[(6000, "9,12", "4-6")] * 2, *[(12000, "15", "7")] * 2,
        ],
    },
    "SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND)": {
        "a": [
            (1000, "1,2,4,6,7,10,8,11,16,14,17", "0-1-2-3-5-4-8-7"), (15000, "13", "6"),
            (30000, "18", "9"),
        ],
        "b": [(500, "3,5", "1-2"), (6000, "9,12", "4-6"), (14000, "15", "7")],
    },
}  # fmt: skip
TWO_TEXTS = "LISTAGG(CAST(v AS STRING)), LISTAGG(DISTINCT CAST(v / 2 AS STRING), '-')"


@pytest.mark.parametrize("window", LISTS)
def test_lists_of_windows_are_in_the_order_of_slices(late, window):
    grouped = f"FROM TABLE({window}) GROUP BY k, window_start, window_end"
    found = late(f"SELECT k, window_start, {TWO_TEXTS} {grouped}", MIXED, 5000)
    # The texts of DISTINCT are in the order of a hash map where PyFlink aggregates in two phases.
    found = [(*row, sorted(text.split("-"))) for *row, text in added(found)]
    expected = [
        (key, *row, sorted(text.split("-")))
        for key, rows in LISTS[window].items()
        for *row, text in rows
    ]
    assert [list(row) for row in found] == sorted(map(list, expected))


def test_lists_of_hopping_windows_begin_with_the_last_slice(late):
    hop = "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '4' SECOND)"
    grouped = f"FROM TABLE({hop}) GROUP BY window_start, window_end"
    found = late(f"SELECT window_start, LISTAGG(CAST(v AS STRING)) {grouped}", MIXED, 5000)
    assert added(found) == [
        (-2000, "2,5"), (0, "1,3,4,7,2,5"), (2000, "6,10,1,3,4,7"), (4000, "9,11,6,10"),
        (6000, "8,12,9,11"), (8000, "17,8,12,16"), (10000, "14,17"), (12000, "13,15,14"),
        (14000, "13,15"), (28000, "18"), (30000, "18"),
    ]  # fmt: skip
