"""Jobs that read and write tables of Iceberg."""

from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._connectors.iceberg import sink as sinks
from pyflink_on_spark._connectors.iceberg.client import (
    IcebergCatalogConfig,
    IcebergCatalogKind,
    IcebergError,
    IcebergStart,
    IcebergTableConfig,
    SnapshotsConfig,
    open_table,
)
from pyflink_on_spark._connectors.iceberg.reader import NewSnapshotsSource, SnapshotSource
from pyflink_on_spark._connectors.iceberg.sink import IcebergSink
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.tables.connectors.iceberg import TableBatchRows
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.errors import PyFlinkOnSparkError
from pyflink_on_spark.testing import ManualClock
from pyflink_on_spark.testing.local_engine import LocalEngine
from tests.connectors.iceberg.conftest import rows
from tests.connectors.reading import checkpoint, close, context_of, readers_of, take


@pytest.fixture
def table(folders):
    """A table ``t (a INT, p STRING)`` of a catalog of folders."""
    folders.environment().execute_sql("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p)")
    catalog = IcebergCatalogConfig(
        "ice", IcebergCatalogKind.FOLDERS, {"warehouse": f"{folders.folder}/w"}
    )
    columns = Schema(("a", "p"), (logical.INT, logical.STRING))
    return IcebergTableConfig(catalog, "default", "t", TableBatchRows(columns))


def read(config):
    """Return the rows of a table, as a scan of its files gives them."""
    source = pickle.loads(pickle.dumps(SnapshotSource(config, None)))
    found = [
        bundle.values for split in source.splits(1) for bundle in source.read(split, context_of())
    ]
    return sorted(row for values in found for row in values)


def committables(config, *elements):
    """Return the committables of a writer of some rows."""
    writer = IcebergSink(config).writer(context_of())
    writer.restore([])
    writer.write(iter(elements))
    prepared = writer.prepare_checkpoint(1)
    writer.close()
    return pickle.loads(pickle.dumps(prepared))


def snapshots(config):
    return open_table(config).metadata.snapshots


def files_of(folders):
    return sorted((folders.folder / "w" / "default" / "t" / "data").rglob("*.parquet"))


# -- jobs ----------------------------------------------------------------------------------------


def test_rows_are_appended_and_replaced(warehouse):
    t_env = warehouse.environment(parallelism=2)
    t_env.execute_sql("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p)")
    t_env.execute_sql("CREATE TABLE u (a INT)")
    t_env.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, CAST(NULL AS STRING))").wait()
    t_env.execute_sql("INSERT INTO t PARTITION (p = 'x') SELECT 4").wait()
    assert rows(t_env, "SELECT a FROM t WHERE p = 'x'") == [(1,), (4,)]
    t_env.execute_sql("INSERT OVERWRITE t VALUES (5, 'x'), (6, CAST(NULL AS STRING))").wait()
    assert rows(t_env, "SELECT * FROM t") == [(2, "y"), (5, "x"), (6, None)]
    t_env.execute_sql("INSERT INTO u SELECT a FROM t").wait()
    t_env.execute_sql("INSERT OVERWRITE u SELECT a + 1 FROM u").wait()
    assert rows(t_env, "SELECT * FROM u") == [(3,), (6,), (7,)]
    t_env.execute_sql("INSERT OVERWRITE u SELECT a FROM u WHERE a > 99").wait()
    assert rows(t_env, "SELECT COUNT(*) FROM u") == [(0,)]


def test_an_earlier_snapshot_is_read(folders, table):
    t_env = folders.environment()
    t_env.execute_sql("INSERT INTO t VALUES (1, 'x')").wait()
    (first,) = snapshots(table)
    t_env.execute_sql("INSERT INTO t VALUES (2, 'x')").wait()
    opened = open_table(table)
    opened.manage_snapshots().create_tag(first.snapshot_id, "old").commit()
    for hint in (f"'snapshot-id' = '{first.snapshot_id}'", "'tag' = 'old'"):
        assert rows(t_env, f"SELECT a FROM t /*+ OPTIONS({hint}) */") == [(1,)]
    assert rows(t_env, "SELECT a FROM t /*+ OPTIONS('branch' = 'main') */") == [(1,), (2,)]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_streaming_job_writes_each_row_once(folders, table, restarts):
    from pyflink_on_spark._job.job import install_engine

    install_engine(LocalEngine(checkpoint_each_turn=True, restart_each_checkpoint=restarts))
    options = {
        "execution.checkpointing.interval": "10 ms",
        "pyflink-on-spark.checkpoint-elements": "10",
        "restart-strategy.type": "none",
    }
    t_env = folders.environment(batch=False, **options)
    t_env.execute_sql(
        "CREATE TEMPORARY TABLE numbers (n INT) WITH ('connector' = 'datagen', "
        "'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '40')"
    )
    t_env.execute_sql("INSERT INTO t SELECT n, IF(n > 20, 'x', 'y') FROM numbers").wait()
    assert [row[0] for row in read(table)] == list(range(1, 41))
    assert len(snapshots(table)) > 1


def test_changes_are_refused(folders, table):
    t_env = folders.environment(batch=False)
    with pytest.raises(PyFlinkOnSparkError, match="doesn't support consuming update changes"):
        t_env.execute_sql("INSERT INTO t SELECT CAST(COUNT(*) AS INT), p FROM t GROUP BY p")
    with pytest.raises(PyFlinkOnSparkError, match="Unbounded data stream doesn't support overwri"):
        t_env.execute_sql("INSERT OVERWRITE t VALUES (1, 'x')")


