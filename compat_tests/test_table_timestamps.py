"""Timestamps of streams that become tables, and of tables that become streams."""

from __future__ import annotations

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import KeySelector, ProcessFunction, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows
from pyflink.table import Schema

from compat_tests.running import collect, collect_sorted

TIMES = [1000, 9000, 25000]
ROW = Types.ROW_NAMED(["t", "s"], [Types.LONG(), Types.STRING()])


class OwnTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


def timed(env, kind=ROW, make=Row):
    elements = env.from_collection(
        [make(t, s) for t, s in ((1000, "a"), (9000, "b"), (25000, "c"))], kind
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return elements.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(OwnTime()))


NO_TIMESTAMP = -(2**63)


class NamedTimes(ProcessFunction):
    def __init__(self, name):
        self.name = name

    def process_element(self, value, ctx):
        yield self.name, ctx.timestamp(), tuple(map(str, value))


def with_rowtime(t_env, env, path):
    schema = (
        Schema.new_builder()
        .column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime")
        .watermark("rt", "SOURCE_WATERMARK()")
        .build()
    )
    t_env.create_temporary_view(path, t_env.from_data_stream(timed(env), schema))
    return t_env.from_path(path)


ROWTIMES = [("1000", "Instant<1, 0>"), ("9000", "Instant<9, 0>"), ("25000", "Instant<25, 0>")]


def test_each_reader_of_a_table_has_the_timestamps_of_its_rows(t_env, env):
    table = with_rowtime(t_env, env, "src_of_readers")
    counts = t_env.sql_query("SELECT t, COUNT(*) FROM src_of_readers GROUP BY t")
    own = Types.ROW([Types.LONG(), Types.STRING(), Types.INSTANT()])
    readers = [
        t_env.to_changelog_stream(counts).process(NamedTimes("counts")),
        t_env.to_data_stream(table).process(NamedTimes("stream")),
        t_env.to_append_stream(table, own).process(NamedTimes("append")),
        t_env.to_changelog_stream(table).process(NamedTimes("changelog")),
        t_env.to_data_stream(table).process(NamedTimes("again")),
    ]
    expected = []
    for number, (time, rowtime) in enumerate(ROWTIMES):
        row = (time, "abc"[number], rowtime)
        names = ("stream", "append", "changelog", "again")
        expected += [(name, int(time), row) for name in names]
        expected.append(("counts", NO_TIMESTAMP, (time, "1")))
    assert collect_sorted(readers[0].union(*readers[1:])) == sorted(expected)


class FirstField(KeySelector):
    def get_key(self, value):
        return value[0]


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().start, [str(row[2]) for row in elements]


def test_windows_of_a_table_with_another_reader(t_env, env):
    table = with_rowtime(t_env, env, "src_of_windows")
    other = t_env.to_data_stream(table).filter(lambda row: False).map(lambda row: (0, [""]))
    windows = (
        t_env.to_data_stream(table)
        .key_by(FirstField())
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .process(Contents())
    )
    assert collect_sorted(other.union(windows)) == [
        (int(time), [rowtime]) for time, rowtime in ROWTIMES
    ]


def times(stream):
    """The timestamps of a stream's elements."""
    return [time for _, time, _ in collect_sorted(stream.process(NamedTimes("")))]


def test_rows_of_a_query_without_rowtime_have_no_timestamps(t_env, env):
    with_rowtime(t_env, env, "src_of_queries")
    query = t_env.sql_query("SELECT t FROM src_of_queries")
    assert times(t_env.to_data_stream(query)) == [NO_TIMESTAMP] * 3
    query = t_env.sql_query("SELECT t, COUNT(*) OVER (ORDER BY rt) FROM src_of_queries")
    assert times(t_env.to_data_stream(query)) == [NO_TIMESTAMP] * 3


def test_rows_of_a_stream_keep_their_timestamps(t_env, env):
    table = t_env.from_data_stream(timed(env))
    assert times(t_env.to_data_stream(table)) == TIMES
    assert times(t_env.to_changelog_stream(table)) == [NO_TIMESTAMP] * 3
    declared = Schema.new_builder().column("t", "BIGINT").column("s", "STRING").build()
    table = t_env.from_data_stream(timed(env), declared)
    assert times(t_env.to_data_stream(table)) == TIMES
    kind = Types.TUPLE([Types.LONG(), Types.STRING()])
    tuples = t_env.from_data_stream(timed(env, kind, lambda *fields: fields))
    assert times(t_env.to_data_stream(tuples)) == [NO_TIMESTAMP] * 3


class Twice(ProcessFunction):
    """Emits two rows for each element, and looks at the timestamp in between."""

    def process_element(self, value, ctx):
        yield Row(value[0], f"{value[1]}1 {ctx.timestamp()}")
        yield Row(value[0], f"{value[1]}2 {ctx.timestamp()}")


def test_rows_of_before_do_not_change_the_timestamps_of_later_ones(t_env, env):
    rows = timed(env).process(Twice(), ROW)
    schema = (
        Schema.new_builder()
        .column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime")
        .watermark("rt", "SOURCE_WATERMARK()")
        .build()
    )
    t_env.create_temporary_view("src_of_ranks", t_env.from_data_stream(rows, schema))
    ranks = t_env.sql_query(
        "SELECT t, s, rt, place FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC) AS place "
        "FROM src_of_ranks) WHERE place <= 2"
    )
    found = collect(t_env.to_changelog_stream(ranks).process(NamedTimes("")))
    assert {(time, int(t), s) for _, time, (t, s, *_) in found} == {
        (time, time, f"{letter}{number} {time}")
        for time, letter in zip(TIMES, "abc")
        for number in (1, 2)
    }
