"""The commit of a complete partition in a table of files."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import last, query

COMMIT = "sink.partition-commit."


@pytest.fixture(params=["batch", "streaming"])
def mode(request):
    return request.param


@pytest.fixture
def t_env(mode):
    settings = EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    t_env = TableEnvironment.create(settings.build())
    t_env.get_config().set("parallelism.default", "1")
    return t_env


def written(t_env, folder, options, partitioned=True):
    """Writes some rows, and returns the names of all files that have no rows."""
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE t (a INT, p STRING) {'PARTITIONED BY (p)' if partitioned else ''} WITH "
        f"('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv'{given})"
    )
    t_env.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'x')").wait()
    assert sorted(query(t_env, "SELECT * FROM t")) == [(1, "x"), (2, "y"), (3, "x")]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(folder)) for path in files if not path.stat().st_size)


def test_a_file_for_each_partition(t_env, tmp_path):
    options = {COMMIT + "policy.kind": "success-file"}
    assert written(t_env, tmp_path, options) == ["p=x/_SUCCESS", "p=y/_SUCCESS"]


def test_a_table_without_partitions(mode, t_env, tmp_path):
    found = written(t_env, tmp_path, {COMMIT + "policy.kind": "success-file"}, partitioned=False)
    assert found == (["_SUCCESS"] if mode == "batch" else [])


def test_the_name_of_the_file(t_env, tmp_path):
    options = {COMMIT + "policy.kind": "success-file", COMMIT + "success-file.name": "_DONE"}
    assert written(t_env, tmp_path, options) == ["p=x/_DONE", "p=y/_DONE"]


def test_without_a_policy(t_env, tmp_path):
    options = {COMMIT + "trigger": "partition-time", COMMIT + "delay": "1 h"}
    assert written(t_env, tmp_path, options) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({COMMIT + "policy.kind": "nope"}, "Unsupported policy: nope"),
        (
            {COMMIT + "policy.kind": "success-file", COMMIT + "trigger": "nope"},
            r"process-time.*partition-time",
        ),
    ],
)
def test_what_is_wrong(t_env, tmp_path, options, message):
    with pytest.raises(Exception, match=message):
        written(t_env, tmp_path, options)


def test_changes_in_partitions(tmp_path):
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.execute_sql(
        "CREATE TABLE t (n BIGINT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'debezium-json')"
    )
    t_env.execute_sql(
        "INSERT INTO t SELECT COUNT(*), p FROM (VALUES 'x', 'y', 'x') AS v(p) GROUP BY p"
    ).wait()
    t_env.execute_sql("INSERT INTO t VALUES (5, 'z')").wait()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p=x", "p=y", "p=z"]
    assert last(t_env, "SELECT p, n FROM t") == [("x", 2), ("y", 1), ("z", 5)]


@pytest.mark.parametrize("fixed", [False, True])
def test_one_subtask_writes_a_partition(t_env, tmp_path, fixed):
    t_env.get_config().set("parallelism.default", "2")
    t_env.execute_sql(
        "CREATE TABLE numbers (i BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '60', "
        "'fields.i.kind' = 'sequence', 'fields.i.start' = '1', 'fields.i.end' = '60')"
    )
    t_env.execute_sql(
        "CREATE TABLE t (i BIGINT, p BIGINT) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv', 'sink.shuffle-by-partition.enable' = 'true')"
    )
    if fixed:
        t_env.execute_sql("INSERT INTO t PARTITION (p=1) SELECT i FROM numbers").wait()
    else:
        t_env.execute_sql("INSERT INTO t SELECT i, MOD(i, 10) / 2 FROM numbers").wait()
    files = sorted(path.parent.name for path in tmp_path.rglob("part-*"))
    assert files == (["p=1", "p=1"] if fixed else [f"p={n}" for n in range(5)])
    rows = query(t_env, "SELECT COUNT(*), SUM(i) FROM t")
    assert rows[-1] == (60, 1830)
