"""Tables of Flink as properties of a metastore, and what a catalog of Hive refuses."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat import registry
from pyflink_on_spark._connectors.spark_rows.tables import TableFacts
from pyflink_on_spark._sql.plan.options import ObjectPath
from pyflink_on_spark._sql.session.hive_catalog import properties_of, table_of
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.tables.connectors.hive import columns_of, hive_type
from pyflink_on_spark.errors import PyFlinkOnSparkError, UnsupportedFlinkFeature
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.table.catalog import HiveCatalog

TABLE = """
CREATE TABLE g (
  id BIGINT NOT NULL COMMENT 'nr', `na me` VARCHAR(5), ts TIMESTAMP(3), r ROW<x INT, `y z` STRING>,
  c AS id + 1 COMMENT 'comp', m STRING METADATA FROM 'key' VIRTUAL, m2 INT METADATA, p STRING,
  m3 TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'tc' PARTITIONED BY (p) WITH ('connector' = 'kafka', 'properties.password' = 'x')
"""
# What CatalogPropertiesUtil.serializeCatalogTable of Flink 2.3 gives for that table; the texts of
# types are compared below.
RECORDED = {
    "comment": "tc",
    "connector": "kafka",
    "partition.keys.0.name": "p",
    "properties.password": "x",
    "schema.0.comment": "nr",
    "schema.0.name": "id",
    "schema.1.name": "na me",
    "schema.2.name": "ts",
    "schema.3.name": "r",
    "schema.4.comment": "comp",
    "schema.4.expr": "`id` + 1",
    "schema.4.name": "c",
    "schema.5.metadata": "key",
    "schema.5.name": "m",
    "schema.5.virtual": "true",
    "schema.6.metadata": "m2",
    "schema.6.name": "m2",
    "schema.6.virtual": "false",
    "schema.7.name": "p",
    "schema.8.name": "m3",
    "schema.primary-key.columns": "id",
    "schema.primary-key.name": "pk",
    "schema.watermark.0.rowtime": "ts",
    "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    "schema.watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
}
TYPES = (
    "BIGINT NOT NULL", "VARCHAR(5)", "TIMESTAMP(3)", "ROW<`x` INT, `y z` VARCHAR(2147483647)>",
    "BIGINT NOT NULL", "VARCHAR(2147483647)", "INT", "VARCHAR(2147483647)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
)  # fmt: skip


@pytest.fixture
def t_env():
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def relation(t_env, name):
    return t_env._session.catalog.find(ObjectPath("default_catalog", "default_database", name))


def test_a_table_has_the_properties_that_flink_writes(t_env):
    t_env.execute_sql(TABLE)
    found = properties_of(relation(t_env, "g"))
    assert {k: v for k, v in found.items() if k in RECORDED} == RECORDED
    kinds = {f"schema.{n}.data-type" for n in range(len(TYPES))}
    assert found.keys() - RECORDED.keys() == kinds


def test_the_properties_that_flink_writes_are_read(t_env):
    t_env.execute_sql(TABLE)
    given = {f"schema.{n}.data-type": kind for n, kind in enumerate(TYPES)}
    own = Session(dict, batch=False)
    assert table_of({**RECORDED, **given}, own) == relation(t_env, "g")
    assert table_of(properties_of(relation(t_env, "g")), own) == relation(t_env, "g")


def test_types_of_spark_and_hive():
    fields = [
        {"name": "v", "type": "string", "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "varchar(7)"}},
        {
            "name": "m",
            "type": {
                "type": "map",
                "keyType": "string",
                "valueType": {"type": "array", "elementType": "decimal(5,2)"},
            },
            "metadata": {},
        },
        {
            "name": "s",
            "type": {"type": "struct", "fields": [{"name": "x", "type": "byte", "metadata": {}}]},
            "metadata": {"comment": "inner"},
        },
    ]
    columns = columns_of(TableFacts(fields, {}, ()))
    assert [hive_type(each.type) for each in columns] == [
        "VARCHAR(7)", "MAP<STRING, ARRAY<DECIMAL(5, 2)>>", "STRUCT<`x`: TINYINT>"
    ]  # fmt: skip
    assert columns[2].comment == "inner"
    unknown = TableFacts([{"name": "i", "type": "interval day to second", "metadata": {}}], {}, ())
    with pytest.raises(PyFlinkOnSparkError, match="interval day to second of the column 'i'"):
        columns_of(unknown)


class Store:
    """A metastore without Spark."""

    def __init__(self):
        self.settings, self.statements = [], []

    def open_metastore(self, settings):
        self.settings.append(settings)

    def database(self, name):
        return {} if name == "default" else None

    def table(self, database, name):
        return None

    def run(self, statement):
        self.statements.append(statement)


@pytest.fixture
def store(monkeypatch):
    made = Store()
    monkeypatch.setitem(registry._loaders, "metastore", lambda: made)
    return made


def test_files_of_hive_are_settings_of_spark(t_env, store, tmp_path):
    (tmp_path / "hive-site.xml").write_text(
        "<configuration><property><name>hive.metastore.uris</name><value>thrift://h:1</value>"
        "</property></configuration>"
    )
    t_env.register_catalog("h", HiveCatalog("h", hive_conf_dir=str(tmp_path)))
    assert store.settings == [{"spark.hadoop.hive.metastore.uris": "thrift://h:1"}]
    with pytest.raises(PyFlinkOnSparkError, match=r"no core-site\.xml or hdfs-site\.xml in"):
        HiveCatalog("h", hadoop_conf_dir=str(tmp_path))
    with pytest.raises(PyFlinkOnSparkError, match="default database x doesn't exist in catalog g"):
        t_env.execute_sql("CREATE CATALOG g WITH ('type' = 'hive', 'default-database' = 'x')")
    with pytest.raises(PyFlinkOnSparkError, match="hive-conf"):
        t_env.execute_sql("CREATE CATALOG g WITH ('type' = 'hive', 'hive-conf' = 'x')")


def test_a_table_of_hive_is_made_by_spark(t_env, store):
    t_env.execute_sql("CREATE CATALOG h WITH ('type' = 'hive')")
    t_env.use_catalog("h")
    t_env.execute_sql(
        "CREATE TABLE t (p STRING, a INT COMMENT 'it''s') COMMENT 'c' PARTITIONED BY (p) "
        "WITH ('connector' = 'hive', 'hive.storage.file-format' = 'orc', 'k' = 'v')"
    )
    (made,) = store.statements
    assert made == (
        "CREATE TABLE `default`.`t` (`a` INT COMMENT 'it\\'s') COMMENT 'c' "
        "PARTITIONED BY (`p` STRING) STORED AS orc TBLPROPERTIES ('k' = 'v')"
    )
    for columns, message in [
        ("a INT, b AS a + 1", "physical columns only"),
        ("a TIMESTAMP_LTZ(3)", "Hive has no type for"),
    ]:
        with pytest.raises(PyFlinkOnSparkError, match=message):
            t_env.execute_sql(f"CREATE TABLE u ({columns}) WITH ('connector' = 'hive')")
    with pytest.raises(UnsupportedFlinkFeature, match="CREATE TEMPORARY VIEW"):
        t_env.execute_sql("CREATE VIEW v AS SELECT 1")
