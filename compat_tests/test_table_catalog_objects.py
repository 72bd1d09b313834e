"""Catalogs as objects: databases, tables, partitions, functions, models and statistics."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyflink.common import Configuration
from pyflink.table import DataTypes, Schema, TableSchema
from pyflink.table.catalog import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    ObjectPath,
)
from pyflink.util import exceptions

from compat_tests.tables import query

COLUMNS = TableSchema(["n", "day"], [DataTypes.INT(), DataTypes.STRING()])
DATABASE = CatalogDatabase.create_instance
TABLE = ObjectPath("db", "t")
DAYS = ObjectPath("db", "days")
VIEW = ObjectPath("db", "v")
NOPE = ObjectPath("db", "nope")
NOWHERE = ObjectPath("nowhere", "t")
DAY = CatalogPartitionSpec({"day": "1"})
OTHER_DAY = CatalogPartitionSpec({"day": "2"})
DATAGEN = {
    "connector": "datagen",
    "number-of-rows": "2",
    "fields.n.kind": "sequence",
    "fields.n.start": "1",
    "fields.n.end": "2",
}


def table(partitions=(), comment="numbers", **options):
    return CatalogBaseTable.create_table(COLUMNS, list(partitions), options, comment)


@pytest.fixture
def catalog(t_env):
    found = t_env.get_catalog("default_catalog")
    found.create_database("db", DATABASE({"k": "v"}, "mine"), False)
    found.create_table(TABLE, CatalogBaseTable.create_table(COLUMNS, [], DATAGEN, "numbers"), False)
    found.create_table(DAYS, table(["day"], "days", x="y"), False)
    text = "SELECT n FROM default_catalog.db.t"
    only_n = TableSchema(["n"], [DataTypes.INT()])
    view = CatalogBaseTable.create_view("SELECT n FROM t", text, only_n, {"a": "b"}, "a view")
    found.create_table(VIEW, view, False)
    return found


def refused(kind, message, call, *arguments):
    with pytest.raises(getattr(exceptions, f"{kind}Exception")) as raised:
        call(*arguments)
    name = f"org.apache.flink.table.catalog.exceptions.{kind}Exception"
    assert str(raised.value).split("\n")[0] == f"{name}: {message}"


def test_databases(catalog):
    assert catalog.get_default_database() == "default_database"
    assert catalog.list_databases() == ["default_database", "db"]
    assert catalog.database_exists("db")
    assert not catalog.database_exists("nope")
    found = catalog.get_database("db")
    assert (found.get_properties(), found.get_comment()) == ({"k": "v"}, "mine")
    assert (found.get_description(), found.get_detailed_description()) == ("mine", "mine")
    assert found.copy().get_properties() == {"k": "v"}
    catalog.create_database("db", DATABASE({}), True)
    assert catalog.get_database("db").get_comment() == "mine"
    catalog.alter_database("db", DATABASE({"other": "x"}), False)
    assert catalog.get_database("db").get_properties() == {"other": "x"}
    assert catalog.get_database("db").get_comment() is None
    catalog.alter_database("nope", DATABASE({}), True)
    catalog.drop_database("nope", True)
    catalog.create_database("empty", DATABASE({}), False)
    catalog.drop_database("empty", False)
    assert not catalog.database_exists("empty")


def test_wrong_databases(catalog):
    missing = "Database nope does not exist in Catalog default_catalog."
    refused("DatabaseNotExist", missing, catalog.get_database, "nope")
    refused("DatabaseNotExist", missing, catalog.drop_database, "nope", False)
    refused("DatabaseNotExist", missing, catalog.alter_database, "nope", DATABASE({}), False)
    for listed in (catalog.list_tables, catalog.list_views, catalog.list_materialized_tables):
        refused("DatabaseNotExist", missing, listed, "nope")
    refused("DatabaseNotExist", missing, catalog.list_functions, "nope")
    refused("DatabaseNotExist", missing, catalog.list_models, "nope")
    refused("DatabaseAlreadyExist", "Database db already exists in Catalog default_catalog.",
            catalog.create_database, "db", DATABASE({}), False)  # fmt: skip
    refused("DatabaseNotEmpty", "Database db in catalog default_catalog is not empty.",
            catalog.drop_database, "db", False)  # fmt: skip
    with pytest.raises(Py4JJavaError, match="databaseName cannot be null or empty"):
        catalog.list_tables("")


def test_tables(t_env, catalog):
    assert catalog.list_tables("db") == ["t", "days", "v"]
    assert catalog.list_views("db") == ["v"]
    assert catalog.list_materialized_tables("db") == []
    assert [catalog.table_exists(p) for p in (TABLE, VIEW, NOPE, NOWHERE)] == [
        True,
        True,
        False,
        False,
    ]
    found = catalog.get_table(TABLE)
    assert found.get_options() == DATAGEN
    assert (found.get_comment(), found.get_description()) == ("numbers", "numbers")
    assert found.get_detailed_description() is None
    assert str(found.get_unresolved_schema()) == "(\n  `n` INT,\n  `day` STRING\n)"
    assert found.copy().get_comment() == "numbers"
    assert CatalogBaseTable.create_table(COLUMNS).get_comment() == ""
    assert sorted(query(t_env, "SELECT n FROM db.t")) == [(1,), (2,)]
    catalog.create_table(TABLE, table(), True)
    assert catalog.get_table(TABLE).get_options() == DATAGEN
    catalog.alter_table(TABLE, table(comment="new", connector="print"), False)
    assert catalog.get_table(TABLE).get_options() == {"connector": "print"}
    catalog.rename_table(TABLE, "t2", False)
    assert sorted(catalog.list_tables("db")) == ["days", "t2", "v"]
    catalog.drop_table(ObjectPath("db", "t2"), False)
    catalog.drop_table(NOPE, True)
    catalog.rename_table(NOPE, "x", True)
    catalog.alter_table(NOPE, table(), True)
    assert catalog.list_tables("db") == ["days", "v"]


def test_views(t_env, catalog):
    found = catalog.get_table(VIEW)
    assert (found.get_options(), found.get_comment()) == ({"a": "b"}, "a view")
    assert found.get_detailed_description() == "This is a catalog view implementation"
    assert sorted(query(t_env, "SELECT * FROM db.v")) == [(1,), (2,)]
    ((text,),) = t_env.execute_sql("SHOW CREATE VIEW db.v").collect()
    assert text == (
        "CREATE VIEW `default_catalog`.`db`.`v` (\n  `n`\n)\nCOMMENT 'a view'\n"
        "AS SELECT n FROM default_catalog.db.t\n"
    )
    assert t_env.list_views() == []
    t_env.use_database("db")
    assert t_env.list_views() == ["v"]


def test_a_view_is_bound_when_it_is_read(t_env, catalog):
    text = "SELECT n FROM default_catalog.db.later"
    catalog.create_table(
        ObjectPath("db", "w"),
        CatalogBaseTable.create_view(text, text, TableSchema(["n"], [DataTypes.INT()]), {}, ""),
        False,
    )
    with pytest.raises(Py4JJavaError, match="later"):
        t_env.sql_query("SELECT * FROM db.w")
    catalog.create_table(
        ObjectPath("db", "later"), CatalogBaseTable.create_table(COLUMNS, [], DATAGEN), False
    )
    assert sorted(query(t_env, "SELECT * FROM db.w")) == [(1,), (2,)]


def test_wrong_tables(catalog):
    missing = "Table (or view) db.nope does not exist in Catalog default_catalog."
    refused("TableNotExist", missing, catalog.get_table, NOPE)
    refused("TableNotExist", missing, catalog.drop_table, NOPE, False)
    refused("TableNotExist", missing, catalog.rename_table, NOPE, "x", False)
    refused("TableNotExist", missing, catalog.alter_table, NOPE, table(), False)
    refused("TableNotExist", missing, catalog.list_partitions, NOPE)
    refused("TableNotExist", missing, catalog.get_table_statistics, NOPE)
    refused("TableNotExist", missing, catalog.get_table_column_statistics, NOPE)
    there = "Table (or view) db.t already exists in Catalog default_catalog."
    refused("TableAlreadyExist", there, catalog.create_table, TABLE, table(), False)
    refused("TableAlreadyExist", there, catalog.rename_table, DAYS, "t", False)
    refused("DatabaseNotExist", "Database nowhere does not exist in Catalog default_catalog.",
            catalog.create_table, NOWHERE, table(), False)  # fmt: skip
    refused("Catalog",
            "Table types don't match. Existing table is 'VIEW' and new table is 'TABLE'.",
            catalog.alter_table, VIEW, table(), False)  # fmt: skip


def test_tables_of_sql(t_env, catalog):
    t_env.execute_sql(
        "CREATE TABLE db.z (a INT NOT NULL, b AS a + 1, ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, PRIMARY KEY (a) NOT ENFORCED) "
        "COMMENT 'zz' WITH ('connector' = 'datagen')"
    )
    found = catalog.get_table(ObjectPath("db", "z"))
    assert str(found.get_unresolved_schema()) == (
        "(\n  `a` INT NOT NULL,\n  `b` AS [`a` + 1],\n  `ts` TIMESTAMP(3),\n"
        "  WATERMARK FOR `ts` AS [`ts` - INTERVAL '1' SECOND],\n"
        "  CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED\n)"
    )
    assert (found.get_options(), found.get_comment()) == ({"connector": "datagen"}, "zz")
    catalog.drop_table(ObjectPath("db", "z"), False)
    with pytest.raises(Py4JJavaError, match="not found"):
        t_env.sql_query("SELECT * FROM db.z")


def test_specifications_of_partitions():
    both = CatalogPartitionSpec({"day": "1", "hour": "2"})
    assert str(DAY) == "CatalogPartitionSpec{{day=1}}"
    assert DAY.get_partition_spec() == {"day": "1"}
    assert CatalogPartitionSpec({"day": "1"}) == DAY
    assert DAY != OTHER_DAY
    assert hash(DAY) == hash(CatalogPartitionSpec({"day": "1"}))
    assert both == CatalogPartitionSpec({"hour": "2", "day": "1"})


def test_partitions(t_env, catalog):
    partition = CatalogPartition.create_instance({"k": "v"}, "first")
    catalog.create_partition(DAYS, DAY, partition, False)
    catalog.create_partition(DAYS, DAY, CatalogPartition.create_instance({}), True)
    assert catalog.get_partition(DAYS, DAY).get_comment() is None
    catalog.create_partition(DAYS, DAY, partition, True)
    catalog.create_partition(DAYS, OTHER_DAY, partition, False)
    assert sorted(map(str, catalog.list_partitions(DAYS))) == [str(DAY), str(OTHER_DAY)]
    assert catalog.list_partitions(DAYS, OTHER_DAY) == [OTHER_DAY]
    assert catalog.list_partitions(DAYS, CatalogPartitionSpec({"day": "3"})) == []
    assert catalog.list_partitions(DAYS, CatalogPartitionSpec({"n": "3"})) == []
    found = catalog.get_partition(DAYS, DAY)
    assert (found.get_properties(), found.get_comment()) == ({"k": "v"}, "first")
    assert (found.get_description(), found.get_detailed_description()) == (None, None)
    assert found.copy().get_comment() == "first"
    listed = {text for (text,) in t_env.execute_sql("SHOW PARTITIONS db.days").collect()}
    assert listed == {"day=1", "day=2"}
    catalog.alter_partition(DAYS, DAY, CatalogPartition.create_instance({"x": "y"}), False)
    assert catalog.get_partition(DAYS, DAY).get_properties() == {"x": "y"}
    catalog.drop_partition(DAYS, DAY, False)
    catalog.drop_partition(DAYS, DAY, True)
    catalog.drop_partition(NOPE, DAY, True)
    catalog.alter_partition(DAYS, DAY, partition, True)
    pairs = [(DAYS, DAY), (DAYS, OTHER_DAY), (TABLE, DAY), (NOPE, DAY)]
    assert [catalog.partition_exists(*pair) for pair in pairs] == [False, True, False, False]
    catalog.drop_table(DAYS, False)
    catalog.create_table(DAYS, table(["day"]), False)
    assert catalog.list_partitions(DAYS) == []


def test_wrong_partitions(catalog):
    partition = CatalogPartition.create_instance({})
    catalog.create_partition(DAYS, DAY, partition, False)
    there = f"Partition {DAY} of table db.days in catalog default_catalog already exists."
    refused("PartitionAlreadyExists", there, catalog.create_partition, DAYS, DAY, partition, False)
    wrong = CatalogPartitionSpec({"n": "1"})
    text = f"{wrong} does not match partition keys [day] of table db.days in catalog"
    refused("PartitionSpecInvalid", f"PartitionSpec {text} default_catalog.",
            catalog.create_partition, DAYS, wrong, partition, False)  # fmt: skip
    single = "Table db.t in catalog default_catalog is not partitioned."
    refused("TableNotPartitioned", single, catalog.create_partition, TABLE, DAY, partition, False)
    refused("TableNotPartitioned", single, catalog.list_partitions, TABLE)
    refused("TableNotPartitioned", single, catalog.list_partitions, TABLE, DAY)
    missing = f"Partition {OTHER_DAY} of table db.days in catalog default_catalog does not exist."
    statistics, columns = CatalogTableStatistics(1, 1, 1, 1), CatalogColumnStatistics({})
    for call, *arguments in [
        (catalog.get_partition,),
        (catalog.drop_partition, False),
        (catalog.alter_partition, partition, False),
        (catalog.get_partition_statistics,),
        (catalog.get_partition_column_statistics,),
        (catalog.alter_partition_statistics, statistics, False),
        (catalog.alter_partition_column_statistics, columns, False),
    ]:
        refused("PartitionNotExist", missing, call, DAYS, OTHER_DAY, *arguments)


def test_functions(t_env, catalog):
    path = ObjectPath("db", "Squeeze")
    function = CatalogFunction.create_instance("functions_of_catalogs.squeeze")
    java = CatalogFunction.create_instance("org.x.Y", "Java")
    assert function.get_class_name() == "functions_of_catalogs.squeeze"
    assert function.get_description() == "This is a user-defined function"
    assert function.get_detailed_description() == "This is a user-defined function"
    assert function.get_options() == {}
    assert str(function.get_function_language()) == "PYTHON"
    assert java.copy().get_function_language() == java.get_function_language()
    assert java.get_function_language() != function.get_function_language()
    with pytest.raises(ValueError, match="must be one of 'Python', 'Java' or 'Scala'"):
        CatalogFunction.create_instance("x", "Ruby")
    catalog.create_function(path, function, False)
    catalog.create_function(path, java, True)
    assert catalog.list_functions("db") == ["squeeze"]
    assert catalog.function_exists(ObjectPath("db", "SQUEEZE"))
    assert not catalog.function_exists(NOWHERE)
    assert catalog.get_function(path).get_class_name() == function.get_class_name()
    catalog.alter_function(path, java, False)
    assert catalog.get_function(path).get_class_name() == "org.x.Y"
    catalog.drop_function(path, False)
    catalog.drop_function(path, True)
    catalog.alter_function(path, java, True)
    t_env.execute_sql("CREATE FUNCTION db.f AS 'a.b' LANGUAGE PYTHON")
    assert catalog.get_function(ObjectPath("db", "F")).get_class_name() == "a.b"
    t_env.execute_sql("DROP FUNCTION db.f")
    assert catalog.list_functions("db") == []


def test_wrong_functions(catalog):
    function = CatalogFunction.create_instance("a.b")
    catalog.create_function(TABLE, function, False)
    there = "Function db.t already exists in Catalog default_catalog."
    refused("FunctionAlreadyExist", there, catalog.create_function, TABLE, function, False)
    refused("DatabaseNotExist", "Database nowhere does not exist in Catalog default_catalog.",
            catalog.create_function, NOWHERE, function, True)  # fmt: skip
    missing = "Function db.nope does not exist in Catalog default_catalog."
    refused("FunctionNotExist", missing, catalog.get_function, NOPE)
    refused("FunctionNotExist", missing, catalog.alter_function, NOPE, function, False)
    refused("FunctionNotExist", missing, catalog.drop_function, NOPE, False)
    with pytest.raises(Py4JJavaError, match="listProcedures is not implemented"):
        catalog.list_procedures("db")
    with pytest.raises(Py4JJavaError, match="getProcedure is not implemented"):
        catalog.get_procedure(NOPE)


def test_models(catalog):
    schema = Schema.new_builder().column("a", "INT").build()
    model = CatalogModel.create_model(schema, schema, {"provider": "x"}, "a model")
    path, renamed = ObjectPath("db", "m"), ObjectPath("db", "m2")
    catalog.create_model(path, model, False)
    catalog.create_model(path, model, True)
    found = catalog.get_model(path)
    assert (found.get_options(), found.get_comment()) == ({"provider": "x"}, "a model")
    there = "Model db.m already exists in Catalog default_catalog."
    refused("ModelAlreadyExist", there, catalog.create_model, path, model, False)
    catalog.rename_model(path, "m2", False)
    assert catalog.list_models("db") == ["m2"]
    assert [catalog.model_exists(each) for each in (path, renamed)] == [False, True]
    catalog.alter_model(renamed, CatalogModel.create_model(schema, schema), False)
    assert catalog.get_model(renamed).get_options() == {}
    missing = "Model '`default_catalog`.`db`.`m`' does not exist."
    refused("ModelNotExist", missing, catalog.get_model, path)
    refused("ModelNotExist", missing, catalog.alter_model, path, model, False)
    refused("ModelNotExist", missing, catalog.rename_model, path, "x", False)
    refused("ModelNotExist", missing, catalog.drop_model, path, False)
    catalog.drop_model(path, True)
    catalog.drop_model(renamed, False)
    assert catalog.list_models("db") == []


def test_statistics(catalog):
    catalog.create_partition(DAYS, DAY, CatalogPartition.create_instance({}), False)
    statistics = CatalogTableStatistics(1000, 1, 12345, 0, {"a": "b"})
    unknown = catalog.get_table_statistics(TABLE)
    assert _numbers(unknown) == (-1, -1, -1, -1)
    assert unknown.get_properties() == {}
    for path in (TABLE, DAYS):
        catalog.alter_table_statistics(path, statistics, False)
    assert _numbers(catalog.get_table_statistics(TABLE).copy()) == (1000, 1, 12345, 0)
    assert catalog.get_table_statistics(TABLE).get_properties() == {"a": "b"}
    assert _numbers(catalog.get_table_statistics(DAYS)) == (-1, -1, -1, -1)
    assert _numbers(catalog.get_partition_statistics(DAYS, DAY)) == (-1, -1, -1, -1)
    catalog.alter_partition_statistics(DAYS, DAY, statistics, False)
    assert _numbers(catalog.get_partition_statistics(DAYS, DAY)) == (1000, 1, 12345, 0)
    catalog.alter_table_statistics(NOPE, statistics, True)
    catalog.alter_partition_statistics(NOPE, DAY, statistics, True)


def _numbers(found):
    sizes = (found.get_total_size(), found.get_raw_data_size())
    return (found.get_row_count(), found.get_field_count(), *sizes)


def test_statistics_of_columns(catalog):
    catalog.create_partition(DAYS, DAY, CatalogPartition.create_instance({}), False)
    found = catalog.get_table_column_statistics(TABLE)
    assert (dict(found.get_column_statistics_data()), found.get_properties()) == ({}, {})
    given = CatalogColumnStatistics({}, {"p": "q"})
    for path in (TABLE, DAYS):
        catalog.alter_table_column_statistics(path, given, False)
    assert catalog.get_table_column_statistics(TABLE).copy().get_properties() == {"p": "q"}
    assert catalog.get_table_column_statistics(DAYS).get_properties() == {"p": "q"}
    assert catalog.get_partition_column_statistics(DAYS, DAY).get_properties() == {}
    catalog.alter_partition_column_statistics(DAYS, DAY, given, False)
    assert catalog.get_partition_column_statistics(DAYS, DAY).get_properties() == {"p": "q"}


def test_catalogs_of_an_environment(t_env):
    assert t_env.get_catalog("nope") is None
    options = Configuration()
    options.set_string("type", "generic_in_memory").set_string("default-database", "first")
    t_env.create_catalog("c", CatalogDescriptor.of("c", options, "mine"))
    catalog = t_env.get_catalog("c")
    assert catalog.get_default_database() == "first"
    assert catalog.list_databases() == ["first"]
    t_env.register_catalog("d", catalog)
    assert t_env.list_catalogs() == ["c", "d", "default_catalog"]
    catalog.create_database("second", DATABASE({}), False)
    assert t_env.get_catalog("d").database_exists("second")
    t_env.use_catalog("d")
    assert t_env.get_current_database() == "first"
    there = "Catalog c already exists."
    refused("Catalog", there, t_env.create_catalog, "c", CatalogDescriptor.of("c", options))
    refused("Catalog", there, t_env.register_catalog, "c", catalog)
    with pytest.raises(Py4JJavaError, match="Unable to create catalog 'e'"):
        t_env.create_catalog("e", CatalogDescriptor.of("e", Configuration()))
