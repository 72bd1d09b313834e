"""Late rows in all kinds of windows, in the Table API, in Python functions and in streams."""

from __future__ import annotations

from itertools import product

import pytest
from pyflink.common import Types
from pyflink.datastream import ProcessFunction
from pyflink.table import AggregateFunction, DataTypes, Schema
from pyflink.table.expressions import UNBOUNDED_RANGE, UNBOUNDED_ROW, col, lit, row_interval
from pyflink.table.udf import udaf
from pyflink.table.window import Over, Session, Slide, Tumble

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


class Numbers(AggregateFunction):
    """How many numbers there are, and their sum."""

    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, number):
        accumulator[0] += 1
        accumulator[1] += number

    def merge(self, accumulator, others):
        for count, total in others:
            accumulator[0] += count
            accumulator[1] += total

    def get_value(self, accumulator):
        return accumulator[0] * 1000 + accumulator[1]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.INT())

    def get_result_type(self):
        return DataTypes.INT()


numbers = udaf(Numbers())
pandas_numbers = udaf(
    lambda v: int(len(v) * 1000 + v.sum()), result_type=DataTypes.INT(), func_type="pandas"
)


@pytest.fixture
def late(t_env, tmp_path):
    """A function that runs a query, or what a function makes, over `e`, a table of rows."""
    t_env.get_config().set(
        "python.fn-execution.bundle.size", "1"
    )  # in PyFlink its rows are on time
    t_env.create_temporary_function("numbers", numbers)
    t_env.create_temporary_function("pandas_numbers", pandas_numbers)

    def run(query, rows=ROWS, delay=0):
        create_late_table(t_env, tmp_path, rows, delay)
        made = query(t_env) if callable(query) else query
        found = timed_changes(t_env.sql_query(made) if isinstance(made, str) else made)
        assert {kind for kind, *_ in found} <= {"+I"}
        return in_order(tuple(row) for _, *row in found)

    return run


SIZES = {
    "TUMBLE": "INTERVAL '5' SECOND",
    "HOP": "INTERVAL '2' SECOND, INTERVAL '4' SECOND",
    "SESSION": "INTERVAL '2' SECOND",
}
SUMS = {
    "TUMBLE": [
        ("a", 0, 1001), ("a", 5000, 1002), ("b", 5000, 1003), ("d", 5000, 1005),
        ("d", 20000, 1008), ("f", 20000, 1009), ("g", 20000, 1010), ("b", 20000, 1012),
    ],
    "HOP": [
        ("a", -2000, 1001), ("a", 0, 1001), ("a", 2000, 1002), ("b", 2000, 1003),
        ("c", 2000, 1004), ("d", 2000, 1005), ("a", 4000, 1002), ("b", 4000, 1003),
        ("c", 4000, 1004), ("d", 4000, 1005), ("d", 18000, 1008), ("f", 18000, 1009),
        ("g", 18000, 1010), ("a", 18000, 1011), ("b", 18000, 1012), ("d", 20000, 1008),
        ("f", 20000, 1009), ("g", 20000, 1010), ("b", 20000, 1012),
    ],
    "SESSION": [
        ("a", 1000, 2003), ("b", 3000, 1003), ("a", 6000, 6043), ("a", 26000, 3045),
        ("a", 40000, 1022),
    ],
}  # fmt: skip
FUNCTIONS = {
    "built in": "CAST(COUNT(*) * 1000 + SUM(v) AS INT)",
    "python": "numbers(v)",
    "pandas": "pandas_numbers(v)",
}


def rows_of(kind):
    return SESSIONS if kind == "SESSION" else ROWS


def in_order(found):
    return sorted(found, key=str)


CASES = [case for case in product(SIZES, FUNCTIONS) if case != ("SESSION", "pandas")]


@pytest.mark.parametrize(("kind", "function"), CASES)
def test_groups_by_windows(late, kind, function):
    window = f"ts, {SIZES[kind]}"
    query = (
        f"SELECT k, {kind}_START({window}), {FUNCTIONS[function]} FROM e "
        f"GROUP BY k, {kind}({window})"
    )
    assert late(query, rows_of(kind)) == in_order(SUMS[kind])


def test_sessions_have_no_functions_of_series(late):
    with pytest.raises(Exception, match="Session Group Window is currently not supported for Pan"):
        late("SELECT pandas_numbers(v) FROM e GROUP BY SESSION(ts, INTERVAL '2' SECOND)")