# -- commits -------------------------------------------------------------------------------------


def test_a_checkpoint_is_a_snapshot_and_is_committed_once(table):
    sink = IcebergSink(table)
    first = [*committables(table, (1, "x"), (2, "y")), *committables(table, (3, "x"))]
    second = committables(table, (4, "x"))
    sink.commit(first)
    sink.commit_again(first)
    sink.commit([])
    assert len(snapshots(table)) == 1
    IcebergSink(table).commit_again(second)
    IcebergSink(table).commit_again(second)
    assert len(snapshots(table)) == 2
    assert read(table) == [(1, "x"), (2, "y"), (3, "x"), (4, "x")]


def test_a_replacement_is_committed_once(table):
    IcebergSink(table).commit(committables(table, (1, "x"), (2, "y")))
    prepared = committables(table, (3, "x"))
    sink = IcebergSink(table, overwrite=True)
    sink.commit(prepared)
    IcebergSink(table).commit(committables(table, (4, "x")))
    sink.commit_again(prepared)
    assert read(table) == [(2, "y"), (3, "x"), (4, "x")]


def test_a_commit_beside_others_is_tried_again(table, monkeypatch):
    """Another writer commits between the reading of the table and the commit."""
    with open_table(table).transaction() as transaction:
        transaction.set_properties({"commit.retry.min-wait-ms": "1"})
    mine, theirs = committables(table, (1, "x")), committables(table, (2, "x"))
    opened = sinks.open_table

    def open_and_be_late(config):
        found = opened(config)
        with monkeypatch.context() as patch:
            patch.setattr(sinks, "open_table", opened)
            IcebergSink(table).commit(theirs)
        return found

    monkeypatch.setattr(sinks, "open_table", open_and_be_late)
    IcebergSink(table).commit(mine)
    monkeypatch.undo()
    assert read(table) == [(1, "x"), (2, "x")]
    assert len(snapshots(table)) == 2
    sink = IcebergSink(table)
    sink.commit_again([*mine, *theirs])
    assert len(snapshots(table)) == 2


def test_what_no_checkpoint_has_is_removed(folders, table):
    writer = IcebergSink(table).writer(context_of())
    writer.write(iter([(1, "x")]))
    writer.close()
    assert files_of(folders) == []
    prepared = committables(table, (1, "x"), (2, "y"))
    assert len(files_of(folders)) == 2
    IcebergSink(table).abort(prepared)
    assert files_of(folders) == []


def test_other_partitions_in_between(table):
    prepared = committables(table, (1, "x"))
    with open_table(table).update_spec() as update:
        update.add_field("a", "bucket[4]")
    with pytest.raises(IcebergError, match=r"the partitions of the Iceberg table default\.t were"):
        IcebergSink(table).commit(prepared)


# -- new snapshots -------------------------------------------------------------------------------


def insert(config, *elements):
    IcebergSink(config).commit(committables(config, *elements))


def test_new_snapshots_are_read_and_resumed(table):
    clock = ManualClock()
    insert(table, (1, "x"), (2, "x"), (3, "x"))
    source = NewSnapshotsSource(table, SnapshotsConfig(1000))
    readers = readers_of(source, 1, clock=clock)
    assert checkpoint(readers) == []
    readers[0].limit = 2
    assert take(readers, 2) == [(1, "x"), (2, "x")]
    assert readers[0].backlog() == 1
    saved = checkpoint(readers)
    close(readers)
    insert(table, (4, "x"))
    open_table(table).delete("a = 1")
    insert(table, (5, "x"))
    readers = readers_of(source, 1, saved, clock)
    assert sorted(take(readers, 3)) == [(3, "x"), (4, "x"), (5, "x")]
    insert(table, (6, "x"))
    assert [readers[0].poll() for _ in range(9)] == [None] * 9
    clock.advance(1000)
    assert take(readers, 1) == [(6, "x")]
    assert [readers[0].poll() for _ in range(9)] == [None] * 9
    close(readers)


def test_an_empty_table_is_waited_for(table):
    clock = ManualClock()
    readers = readers_of(NewSnapshotsSource(table, SnapshotsConfig(1000)), 1, clock=clock)
    assert readers[0].poll() is None
    saved = checkpoint(readers)
    insert(table, (1, "x"))
    clock.advance(1000)
    assert take(readers, 1) == [(1, "x")]
    readers = readers_of(NewSnapshotsSource(table, SnapshotsConfig(1000)), 1, saved, clock)
    assert take(readers, 1) == [(1, "x")]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (IcebergStart.LATEST, [3]),
        (IcebergStart.EARLIEST, [1, 2, 3]),
        (IcebergStart.SNAPSHOT, [2, 3]),
    ],
)
def test_where_to_begin(table, start, expected):
    for number in (1, 2, 3):
        insert(table, (number, "x"))
    first = snapshots(table)[0].snapshot_id if start is IcebergStart.SNAPSHOT else None
    source = NewSnapshotsSource(table, SnapshotsConfig(1000, start, first))
    found = take(readers_of(source, 1, clock=ManualClock()), len(expected))
    assert sorted(row[0] for row in found) == expected


def test_a_query_of_new_snapshots(folders, table):
    insert(table, (1, "x"))
    t_env = folders.environment(batch=False)
    hint = "'streaming' = 'true', 'monitor-interval' = '10 ms'"
    with t_env.execute_sql(f"SELECT a FROM t /*+ OPTIONS({hint}) */").collect() as found:
        assert tuple(next(found)) == (1,)
        insert(table, (2, "x"))
        assert tuple(next(found)) == (2,)
