"""Data types, the columns of tables as objects, and the names and options of an environment."""

from __future__ import annotations

import datetime

import pytest
from pyflink.table import DataTypes, Schema, SqlDialect, TableSchema
from pyflink.table.catalog import (
    Column,
    ComputedColumn,
    ObjectIdentifier,
    ObjectPath,
    PhysicalColumn,
    ResolvedSchema,
)
from pyflink.table.expressions import col, lit

TABLE = """
    CREATE TABLE made (
        id INT NOT NULL, name STRING COMMENT 'who', twice AS id * 2, ts TIMESTAMP(3),
        PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
    ) WITH ('connector' = 'datagen', 'number-of-rows' = '1')
"""


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)), "DayTimeIntervalType(true)"),
        (DataTypes.INTERVAL(DataTypes.HOUR()), "DayTimeIntervalType(true)"),
        (DataTypes.INTERVAL(DataTypes.YEAR(4)), "YearMonthIntervalType(true)"),
        (DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()), "YearMonthIntervalType(true)"),
        (DataTypes.LIST_VIEW(DataTypes.INT()), "ListViewType(IntType(true))"),
        (
            DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.DATE()),
            "MapViewType(IntType(true), DateType(true))",
        ),
    ],
)
def test_types_of_intervals_and_views(made, text):
    assert repr(made) == text


def test_an_interval_that_there_is_not():
    with pytest.raises(KeyError):
        DataTypes.INTERVAL(DataTypes.SECOND(), DataTypes.DAY())
    with pytest.raises(AssertionError):
        DataTypes.INTERVAL(DataTypes.YEAR(5))


def test_precisions_of_an_interval():
    made = DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(4))
    assert (made.day_precision, made.fractional_precision) == (3, 4)
    assert made.resolution.name == "DAY_TO_SECOND"


def test_values_in_the_form_of_files():
    kind = DataTypes.ROW(
        [
            DataTypes.FIELD("day", DataTypes.DATE()),
            DataTypes.FIELD("times", DataTypes.ARRAY(DataTypes.TIME())),
            DataTypes.FIELD("n", DataTypes.MAP(DataTypes.STRING(), DataTypes.DATE())),
        ]
    )
    given = (datetime.date(2024, 1, 2), [datetime.time(1, 2, 3)], {"a": datetime.date(1970, 1, 2)})
    assert kind.to_sql_type(given) == (0, 19724, [3723000000], {"a": 1})
    back = kind.from_sql_type((19724, None, {"a": 1}))
    assert (back.day, back.times, back.n) == (given[0], None, given[2])
    assert kind.need_conversion()
    assert not DataTypes.INT().need_conversion()


def test_columns_of_a_table(t_env):
    t_env.execute_sql(TABLE)
    schema = t_env.from_path("made").get_resolved_schema()
    assert str(schema).replace(" *ROWTIME*", "") == (
        "(\n"
        "  `id` INT NOT NULL,\n"
        "  `name` STRING COMMENT 'who',\n"
        "  `twice` INT NOT NULL AS `id` * 2,\n"
        "  `ts` TIMESTAMP(3),\n"
        "  WATERMARK FOR `ts`: TIMESTAMP(3) AS `ts` - INTERVAL '1' SECOND,\n"
        "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED\n"
        ")"
    )
    kinds = [type(column) for column in schema.get_columns()]
    assert kinds == [PhysicalColumn, PhysicalColumn, ComputedColumn, PhysicalColumn]
    twice = schema.get_column("twice")
    assert (twice.explain_extras(), twice.is_persisted()) == ("AS `id` * 2", False)
    assert schema.get_column("name").get_comment() == "who"
    assert list(schema.get_primary_key_indexes()) == [0]
    key = schema.get_primary_key()
    assert (key.get_name(), list(key.get_columns()), key.is_enforced()) == ("PK_id", ["id"], False)
    (mark,) = schema.get_watermark_specs()
    assert mark.get_rowtime_attribute() == "ts"
    assert str(mark.get_watermark_expression()) == "`ts` - INTERVAL '1' SECOND"