def test_groups_by_hopping_windows_that_are_no_multiple_of_their_step(late):
    window = "ts, INTERVAL '2' SECOND, INTERVAL '5' SECOND"
    query = f"SELECT HOP_START({window}), COUNT(*), SUM(v) FROM e GROUP BY HOP({window})"
    assert late(query) == in_order(
        [
            (-2000, 1, 1), (0, 1, 1), (2000, 4, 14), (4000, 4, 14), (16000, 5, 50), (18000, 5, 50),
            (20000, 4, 39),
        ]
    )  # fmt: skip


API = {
    "TUMBLE": Tumble.over(lit(5).seconds),
    "HOP": Slide.over(lit(4).seconds).every(lit(2).seconds),
    "SESSION": Session.with_gap(lit(2).seconds),
}


@pytest.mark.parametrize(("kind", "function"), CASES)
def test_windows_of_the_table_api(late, kind, function):
    values = {
        "built in": (col("v").count * 1000 + col("v").sum).cast(DataTypes.INT()),
        "python": numbers(col("v")),
        "pandas": pandas_numbers(col("v")),
    }

    def query(t_env):
        table = t_env.from_path("e").window(API[kind].on(col("ts")).alias("w"))
        grouped = table.group_by(col("k"), col("w"))
        return grouped.select(col("k"), col("w").start, values[function])

    assert late(query, rows_of(kind)) == in_order(SUMS[kind])


FRAMES = {
    "range": (
        Over.partition_by(col("k")).order_by(col("ts")).preceding(UNBOUNDED_RANGE),
        [(1, 1), (2, 3), (5, 5), (9, 14), (11, 14), (13, 27), (15, 42)],
    ),
    "rows": (
        Over.partition_by(col("k")).order_by(col("ts")).preceding(UNBOUNDED_ROW),
        [(1, 1), (2, 3), (5, 5), (9, 14), (11, 14), (13, 27), (15, 42)],
    ),
    "time": (
        Over.partition_by(col("k")).order_by(col("ts")).preceding(lit(10).seconds),
        [
            (1, 1), (2, 3), (5, 5), (7, 7), (6, 13), (8, 8), (9, 14), (11, 11), (13, 13),
            (14, 14), (15, 15), (16, 16),
        ],
    ),
    "two rows": (
        Over.partition_by(col("k")).order_by(col("ts")).preceding(row_interval(2)),
        [
            (1, 1), (2, 3), (5, 5), (7, 10), (6, 15), (8, 21), (9, 14), (11, 25), (13, 27),
            (14, 33), (15, 37),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_over_in_the_table_api(late, frame):
    window, expected = FRAMES[frame]

    def query(t_env):
        table = t_env.from_path("e").over_window(window.alias("w"))
        return table.select(col("v"), col("v").sum.over(col("w")))

    assert late(query, OVER) == in_order(expected)


def test_pandas_functions_with_over(late):
    window, expected = FRAMES["time"]
    total = udaf(lambda v: int(v.sum()), result_type=DataTypes.INT(), func_type="pandas")

    def query(t_env):
        table = t_env.from_path("e").over_window(window.alias("w"))
        return table.select(col("v"), total(col("v")).over(col("w")))

    assert late(query, OVER) == in_order(expected)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("", [(1, 1), (2, 3), (5, 8), (9, 17), (11, 28), (13, 41), (15, 56)]),
        (
            "RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW",
            [(1, 1), (2, 3), (5, 5), (9, 14), (11, 11), (13, 13), (15, 15)],
        ),
        (
            "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            [(1, 1), (2, 3), (5, 8), (9, 16), (11, 25), (13, 33), (15, 39)],
        ),
    ],
)
def test_over_all_rows(late, frame, expected):
    assert late(f"SELECT v, SUM(v) OVER (ORDER BY ts {frame}) FROM e", OVER) == in_order(expected)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("ROW_NUMBER()", [(1, 1), (2, 2), (5, 1), (9, 2), (11, 3), (13, 3), (15, 4)]),
        ("LAG(v)", [(1, None), (2, 1), (5, None), (9, 5), (11, 2), (13, 9), (15, 13)]),
        ("FIRST_VALUE(v)", [(1, 1), (2, 1), (5, 5), (9, 5), (11, 1), (13, 5), (15, 5)]),
    ],
)
def test_functions_of_places(late, function, expected):
    query = f"SELECT v, {function} OVER (PARTITION BY k ORDER BY ts) FROM e"
    assert late(query, OVER) == in_order(expected)


