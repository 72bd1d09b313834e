"""Streaming INSERTs into tables of files: compaction and partitions, wherever the job is killed."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.table import StreamTableEnvironment
from pyflink_on_spark.testing import local_engine

pytestmark = pytest.mark.slow

KILLED_OFTEN = {
    "execution.checkpointing.interval": "10 ms",
    "pyflink-on-spark.checkpoint-elements": "25",
}
NUMBER = 300
INSERT = "INSERT INTO s SELECT i, DATE_FORMAT(ts, 'yyyy-MM-dd HH:00:00') FROM m"


def table_environment(settings):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env.configure(configuration)
    t_env = StreamTableEnvironment.create(env)
    t_env.execute_sql(
        "CREATE TABLE m (i INT, ts AS TIMESTAMPADD(MINUTE, i, TIMESTAMP '2024-01-01 00:00:00'), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'fields.i.kind' = 'sequence', "
        f"'fields.i.start' = '0', 'fields.i.end' = '{NUMBER - 1}', "
        "'rows-per-second' = '1000000')"
    )
    return t_env


def sink(t_env, folder, options):
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        "CREATE TABLE s (i INT, p STRING) PARTITIONED BY (p) WITH "
        f"('connector' = 'filesystem', 'path' = '{folder}'{given})"
    )


def data_files(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if path.name[0] not in "._" and path.stat().st_size]


def written(t_env):
    t_env.execute_sql(INSERT).wait()
    with t_env.execute_sql("SELECT i FROM s").collect() as rows:
        return sorted(row[0] for row in rows)


@pytest.mark.parametrize("form", ["parquet", "orc", "avro", "csv", "json"])
def test_formats(tmp_path, form):
    with local_engine():
        t_env = table_environment({})
        sink(t_env, tmp_path, {"format": form, "auto-compaction": "true"})
        assert written(t_env) == list(range(NUMBER))
    files = data_files(tmp_path)
    assert len(files) == len(list(tmp_path.iterdir())) == NUMBER // 60
    assert all(path.name.startswith("compacted-part-") for path in files)


@pytest.mark.parametrize("compaction", ["true", "false"])
@pytest.mark.parametrize("trigger", ["partition-time", "process-time"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_killed_after_each_checkpoint(tmp_path, form, trigger, compaction):
    options = {
        "format": form,
        "auto-compaction": compaction,
        "sink.partition-commit.policy.kind": "success-file",
        "sink.partition-commit.trigger": trigger,
        "sink.partition-commit.delay": "1 h",
    }
    with local_engine(checkpoint_each_turn=True, restart_each_checkpoint=True):
        t_env = table_environment(KILLED_OFTEN)
        sink(t_env, tmp_path, options)
        assert written(t_env) == list(range(NUMBER))
    hours = [f"p=2024-01-01 {hour:02d}:00:00" for hour in range(NUMBER // 60)]
    folders = [path.parent.name.replace("%3A", ":") for path in tmp_path.rglob("_SUCCESS")]
    assert sorted(folders) == hours
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]
