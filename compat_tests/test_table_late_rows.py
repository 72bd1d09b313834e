"""Rows of tables that come later than the watermark of their time."""

from __future__ import annotations

import pytest

from compat_tests.late_rows import (
    MIXED,
    OVER,
    ROWS,
    SESSIONS,
    added,
    create_late_table,
    timed_changes,
)

pytestmark = [pytest.mark.one_attempt("a restart sets the watermark back"), pytest.mark.timed]


@pytest.fixture
def late(t_env, tmp_path):
    """A function that runs a query over `e`, a table of rows."""

    def run(query, rows=ROWS, delay=0):
        create_late_table(t_env, tmp_path, rows, delay)
        return timed_changes(t_env.sql_query(query))

    return run


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