TABLES = {
    "TUMBLE": "TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND))",
    "HOP": "TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '4' SECOND))",
    "CUMULATE": (
        "TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))"
    ),
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("TUMBLE", [(0, 4, 11), (20000, 4, 39)]),
        ("HOP", [(0, 10, 30), (20000, 9, 89)]),
        ("CUMULATE", [(0, 7, 30), (20000, 10, 100)]),
    ],
)
def test_windows_of_windows(late, kind, expected):
    """Rows of ended windows are not late in windows that are larger."""
    inner = (
        f"SELECT k, window_time AS t, SUM(v) AS s FROM {TABLES[kind]} "
        "GROUP BY k, window_start, window_end, window_time"
    )
    query = (
        "SELECT window_start, COUNT(*), SUM(s) FROM "
        f"TABLE(TUMBLE(({inner}), DESCRIPTOR(t), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert late(query) == in_order(expected)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "TUMBLE",
            [(0, "a", 1), (5000, "b", 3), (5000, "d", 5), (20000, "b", 12), (20000, "g", 10)],
        ),
        (
            "HOP",
            [
                (-2000, "a", 1), (0, "a", 1), (2000, "d", 5), (2000, "c", 4), (4000, "d", 5),
                (4000, "c", 4), (18000, "b", 12), (18000, "a", 11), (20000, "b", 12),
                (20000, "g", 10),
            ],
        ),
        (
            "CUMULATE",
            [
                (0, "a", 1), (0, "a", 1), (0, "a", 9), (0, "e", 7), (18000, "b", 12),
                (18000, "a", 11), (18000, "b", 12), (18000, "a", 11),
            ],
        ),
    ],
)  # fmt: skip
def test_the_best_groups_of_windows(late, kind, expected):
    inner = (
        f"SELECT k, window_start, window_end, SUM(v) AS s FROM {TABLES[kind]} "
        "GROUP BY k, window_start, window_end"
    )
    query = (
        "SELECT window_start, k, s FROM (SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY window_start, window_end ORDER BY s DESC) AS n FROM ({inner})) "
        "WHERE n <= 2"
    )
    assert late(query) == in_order(expected)


@pytest.mark.parametrize("order", ["ASC", "DESC"])
@pytest.mark.parametrize("kind", ["TUMBLE", "HOP"])
def test_one_row_of_a_key_in_a_window(late, kind, order):
    numbered = (
        "SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end "
        f"ORDER BY ts {order}) AS n FROM {TABLES[kind]}"
    )
    found = late(f"SELECT k, window_start, 1000 + v FROM ({numbered}) WHERE n = 1")
    assert found == in_order(SUMS[kind])


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_one_row_of_a_key_in_a_part_of_a_window(late, order):
    numbered = (
        "SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end "
        f"ORDER BY ts {order}) AS n FROM {TABLES['CUMULATE']}"
    )
    found = late(f"SELECT k, window_end, v FROM ({numbered}) WHERE n = 1")
    assert [row for row in found if row[0] == "a"] == in_order(
        [
            ("a", 2000, 1), ("a", 4000, 1), ("a", 6000, 6 if order == "ASC" else 2),
            ("a", 22000, 11), ("a", 24000, 11),
        ]
    )  # fmt: skip


def test_grouping_sets_of_windows(late):
    query = (
        f"SELECT window_start, k, COUNT(DISTINCT v), SUM(v) FROM {TABLES['TUMBLE']} "
        "GROUP BY window_start, window_end, GROUPING SETS ((k), ())"
    )
    assert late(query) == in_order(
        [
            *((start, k, 1, v - 1000) for k, start, v in SUMS["TUMBLE"]),
            (0, None, 1, 1), (5000, None, 3, 10), (20000, None, 4, 39),
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "TUMBLE",
            [(0, 7, 28), (5000, 5, 50), (10000, 3, 46), (15000, 1, 13), (30000, 1, 18)],
        ),
        (
            "HOP",
            [
                (-2000, 2, 7), (0, 6, 22), (2000, 5, 21), (4000, 4, 36), (6000, 4, 40),
                (8000, 2, 20), (10000, 2, 31), (12000, 3, 42), (14000, 2, 28), (28000, 1, 18),
                (30000, 1, 18),
            ],
        ),
        (
            "CUMULATE",
            [
                (0, 2, 7), (0, 6, 22), (0, 7, 28), (6000, 2, 20), (6000, 4, 40), (6000, 4, 40),
                (12000, 1, 14), (12000, 3, 42), (12000, 3, 42), *[(30000, 1, 18)] * 3,
            ],
        ),
    ],
)  # fmt: skip
def test_watermarks_with_a_delay(late, kind, expected):
    query = (
        f"SELECT window_start, COUNT(*), SUM(v) FROM {TABLES[kind]} "
        "GROUP BY window_start, window_end"
    )
    assert late(query, MIXED, 2000) == in_order(expected)


