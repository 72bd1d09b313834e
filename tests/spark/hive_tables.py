"""Uses a catalog of Hive as a script does; prints one line for each thing that was seen."""

from __future__ import annotations

import sys
from pathlib import Path

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.catalog import HiveCatalog
from pyflink.table.udf import udf

from pyflink_on_spark.errors import UnsupportedFlinkFeature


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


def refusal(t_env, statement):
    try:
        t_env.execute_sql(statement)
    except UnsupportedFlinkFeature as error:
        return error
    return "nothing"


def overwrite_and_rename(t_env):
    """An unpartitioned table: all rows are replaced, also by none; then it has another name."""
    t_env.execute_sql(
        "CREATE TABLE plain (id INT, name STRING) "
        "WITH ('connector' = 'hive', 'hive.storage.file-format' = 'parquet')"
    )
    seen = []
    for statement in (
        "INSERT OVERWRITE plain VALUES (3, 'c')",
        "INSERT OVERWRITE plain SELECT * FROM plain WHERE id > 100",
        "INSERT INTO plain VALUES (4, 'd')",
    ):
        t_env.execute_sql(statement).wait()
        seen.append(rows(t_env, "SELECT * FROM plain"))
    print("unpartitioned", *seen)
    for statement in (
        "CREATE VIEW v AS SELECT id FROM plain",
        "ALTER TABLE plain ADD (extra INT)",
        "ALTER TABLE plain RENAME name TO other",
        "CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON",
    ):
        print("refused", refusal(t_env, statement))
    t_env.execute_sql("ALTER TABLE plain RENAME TO plainer")
    t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT id FROM plainer")
    print("view", rows(t_env, "SELECT * FROM v"))
    t_env.execute_sql("DROP TEMPORARY VIEW v")
    t_env.execute_sql("DROP TABLE plainer")


def failing_once(mark):
    """A function that fails with its last value, so that the job restarts, and then no more."""

    @udf(result_type=DataTypes.INT())
    def failing(number):
        if number == 3 and not mark.exists():
            mark.touch()
            raise ValueError("once")
        return number

    return failing


def main(folder):
    batch = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    batch.register_catalog("h", HiveCatalog("h", hive_conf_dir=folder))
    batch.use_catalog("h")
    batch.execute_sql("CREATE DATABASE shop COMMENT 'of a test'")
    batch.use_database("shop")
    batch.execute_sql(
        "CREATE TABLE orders (id BIGINT COMMENT '${env:PLANTED}', price DECIMAL(10, 2), "
        "at_ TIMESTAMP(9), tags ARRAY<STRING>, short VARCHAR(5), day_ STRING) "
        "PARTITIONED BY (day_) WITH ('connector' = 'hive', 'owner.team' = 'x', "
        "'hive.storage.file-format' = 'parquet')"
    )
    batch.execute_sql(
        "INSERT INTO orders VALUES (1, 1.50, TIMESTAMP '2024-02-29 01:02:03.5', ARRAY['a', 'b'], "
        "'vv', 'mon'), (2, 2.50, CAST(NULL AS TIMESTAMP(3)), ARRAY['c'], 'w', 'tue')"
    ).wait()
    print("described", rows(batch, "DESCRIBE orders"))
    print("partitions", rows(batch, "SHOW PARTITIONS orders"))
    print("read", rows(batch, "SELECT * FROM orders"))
    batch.execute_sql(
        "INSERT OVERWRITE orders SELECT id + 10, price, at_, tags, short, day_ FROM orders "
        "WHERE day_ = 'mon'"
    ).wait()
    print("overwritten", rows(batch, "SELECT id, day_ FROM orders"))
    overwrite_and_rename(batch)
    batch.execute_sql(
        "CREATE TABLE clicks (a INT, b AS a + 1, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - "
        "INTERVAL '5' SECOND) WITH ('connector' = 'datagen', 'number-of-rows' = '3', "
        "'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3')"
    )

    stream = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    stream.execute_sql(f"CREATE CATALOG other WITH ('type' = 'hive', 'hive-conf-dir' = '{folder}')")
    stream.execute_sql("USE CATALOG other")
    stream.execute_sql("USE shop")
    print("tables", rows(stream, "SHOW TABLES"))
    print("generic", rows(stream, "SELECT a, b FROM clicks"))
    stream.get_config().set("execution.checkpointing.interval", "300 ms")
    stream.get_config().set("execution.checkpointing.dir", f"file://{folder}/checkpoints")
    stream.get_config().set("restart-strategy.type", "fixed-delay")
    stream.get_config().set("restart-strategy.fixed-delay.delay", "10 ms")
    stream.create_temporary_function("failing", failing_once(Path(folder, "has-failed")))
    stream.execute_sql(
        "INSERT INTO orders SELECT failing(a) + 100, 0.5, ts, ARRAY['g'], 'x', 'wed' FROM clicks"
    ).wait()
    print("failed", Path(folder, "has-failed").exists())
    print("streamed", rows(stream, "SELECT id, day_ FROM orders"))
    print("text", rows(stream, "SHOW CREATE TABLE clicks")[0][0])
    stream.execute_sql("DROP TABLE clicks")
    stream.execute_sql("USE `default`")
    stream.execute_sql("DROP DATABASE shop CASCADE")
    print("databases", rows(stream, "SHOW DATABASES"))


main(sys.argv[1])
