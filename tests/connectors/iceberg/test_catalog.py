"""Catalogs of Iceberg, and the tables that statements make in them."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pytest

from pyflink_on_spark.errors import PyFlinkOnSparkError, UnsupportedFlinkFeature
from tests.connectors.iceberg.conftest import rows

COLUMNS = (
    "id BIGINT NOT NULL COMMENT 'a number', name STRING, price DECIMAL(10, 2), at_ TIMESTAMP(3), "
    "moment TIMESTAMP_LTZ(3), t TIME, d DATE, a ARRAY<INT>, m MAP<STRING, TINYINT>, "
    "r ROW<x INT, y STRING>, raws BYTES, small SMALLINT, ok BOOLEAN, f FLOAT, g DOUBLE"
)
VALUES = (
    "1, 'pear', 1.5, TIMESTAMP '2024-02-29 01:02:03.456', TO_TIMESTAMP_LTZ(1000, 3), "
    "TIME '10:11:12', DATE '2024-02-29', ARRAY[1, 2], MAP['k', CAST(1 AS TINYINT)], ROW(1, 'y'), "
    "x'01', CAST(3 AS SMALLINT), TRUE, CAST(0.5 AS FLOAT), 0.25E0"
)


def test_every_type_comes_back(warehouse):
    t_env = warehouse.environment()
    t_env.execute_sql(f"CREATE TABLE goods ({COLUMNS})")
    t_env.execute_sql(f"INSERT INTO goods VALUES ({VALUES})").wait()
    t_env.execute_sql("INSERT INTO goods (id) VALUES (2)").wait()
    first, second = rows(warehouse.environment(), "SELECT * FROM goods")
    assert second == (2, *[None] * 14)
    assert first[:4] == (
        1, "pear", Decimal("1.50"), datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)
    )  # fmt: skip
    assert (first[4].seconds, first[4].nanos) == (1, 0)
    assert first[5:9] == (datetime.time(10, 11, 12), datetime.date(2024, 2, 29), [1, 2], {"k": 1})
    assert tuple(first[9]) == (1, "y")
    assert first[10:] == (b"\x01", 3, True, 0.5, 0.25)
    described = {row[0]: row[1] for row in rows(t_env, "DESCRIBE goods")}
    assert (described["small"], described["at_"], described["t"]) == (
        "INT", "TIMESTAMP(6)", "TIME(0)"
    )  # fmt: skip


def test_databases_and_tables(warehouse):
    t_env = warehouse.environment()
    assert t_env.get_current_database() == "default"
    t_env.execute_sql("CREATE DATABASE other")
    t_env.execute_sql("CREATE TABLE other.t (a INT)")
    t_env.execute_sql("CREATE TABLE IF NOT EXISTS other.t (b INT)")
    again = warehouse.environment()
    assert again.list_databases() == ["default", "other"]
    assert rows(again, "SHOW TABLES FROM other") == [("t",)]
    assert again.list_views() == []
    assert rows(again, "DESCRIBE other.t") == [("a", "INT", True, None, None, None)]
    with pytest.raises(PyFlinkOnSparkError, match="is not empty"):
        again.execute_sql("DROP DATABASE other")
    with pytest.raises(PyFlinkOnSparkError, match="already exists"):
        again.execute_sql("CREATE TABLE other.t (a INT)")
    again.execute_sql("DROP TABLE other.t")
    assert rows(t_env, "SHOW TABLES FROM other") == []
    again.execute_sql("CREATE TABLE other.u (a INT)")
    again.execute_sql("DROP DATABASE other CASCADE")
    assert t_env.list_databases() == ["default"]
    assert not list(warehouse.folder.glob("warehouse/other/*/*/*"))


def test_properties_and_columns_are_changed(warehouse):
    t_env = warehouse.environment()
    t_env.execute_sql(
        "CREATE TABLE t (a INT, b INT, p STRING) COMMENT 'some' PARTITIONED BY (p) "
        "WITH ('write.parquet.compression-codec' = 'gzip')"
    )
    t_env.execute_sql("INSERT INTO t VALUES (1, 2, 'x')").wait()
    t_env.execute_sql("ALTER TABLE t SET ('commit.retry.num-retries' = '7')")
    t_env.execute_sql("ALTER TABLE t RESET ('write.parquet.compression-codec')")
    t_env.execute_sql("ALTER TABLE t ADD c BIGINT COMMENT 'new' AFTER a")
    t_env.execute_sql("ALTER TABLE t RENAME b TO d")
    t_env.execute_sql("ALTER TABLE t MODIFY a BIGINT")
    again = warehouse.environment()
    ((text,),) = rows(again, "SHOW CREATE TABLE t")
    assert "`a` BIGINT,\n  `c` BIGINT COMMENT 'new',\n  `d` INT,\n  `p`" in text
    assert "'commit.retry.num-retries' = '7'" in text
    assert "compression-codec" not in text
    assert "COMMENT 'some'\nPARTITIONED BY (`p`)" in text
    assert rows(again, "SELECT * FROM t") == [(1, None, 2, "x")]
    again.execute_sql("ALTER TABLE t DROP d")
    assert rows(t_env, "SELECT * FROM t") == [(1, None, "x")]


def test_a_table_of_a_database_keeps_its_rows_under_another_name(tmp_path, warehouse):
    t_env = warehouse.environment()
    t_env.execute_sql("CREATE TABLE t (a INT)")
    t_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    if "hadoop" in warehouse.options:
        with pytest.raises(PyFlinkOnSparkError, match="has its name from its folder"):
            t_env.execute_sql("ALTER TABLE t RENAME TO u")
        return
    t_env.execute_sql("ALTER TABLE t RENAME TO u")
    assert t_env.list_tables() == ["u"]
    assert rows(t_env, "SELECT * FROM u") == [(1,)]


def test_folders_are_as_hadoop_has_them(folders):
    t_env = folders.environment()
    t_env.execute_sql("CREATE TABLE t (a INT)")
    t_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    metadata = folders.folder / "w" / "default" / "t" / "metadata"
    versions = sorted(path.name for path in metadata.glob("*.metadata.json"))
    assert versions == ["v1.metadata.json", "v2.metadata.json"]
    assert (metadata / "version-hint.text").read_text() == "2"
    found = json.loads((metadata / "v2.metadata.json").read_text())
    assert found["location"] == f"file://{folders.folder}/w/default/t"
    assert found["format-version"] == 2


def test_the_connector_makes_the_table_outside(folders):
    t_env = folders.environment()
    t_env.use_catalog("default_catalog")
    link = f"'connector' = 'iceberg', 'catalog-name' = 'x', {folders.options}"
    t_env.execute_sql(f"CREATE TABLE t (a INT) WITH ({link}, 'catalog-database' = 'db')")
    t_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    assert rows(t_env, "SELECT * FROM ice.db.t") == [(1,)]
    t_env.execute_sql(f"CREATE TABLE u (b INT) WITH ({link}, 'catalog-database' = 'db', "
                      "'catalog-table' = 't')")  # fmt: skip
    with pytest.raises(PyFlinkOnSparkError, match=r"db\.t has no column 'b'. It has: a"):
        t_env.execute_sql("SELECT * FROM u")
    t_env.execute_sql("CREATE TEMPORARY TABLE w (c AS a + 1) LIKE ice.db.t")
    assert rows(t_env, "SELECT * FROM w") == [(1, 2)]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("'catalog-type' = 'hadoop'", "required options are:\n\nwarehouse"),
        ("'catalog-type' = 'jdbc', 'warehouse' = '/x'", "required options are:\n\nuri"),
        ("'catalog-type' = 'rest'", "required options are:\n\nuri"),
        ("'catalog-type' = 'hadoop', 'warehous' = '/x'", "did you mean 'warehouse'"),
        ("'catalog-type' = 'hadoop', 'warehouse' = 's3://b/w'", "not a local folder"),
        ("'catalog-type' = 'rest', 'catalog-impl' = 'x'", "and not both"),
        ("'catalog-type' = 'rest', 'uri' = 'http://localhost:9'", "the Iceberg catalog c: "),
        ("'catalog-type' = 'jdbc', 'warehouse' = '/x', 'uri' = 'jdbc:oracle:x'", "it begins with"),
    ],
)
def test_wrong_options(folders, options, reason):
    t_env = folders.environment()
    with pytest.raises(PyFlinkOnSparkError) as caught:
        t_env.execute_sql(f"CREATE CATALOG c WITH ('type' = 'iceberg', {options})")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "options",
    ["'warehouse' = '/x'", "'catalog-type' = 'hive', 'uri' = 'thrift://localhost:9083'",
     "'catalog-impl' = 'org.apache.iceberg.aws.glue.GlueCatalog', 'warehouse' = 's3://b'"],
)  # fmt: skip
def test_other_catalogs_name_the_way_out(folders, options):
    t_env = folders.environment()
    with pytest.raises(UnsupportedFlinkFeature) as caught:
        t_env.execute_sql(f"CREATE CATALOG c WITH ('type' = 'iceberg', {options})")
    assert "Use 'catalog-type' = 'hadoop' or 'jdbc' or 'rest'" in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE VIEW v AS SELECT 1", "Use CREATE TEMPORARY VIEW"),
        ("CREATE FUNCTION f AS 'x.y' LANGUAGE PYTHON", "Use CREATE TEMPORARY VIEW, FUNCTION"),
        ("CREATE TABLE u (a INT, b AS a + 1)", "no computed columns or metadata, such as 'b'"),
        ("CREATE TABLE u (a TIMESTAMP(3), WATERMARK FOR a AS a)", "has no watermark"),
        ("CREATE TABLE u (a INT) WITH ('connector' = 'print')", "with CREATE TEMPORARY TABLE"),
        ("CREATE TABLE u (a INT) DISTRIBUTED BY (a)", "has no buckets of DISTRIBUTED"),
        ("ALTER TABLE t ADD DISTRIBUTION BY (a)", "has no buckets of DISTRIBUTED"),
        ("ALTER TABLE t ADD PARTITION (a = 1)", "ALTER TABLE adds and drops none"),
        ("ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED", "another primary key"),
        ("SELECT * FROM t /*+ OPTIONS('snapshot-id' = '5') */", "There is no snapshot 5"),
        ("SELECT * FROM t /*+ OPTIONS('tag' = 'x') */", "There is no tag 'x'"),
        ("SELECT * FROM t /*+ OPTIONS('streaming' = 'true') */", "it needs STREAMING"),
        ("SELECT * FROM t /*+ OPTIONS('streamin' = 'true') */", "streamin"),
        ("INSERT INTO t /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1)", "equality deletes"),
        ("INSERT INTO t /*+ OPTIONS('write.format.default' = 'avro') */ VALUES (1)", "'parquet'"),
    ],
)
def test_what_a_table_cannot_have(folders, statement, reason):
    t_env = folders.environment()
    t_env.execute_sql("CREATE TABLE t (a INT)")
    with pytest.raises(PyFlinkOnSparkError) as caught:
        t_env.execute_sql(statement)
    assert reason in str(caught.value)
