"""Windows of time: table functions, groups, and those of the DSL."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import UNBOUNDED_RANGE, col, lit, row_interval
from pyflink.table.window import Over, Session, Slide, Tumble

from compat_tests.tables import csv_table, last, query, rows

LINES = """a,1,2024-01-01 00:00:01.000
b,2,2024-01-01 00:00:03.000
a,3,2024-01-01 00:00:12.000
a,4,2024-01-01 00:00:09.000
b,5,2024-01-01 00:00:31.000
"""
TUMBLE = "TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


def at(second):
    return datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=second)  # noqa: DTZ001


@pytest.fixture
def w(t_env, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(LINES)
    t_env.execute_sql(
        "CREATE TABLE w (k STRING, v INT, ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    return t_env


def test_tumble(w):
    text = f"SELECT window_start, window_end, COUNT(*), SUM(v) FROM {TUMBLE}"
    assert query(w, f"{text} GROUP BY window_start, window_end") == [
        (at(0), at(10), 3, 7), (at(10), at(20), 1, 3), (at(30), at(40), 1, 5),
    ]  # fmt: skip
    text = f"SELECT k, window_start, SUM(v) FROM {TUMBLE} GROUP BY k, window_start, window_end"
    assert sorted(query(w, text)) == [
        ("a", at(0), 5), ("a", at(10), 3), ("b", at(0), 2), ("b", at(30), 5),
    ]  # fmt: skip


def test_rows_with_their_windows(w):
    text = f"SELECT v, window_start, window_end, window_time FROM {TUMBLE} WHERE v > 3"
    assert query(w, text) == [
        (4, at(0), at(10), at(9.999)), (5, at(30), at(40), at(39.999)),
    ]  # fmt: skip


def test_hop_and_cumulate(w):
    hop = "TABLE(HOP(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
    text = f"SELECT window_start, SUM(v) FROM {hop} GROUP BY window_start, window_end"
    assert query(w, text) == [
        (at(-5), 3), (at(0), 7), (at(5), 7), (at(10), 3), (at(25), 5), (at(30), 5),
    ]  # fmt: skip
    cumulate = hop.replace("HOP", "CUMULATE").replace("'10'", "'20'")
    text = f"SELECT window_start, window_end, SUM(v) FROM {cumulate}"
    assert query(w, f"{text} GROUP BY window_start, window_end") == [
        (at(0), at(5), 3), (at(0), at(10), 7), (at(0), at(15), 10), (at(0), at(20), 10),
        (at(20), at(35), 5), (at(20), at(40), 5),
    ]  # fmt: skip


def test_session(w):
    session = "TABLE(SESSION(TABLE w PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
    text = f"SELECT k, window_start, window_end, SUM(v) FROM {session}"
    assert query(w, f"{text} GROUP BY k, window_start, window_end") == [
        ("a", at(1), at(6), 1), ("b", at(3), at(8), 2), ("a", at(9), at(17), 7),
        ("b", at(31), at(36), 5),
    ]  # fmt: skip


SESSIONS = "TABLE(SESSION(TABLE w PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"


def test_rows_with_their_sessions(w):
    text = f"SELECT k, v, window_start, window_end, window_time FROM {SESSIONS}"
    assert sorted(query(w, text)) == [
        ("a", 1, at(1), at(6), at(5.999)), ("a", 3, at(9), at(17), at(16.999)),
        ("a", 4, at(9), at(17), at(16.999)), ("b", 2, at(3), at(8), at(7.999)),
        ("b", 5, at(31), at(36), at(35.999)),
    ]  # fmt: skip
    text = (
        "SELECT v, window_start FROM TABLE(SESSION(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
    )
    assert sorted(query(w, text)) == [
        (1, at(1)), (2, at(1)), (3, at(9)), (4, at(9)), (5, at(31)),
    ]  # fmt: skip


def test_the_first_rows_of_sessions(w):
    first = (
        "SELECT k, v, window_start, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
        f"window_start, window_end, k ORDER BY v DESC) AS r FROM {SESSIONS}) WHERE r <= 1"
    )
    assert sorted(query(w, f"SELECT k, v FROM ({first})")) == [
        ("a", 1), ("a", 4), ("b", 2), ("b", 5),
    ]  # fmt: skip
    text = f"SELECT k, SUM(v) FROM ({first}) GROUP BY k, window_start, window_end"
    assert sorted(query(w, text)) == [("a", 1), ("a", 4), ("b", 2), ("b", 5)]


def test_groups_that_are_no_sessions(w):
    text = f"SELECT window_start, window_end, COUNT(*), SUM(v) FROM {SESSIONS}"
    assert sorted(last(w, f"{text} GROUP BY window_start, window_end")) == [
        (at(1), at(6), 1, 1), (at(3), at(8), 1, 2), (at(9), at(17), 2, 7),
        (at(31), at(36), 1, 5),
    ]  # fmt: skip
    text = f"SELECT v > 3, window_start, COUNT(*) FROM {SESSIONS}"
    assert sorted(last(w, f"{text} GROUP BY v > 3, window_start, window_end")) == [
        (False, at(1), 1), (False, at(3), 1), (False, at(9), 1), (True, at(9), 1),
        (True, at(31), 1),
    ]  # fmt: skip


def test_rows_that_do_not_count_make_no_sessions(t_env, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("".join(f"a,{v},2024-01-01 00:00:{3 * v:02d}\n" for v in (1, 2, 3)))
    t_env.execute_sql(
        "CREATE TABLE w (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    text = f"SELECT k, window_start, window_end, COUNT(*) FROM {SESSIONS} WHERE v <> 2"
    assert query(t_env, f"{text} GROUP BY k, window_start, window_end") == [
        ("a", at(3), at(8), 1), ("a", at(9), at(14), 1),
    ]  # fmt: skip
    of_sessions = text.replace("v <> 2", "EXTRACT(SECOND FROM window_end) > 9")
    assert query(t_env, f"{of_sessions} GROUP BY k, window_start, window_end") == [
        ("a", at(3), at(14), 3)
    ]
    rows_left = f"SELECT v, window_start, window_end FROM {SESSIONS} WHERE v <> 2"
    assert query(t_env, rows_left) == [(1, at(3), at(14)), (3, at(3), at(14))]


def test_joins_of_sessions(w):
    text = (
        f"SELECT a.k, a.v, b.v FROM (SELECT * FROM {SESSIONS}) a JOIN (SELECT * FROM {SESSIONS}) b "
        "ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k "
        "WHERE a.v < b.v"
    )
    assert query(w, text) == [("a", 3, 4)]


def test_groups_by_windows(w):
    text = (
        "SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), TUMBLE_END(ts, INTERVAL '10' SECOND), "
        "TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND), SUM(v) FROM w "
        "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
    )
    assert sorted(query(w, text)) == [
        ("a", at(0), at(10), at(9.999), 5), ("a", at(10), at(20), at(19.999), 3),
        ("b", at(0), at(10), at(9.999), 2), ("b", at(30), at(40), at(39.999), 5),
    ]  # fmt: skip
    text = (
        "SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND), COUNT(*) FROM w "
        "GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
    )
    assert query(w, text) == [
        (at(-5), 2), (at(0), 3), (at(5), 2), (at(10), 1), (at(25), 1), (at(30), 1),
    ]  # fmt: skip
    text = (
        "SELECT k, SESSION_START(ts, INTERVAL '5' SECOND), SESSION_END(ts, INTERVAL '5' SECOND), "
        "COUNT(*) FROM w GROUP BY k, SESSION(ts, INTERVAL '5' SECOND)"
    )
    assert query(w, text) == [
        ("a", at(1), at(6), 1), ("b", at(3), at(8), 1), ("a", at(9), at(17), 2),
        ("b", at(31), at(36), 1),
    ]  # fmt: skip


def test_windows_of_windows(w):
    text = (
        "SELECT TUMBLE_START(rt, INTERVAL '20' SECOND), SUM(s) FROM ("
        "SELECT TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS rt, SUM(v) AS s FROM w "
        "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)) GROUP BY TUMBLE(rt, INTERVAL '20' SECOND)"
    )
    assert query(w, text) == [(at(0), 10), (at(20), 5)]


@pytest.mark.pyflink_bug("loses the row before local midnight")
def test_windows_in_local_time(t_env, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("1,1704120000000\n2,1704124800000\n3,1704135600000\n")
    t_env.get_config().set_local_timezone("Asia/Shanghai")
    t_env.execute_sql(
        "CREATE TABLE l (v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    text = (
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE l, DESCRIPTOR(ts), "
        "INTERVAL '1' DAY)) GROUP BY window_start, window_end"
    )
    assert query(t_env, text) == [(at(0), 1), (at(86400), 2)]


def test_windows_of_the_dsl(w):
    table = w.from_path("w")
    tumble = table.window(Tumble.over(lit(10).seconds).on(col("ts")).alias("x"))
    grouped = tumble.group_by(col("x"), col("k"))
    found = rows(
        grouped.select(col("k"), col("x").start, col("x").end, col("x").rowtime, col("v").sum)
    )
    assert sorted(found) == [
        ("a", at(0), at(10), at(9.999), 5), ("a", at(10), at(20), at(19.999), 3),
        ("b", at(0), at(10), at(9.999), 2), ("b", at(30), at(40), at(39.999), 5),
    ]  # fmt: skip
    slide = table.window(Slide.over(lit(10).seconds).every(lit(5).seconds).on(col("ts")).alias("x"))
    assert rows(slide.group_by(col("x")).select(col("x").start, col("v").sum)) == [
        (at(-5), 3), (at(0), 7), (at(5), 7), (at(10), 3), (at(25), 5), (at(30), 5),
    ]  # fmt: skip
    session = table.window(Session.with_gap(lit(5).seconds).on(col("ts")).alias("x"))
    found = rows(session.group_by(col("x"), col("k")).select(col("k"), col("x").end, col("v").sum))
    assert sorted(found) == [
        ("a", at(6), 1), ("a", at(17), 7), ("b", at(8), 2), ("b", at(36), 5),
    ]  # fmt: skip


def test_a_window_needs_a_time_attribute(w):
    with pytest.raises(Exception, match="time attribute"):
        query(w, "SELECT * FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(v), INTERVAL '1' MINUTE))")
    with pytest.raises(Exception, match="must have matching call to group function"):
        query(w, "SELECT TUMBLE_START(ts, INTERVAL '1' SECOND) FROM w "
                 "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)")  # fmt: skip


@pytest.mark.parametrize(("size", "step"), [(5, 2), (7, 3), (6, 4), (9, 6)])
def test_windows_that_are_no_multiple_of_their_step(w, size, step):
    window = Slide.over(lit(size).seconds).every(lit(step).seconds).on(col("ts")).alias("x")
    table = w.from_path("w").window(window).group_by(col("x"), col("k"))
    found = rows(table.select(col("x").start, col("k"), col("v").sum))
    given = [("a", 1, 1), ("b", 2, 3), ("a", 3, 12), ("a", 4, 9), ("b", 5, 31)]
    epoch = 1_704_067_200
    expected = []
    for start in range(-size, 40):
        for key in "ab" if (epoch + start) % step == 0 else "":
            values = [v for k, v, time in given if k == key and start <= time < start + size]
            expected += [(at(start), key, sum(values))] if values else []
    assert sorted(found) == sorted(expected)


PLAIN = """a,1,2024-01-01 00:00:00.500,500
a,2,2024-01-01 00:00:05.000,5000
b,3,2024-01-01 00:00:05.500,5500
a,4,2024-01-01 00:00:07.000,7000
"""


@pytest.fixture
def plain(tmp_path):
    """A function that gives an environment with the table `e`, whose times are no attributes."""

    def create(mode):
        settings = getattr(EnvironmentSettings, mode)()
        t_env = TableEnvironment.create(settings)
        t_env.get_config().set("parallelism.default", "1")
        csv_table(t_env, tmp_path, "e", "k STRING, v INT, ts TIMESTAMP(3), b BIGINT", PLAIN)
        marked = "k STRING, v INT, ts TIMESTAMP(3), b BIGINT, WATERMARK FOR ts AS ts"
        csv_table(t_env, tmp_path, "marked", marked, PLAIN)
        return t_env

    return create


def moment(milliseconds, day="2024-01-01"):
    midnight = datetime.datetime.fromisoformat(day)
    return midnight + datetime.timedelta(milliseconds=milliseconds)


TUMBLED = [("a", 0, 1), ("a", 5000, 6), ("b", 5000, 3)]
FIVE = "INTERVAL '5' SECOND"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT k, TUMBLE_START(ts, {FIVE}), SUM(v) FROM e GROUP BY k, TUMBLE(ts, {FIVE})",
        (
            f"SELECT k, window_start, SUM(v) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), {FIVE})) "
            "GROUP BY k, window_start, window_end"
        ),
    ],
)
def test_windows_of_plain_times_in_batch_mode(plain, text):
    expected = [(k, moment(start), total) for k, start, total in TUMBLED]
    assert sorted(query(plain("in_batch_mode"), text)) == expected
    with pytest.raises(Exception, match=r"time attribute"):
        query(plain("in_streaming_mode"), text)


def test_windows_have_no_proctime_in_batch_mode(plain):
    text = f"SELECT TUMBLE_PROCTIME(ts, {FIVE}) FROM e GROUP BY TUMBLE(ts, {FIVE})"
    with pytest.raises(Exception, match="PROCTIME window property is not supported in batch"):
        query(plain("in_batch_mode"), text)


@pytest.mark.parametrize(("column", "day"), [("ts", "2024-01-01"), ("b", "1970-01-01")])
def test_windows_of_expressions_over_plain_times(plain, column, day):
    def windowed(t_env):
        window = Tumble.over(lit(5).seconds).on(col(column)).alias("w")
        grouped = t_env.from_path("e").window(window).group_by(col("w"), col("k"))
        return rows(grouped.select(col("k"), col("w").start, col("v").sum))

    expected = [(k, moment(start, day), total) for k, start, total in TUMBLED]
    assert sorted(windowed(plain("in_batch_mode"))) == expected
    with pytest.raises(Exception, match="A group window expects a time attribute for grouping"):
        windowed(plain("in_streaming_mode"))


@pytest.mark.parametrize("mode", ["in_batch_mode", "in_streaming_mode"])
@pytest.mark.parametrize("column", ["ts", "b"])
def test_over_windows_of_expressions_need_a_time_attribute(plain, mode, column):
    with pytest.raises(Exception, match="Invalid function call"):
        rows(summed(plain(mode).from_path("e"), column))


def test_rowtime_attributes_are_none_in_batch_mode(plain):
    with pytest.raises(Exception, match="Invalid function call"):
        rows(summed(plain("in_batch_mode").from_path("marked"), "ts"))
    assert rows(summed(plain("in_streaming_mode").from_path("marked"), "ts"))


def summed(table, column):
    order = Over.partition_by(col("k")).order_by(col(column))
    window = order.preceding(UNBOUNDED_RANGE).alias("w")
    return table.over_window(window).select(col("k"), col("v").sum.over(col("w")))


def test_names_of_the_parts_of_a_window(t_env):
    t_env.execute_sql(
        "CREATE TABLE generated (a INT, ts AS TO_TIMESTAMP('2024-01-01 00:00:00'), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
    )
    window = Tumble.over(lit(5).minutes).on(col("ts")).alias("w")
    grouped = t_env.from_path("generated").window(window).group_by(col("w"))
    names = grouped.select(col("w").start, col("w").end, col("a").sum).get_schema()
    assert names.get_field_names() == ["EXPR$0", "EXPR$1", "EXPR$2"]


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (lambda: Session.with_gap(row_interval(2)).on(col("pt")),
         "A session window expects a gap literal of a day-time interval type."),
        (lambda: Tumble.over(row_interval(2)).on(col("v")),
         "A group window expects a time attribute for grouping in a stream environment."),
        (lambda: Slide.over(row_interval(4)).every(lit(1).seconds).on(col("pt")),
         "A sliding window expects the same type of size and slide."),
        (lambda: Slide.over(lit(4).seconds).every(row_interval(1)).on(col("pt")),
         "A sliding window expects the same type of size and slide."),
        (lambda: Tumble.over(row_interval(2)).on(col("ts")),
         "Event-time grouping windows on row intervals are currently not supported."),
    ],
)  # fmt: skip
def test_windows_of_rows_that_are_refused(t_env, tmp_path, window, message):
    columns = "v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts"
    csv_table(t_env, tmp_path, "numbers", columns, "1,2024-01-01 00:00:00\n")

    def sums():
        table = t_env.from_path("numbers").window(window().alias("x"))
        return rows(table.group_by(col("x"), col("v")).select(col("v").sum))

    with pytest.raises(Exception, match=message):
        sums()