def test_columns_of_a_query(t_env):
    table = t_env.sql_query("SELECT 1 AS i, INTERVAL '2' DAY AS d, INTERVAL '3' MONTH AS m")
    schema = table.get_resolved_schema()
    assert str(schema) == (
        "(\n  `i` INT NOT NULL,\n  `d` INTERVAL SECOND(3) NOT NULL,\n"
        "  `m` INTERVAL MONTH NOT NULL\n)"
    )
    assert list(schema.get_column_names()) == ["i", "d", "m"]
    assert schema.get_column_count() == 3
    assert schema.get_column(99) is None
    assert schema.get_primary_key() is None
    assert [type(kind).__name__ for kind in schema.get_column_data_types()] == [
        "IntType", "DayTimeIntervalType", "YearMonthIntervalType",
    ]  # fmt: skip


def test_columns_that_a_program_makes():
    schema = ResolvedSchema.of(
        [
            Column.physical("a", DataTypes.INT().not_null()),
            Column.metadata("b", DataTypes.STRING(), "key", True),
        ]
    )
    assert str(schema) == ("(\n  `a` INT NOT NULL,\n  `b` STRING METADATA FROM 'key' VIRTUAL\n)")
    assert schema == ResolvedSchema.of(schema.get_columns())
    physical = ResolvedSchema.physical(["a"], [DataTypes.INT().not_null()])
    assert schema != physical
    assert str(physical) == "(\n  `a` INT NOT NULL\n)"
    made = Schema.new_builder().from_resolved_schema(physical).build()
    assert str(made) == "(\n  `a` INT NOT NULL\n)"


def test_names_of_objects():
    assert str(ObjectPath("db", "t")) == "db.t"
    assert ObjectPath.from_string("db.t") == ObjectPath("db", "t")
    assert ObjectPath("db", "a") < ObjectPath("db", "b")
    found = ObjectIdentifier.of("c", "d", "t")
    assert (str(found), found.as_summary_string()) == ("`c`.`d`.`t`", "c.d.t")
    assert found.to_object_path() == ObjectPath("d", "t")


def test_a_schema_is_built():
    built = TableSchema.builder().field("a", DataTypes.INT()).field("b", DataTypes.STRING()).build()
    assert built.get_field_names() == ["a", "b"]
    assert str(built.get_field_data_type("b")) == "VARCHAR"


def test_modules(t_env):
    assert t_env.list_modules() == ["core"]
    (entry,) = t_env.list_full_modules()
    assert repr(entry) == "ModuleEntry{name='core', used=true}"
    assert t_env.list_models() == t_env.list_temporary_models() == []
    assert t_env.list_materialized_tables() == []
    assert not t_env.drop_model("m")
    assert {"upper", "count"} <= {name.lower() for name in t_env.list_functions()}


def test_time_to_keep_state(t_env):
    config = t_env.get_config()
    assert config.get_idle_state_retention() == datetime.timedelta(0)
    config.set_idle_state_retention(datetime.timedelta(minutes=90))
    assert config.get_idle_state_retention() == datetime.timedelta(hours=1, minutes=30)
    assert config.get("table.exec.state.ttl", "").replace(" ", "") == "90min"


def test_dialects(t_env):
    config = t_env.get_config()
    config.set_sql_dialect(SqlDialect.DEFAULT)
    assert config.get_sql_dialect() == SqlDialect.DEFAULT == 0
    with pytest.raises(TypeError, match="Unsupported SQL dialect"):
        config.set_sql_dialect("other")


def test_fields_of_expressions(t_env):
    assert str(col("a")[1]) == "at(a, 1)"
    table = t_env.sql_query("SELECT CAST(ROW(1, 'x') AS ROW<n INT, s STRING>) AS r, ARRAY[5] AS a")
    with table.select(col("r").n, col("a")[1] + lit(1)).execute().collect() as found:
        assert [tuple(row) for row in found] == [(1, 6)]