def test_windows_of_rows_with_over(late):
    inner = "SELECT ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM e"
    query = (
        "SELECT window_start, COUNT(*), SUM(s) FROM "
        f"TABLE(TUMBLE(({inner}), DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert late(query) == in_order([(0, 1, 1), (5000, 2, 8), (20000, 3, 35)])


def test_windows_of_first_rows(late):
    inner = (
        "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n "
        "FROM e) WHERE n = 1"
    )
    query = (
        "SELECT window_start, COUNT(*), SUM(v) FROM "
        f"TABLE(TUMBLE(({inner}), DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert late(query) == in_order([(0, 1, 1), (5000, 2, 8), (20000, 2, 19)])


def test_rows_that_are_not_late(late):
    query = "SELECT v FROM e WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)"
    assert late(query) == in_order([(1,), (2,), (5,), (8,), (10,), (12,)])


@pytest.mark.parametrize(
    ("rows", "delay", "within", "expected"),
    [
        (OVER, 0, "", [(1, 2), (2, 11), (5, 9), (9, 13), (13, 15)]),
        (OVER, 0, "WITHIN INTERVAL '5' SECOND", [(1, 2), (5, 9)]),
        (ROWS, 0, "", [(1, 2), (5, 8)]),
        (MIXED, 2000, "", [(1, 6), (12, 15), (13, 18), (3, 12), (4, 7), (6, 8), (8, 13)]),
        (MIXED, 2000, "WITHIN INTERVAL '3' SECOND", [(1, 6), (4, 7)]),
    ],
)
def test_patterns(late, rows, delay, within, expected):
    query = (
        "SELECT x, y FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS x, "
        f"B.v AS y AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) {within} DEFINE B AS B.v > A.v)"
    )
    assert late(query, rows, delay) == in_order(expected)


@pytest.mark.parametrize("fires", ["early-fire", "late-fire"])
def test_windows_of_tables_give_results_at_their_end_only(late, t_env, fires):
    t_env.get_config().set(f"table.exec.emit.{fires}.enabled", "true")
    t_env.get_config().set(f"table.exec.emit.{fires}.delay", "1 s")
    query = f"SELECT SUM(v) FROM {TABLES['TUMBLE']} GROUP BY window_start, window_end"
    with pytest.raises(Exception, match="doesn't support early-fire and late-fire configuration"):
        late(query)


# -- streams of late rows ------------------------------------------------------------------------


class Moments(ProcessFunction):
    """The number of each row, and by how much (ms) the watermark is ahead of it."""

    def process_element(self, value, ctx):
        watermark = ctx.timer_service().current_watermark()
        yield value[1], max(watermark - ctx.timestamp(), -60_000)


@pytest.fixture
def stream(env, t_env, tmp_path):
    env.get_config().set_auto_watermark_interval(0)
    create_late_table(t_env, tmp_path)
    return t_env.to_data_stream(t_env.from_path("e"))


def collected(stream):
    with stream.execute_and_collect() as results:
        return list(results)


def test_elements_of_late_rows(stream):
    kind = Types.TUPLE([Types.INT(), Types.LONG()])
    assert collected(stream.process(Moments(), kind)) == [
        (1, -60000), (2, -4000), (3, 0), (4, 1), (5, -1), (6, 4501), (7, 5000), (8, -14999), (9, 0),
        (10, -1), (11, 2), (12, -1),
    ]  # fmt: skip


def test_tables_of_streams_of_late_rows(stream, t_env):
    schema = (
        Schema.new_builder()
        .column("v", "INT")
        .column_by_metadata("t", "TIMESTAMP_LTZ(3)", "rowtime")
        .watermark("t", "SOURCE_WATERMARK()")
        .build()
    )
    t_env.create_temporary_view("s", t_env.from_data_stream(stream, schema))
    query = (
        "SELECT COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(t), INTERVAL '5' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert added(timed_changes(t_env.sql_query(query))) == [(1, 1), (3, 10), (4, 39)]


def test_tables_of_changelogs_of_late_rows(t_env, tmp_path):
    create_late_table(t_env, tmp_path)
    schema = (
        Schema.new_builder()
        .column("v", "INT")
        .column("ts", "TIMESTAMP(3)")
        .watermark("ts", "SOURCE_WATERMARK()")
        .build()
    )
    stream = t_env.to_changelog_stream(t_env.from_path("e"))
    t_env.create_temporary_view("s", t_env.from_changelog_stream(stream, schema))
    query = (
        "SELECT COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
        "GROUP BY window_start, window_end"
    )
    assert added(timed_changes(t_env.sql_query(query))) == [(1, 1), (3, 10), (4, 39)]
