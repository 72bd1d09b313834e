"""Rows with the same primary key, of which the first one stays, or which fail the job."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Row, RowKind, Types
from pyflink_on_spark.table import (
    ChangelogMode,
    EnvironmentSettings,
    Schema,
    StreamTableEnvironment,
    TableEnvironment,
)
from pyflink_on_spark.testing import StreamHarness, local_engine
from tests.table.conflicts import ConflictStrategy, resolved

TTL = 10_000
ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])


def harness(query, strategy=ConflictStrategy.NOTHING, ttl=0):
    """Returns a harness around a query over the changes `a`, into a table with the key `k`."""

    def define(stream):
        t_env = StreamTableEnvironment.create(stream.get_execution_environment())
        t_env.get_config().set("table.exec.state.ttl", f"{ttl} ms")
        schema = (
            Schema.new_builder()
            .column("k", "STRING NOT NULL")
            .column("v", "INT")
            .column_by_metadata("ltz", "TIMESTAMP_LTZ(3)", "rowtime")
            .watermark("ltz", "SOURCE_WATERMARK()")
        )
        table = t_env.from_changelog_stream(stream, schema.build(), ChangelogMode.all())
        t_env.create_temporary_view("a", table)
        return resolved(t_env, t_env.sql_query(query), strategy)

    return StreamHarness(define, 1, input_types=[ROWS])


def push(running, *steps):
    """Returns the changes that rows and watermarks make."""
    before = len(running.values())
    for step in steps:
        if isinstance(step, int):
            running.push_watermark(step)
        else:
            kind, *values = step
            running.push(Row.of_kind(RowKind[kind], *values), 0)
    return [(str(row.get_row_kind()), *row) for row in running.values()[before:]]


PLAIN = "SELECT k, v FROM a"
SUMS = "SELECT k, SUM(v) AS s FROM a GROUP BY k, v"


def test_the_first_row_stays_until_it_goes():
    with harness(PLAIN) as running:
        assert push(running, ("INSERT", "x", 1), ("INSERT", "x", 2)) == []
        assert push(running, 10) == [("+I", "x", 1)]
        assert push(running, ("INSERT", "x", 3), 20) == []
        assert push(running, ("DELETE", "x", 1), 30) == [("-D", "x", 1)]
        assert push(running, ("INSERT", "x", 4), ("DELETE", "x", 4), 40) == []
        assert push(running, ("INSERT", "x", 5), 50) == [("+I", "x", 5)]


def test_a_row_moves_from_one_group_to_another_without_a_conflict():
    with harness(SUMS, ConflictStrategy.ERROR) as running:
        assert push(running, ("INSERT", "x", 1), 10) == [("+I", "x", 1)]
        moved = ("INSERT", "x", 2), ("DELETE", "x", 1)
        assert push(running, *moved, 20) == [("+U", "x", 2)]
        assert push(running, ("INSERT", "x", 2), 30) == [("+U", "x", 4)]


def test_what_is_written_twice_fails_the_job():
    with (
        pytest.raises(Exception, match=r"Conflicting key: \[k=x\]\. Use ON CONFLICT DO NOTHING"),
        harness(PLAIN, ConflictStrategy.ERROR) as running,
    ):
        push(running, ("INSERT", "y", 1), ("INSERT", "x", 1), 10, ("INSERT", "x", 2), 20)


def test_the_row_of_a_key_expires():
    for at, expected in [(TTL - 1, []), (TTL, [("+I", "x", 2)])]:
        with harness(PLAIN, ttl=TTL) as running:
            assert push(running, ("INSERT", "x", 1), 10) == [("+I", "x", 1)]
            running.set_processing_time(at)
            assert push(running, ("INSERT", "x", 2), 20) == expected


@pytest.mark.parametrize("parallelism", [1, 2])
def test_changes_that_wait_come_before_those_after_a_restart(parallelism):
    with harness(SUMS, ConflictStrategy.ERROR) as running:
        assert push(running, ("INSERT", "x", 1), 100, ("DELETE", "x", 1)) == [("+I", "x", 1)]
        running = running.restart(parallelism=parallelism)
        assert push(running, ("INSERT", "x", 2)) == []
        assert push(running, 50) == [("+U", "x", 2)]
        running.close()


def test_files_get_all_rows_though_there_is_a_key(tmp_path):
    with local_engine():
        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.get_config().set("table.exec.sink.upsert-materialize", "FORCE")
        t_env.execute_sql(
            "CREATE TABLE o (k STRING PRIMARY KEY NOT ENFORCED, v INT) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path}/o', 'format' = 'csv')"
        )
        t_env.execute_sql("INSERT INTO o VALUES ('x', 1), ('y', 2), ('x', 3)").wait()
    files = [path for path in (tmp_path / "o").rglob("*") if path.is_file()]
    lines = sorted(line for path in files for line in path.read_text().splitlines())
    assert lines == ["x,1", "x,3", "y,2"]
