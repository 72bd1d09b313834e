"""Statements that change what is in a catalog: tables, views, databases, functions, modules."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes
from pyflink.table.udf import udf

from compat_tests.tables import query

SOURCE = """
CREATE TABLE src (
  a INT,
  b STRING COMMENT 'the b',
  c AS a + 1,
  ts TIMESTAMP(3),
  p STRING,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED
) PARTITIONED BY (p) WITH ('connector' = 'datagen')
"""


@pytest.fixture
def src(t_env):
    t_env.execute_sql(SOURCE)
    return t_env


def shown(t_env, statement):
    with t_env.execute_sql(statement).collect() as rows:
        return [tuple(row) for row in rows]


def columns(t_env, table="src"):
    """Returns name, type, nullability, key and what else there is to say of each column."""
    return [row[:5] for row in shown(t_env, f"DESCRIBE {table}")]


def refused(t_env, statement, message):
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(statement)


def test_added_columns_stand_where_they_are_put(src):
    src.execute_sql("ALTER TABLE src ADD d BIGINT")
    src.execute_sql("ALTER TABLE src ADD (e BIGINT COMMENT 'e' FIRST, f AS a * 2 AFTER a, g INT)")
    assert columns(src) == [
        ("e", "BIGINT", True, None, None),
        ("a", "INT", False, "PRI(a)", None),
        ("f", "INT", False, None, "AS `a` * 2"),
        ("b", "STRING", True, None, None),
        ("c", "INT", False, None, "AS `a` + 1"),
        ("ts", "TIMESTAMP(3) *ROWTIME*", True, None, None),
        ("p", "STRING", True, None, None),
        ("d", "BIGINT", True, None, None),
        ("g", "INT", True, None, None),
    ]


def test_a_changed_column_keeps_its_place_and_comment(src):
    src.execute_sql("ALTER TABLE src MODIFY b INT")
    src.execute_sql("ALTER TABLE src MODIFY (p BIGINT COMMENT 'part' FIRST)")
    src.execute_sql("ALTER TABLE src MODIFY c AS UPPER(CAST(b AS STRING)) AFTER ts")
    described = shown(src, "DESCRIBE src")
    assert [(row[0], row[1], row[-1]) for row in described] == [
        ("p", "BIGINT", "part"),
        ("a", "INT", None),
        ("b", "INT", "the b"),
        ("ts", "TIMESTAMP(3) *ROWTIME*", None),
        ("c", "STRING", None),
    ]


def test_a_key_and_a_watermark_go_and_come(src):
    src.execute_sql("ALTER TABLE src DROP PRIMARY KEY")
    src.execute_sql("ALTER TABLE src DROP WATERMARK")
    assert columns(src)[0] == ("a", "INT", False, None, None)
    assert columns(src)[3] == ("ts", "TIMESTAMP(3)", True, None, None)
    src.execute_sql("ALTER TABLE src ADD (CONSTRAINT n PRIMARY KEY (b) NOT ENFORCED, z INT)")
    src.execute_sql("ALTER TABLE src ADD WATERMARK FOR ts AS ts")
    assert columns(src)[1] == ("b", "STRING", False, "PRI(b)", None)
    src.execute_sql("ALTER TABLE src MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' HOUR")
    assert shown(src, "DESCRIBE src")[3][5] == "`ts` - INTERVAL '1' HOUR"
    src.execute_sql("ALTER TABLE src DROP CONSTRAINT n")
    assert all(row[3] is None for row in columns(src))


def test_dropped_and_renamed_columns(src):
    src.execute_sql("ALTER TABLE src DROP c")
    src.execute_sql("ALTER TABLE src RENAME b TO bb")
    assert [row[0] for row in columns(src)] == ["a", "bb", "ts", "p"]
    ((text,),) = shown(src, "SHOW CREATE TABLE src")
    assert "`bb` VARCHAR(2147483647) COMMENT 'the b'" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ADD a INT", "Column `a` already exists in the table"),
        ("ADD (x INT, x STRING)", "Encounter duplicate column `x`"),
        ("ADD z INT AFTER nope", "Referenced column `nope` by 'AFTER' does not exist"),
        ("ADD WATERMARK FOR ts AS ts", "already defined the watermark strategy `ts` AS `ts` - "),
        ("ADD PRIMARY KEY (b) NOT ENFORCED", r"already defined the primary key constraint \[`a`"),
        ("MODIFY nope INT", "Column `nope` does not exist in the table"),
        ("DROP nope", "The column `nope` does not exist in the base table"),
        ("DROP a", "The column `a` is referenced by computed column `c`"),
        ("DROP (a, c)", "The column `a` is used as the primary key"),
        ("DROP ts", "The column `ts` is referenced by watermark expression"),
        ("DROP p", "The column `p` is used as the partition keys"),
        ("DROP (b, b)", "Duplicate column `b`"),
        ("DROP CONSTRAINT other", r"named 'other'\. Available constraint name: \['k'\]"),
        ("RENAME a TO aa", "The column `a` is referenced by computed column `c`"),
        ("RENAME b TO a", "The column `a` already existed in table schema"),
        ("RENAME nope TO n", "The column `nope` does not exist in the base table"),
    ],
)
def test_refused_changes_leave_a_table_as_it_was(src, change, message):
    before = columns(src)
    refused(src, f"ALTER TABLE src {change}", message)
    assert columns(src) == before


def test_what_is_not_there_cannot_go(src):
    src.execute_sql("ALTER TABLE src DROP WATERMARK")
    src.execute_sql("ALTER TABLE src DROP PRIMARY KEY")
    refused(src, "ALTER TABLE src DROP WATERMARK", "does not define any watermark strategy")
    refused(src, "ALTER TABLE src DROP PRIMARY KEY", "does not define any primary key")
    refused(src, "ALTER TABLE src DROP CONSTRAINT k", "does not define any primary key")
    modify = "ALTER TABLE src MODIFY"
    refused(src, f"{modify} WATERMARK FOR ts AS ts", "does not define any watermark")
    refused(src, f"{modify} PRIMARY KEY (a) NOT ENFORCED", "does not define any primary key")


def test_tables_that_are_missing_or_temporary(t_env):
    t_env.execute_sql("ALTER TABLE IF EXISTS nope ADD d BIGINT")
    t_env.execute_sql("ALTER TABLE IF EXISTS nope DROP d")
    t_env.execute_sql("CREATE TEMPORARY TABLE tmp (a INT) WITH ('connector' = 'datagen')")
    for name in ("nope", "tmp"):
        refused(t_env, f"ALTER TABLE {name} ADD b INT", "doesn't exist or is a temporary table")
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS x")
    refused(t_env, "ALTER TABLE v ADD d BIGINT", "ALTER TABLE for a view is not allowed")


def test_an_altered_table_is_read_with_its_new_columns(t_env, tmp_path):
    (tmp_path / "rows.csv").write_text("1,x\n2,y\n")
    t_env.execute_sql(
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{tmp_path / 'rows.csv'}', 'csv.ignore-parse-errors' = 'true')"
    )
    t_env.execute_sql("ALTER TABLE t ADD (b STRING, n AS a * 10)")
    assert sorted(query(t_env, "SELECT n, b FROM t")) == [(10, "x"), (20, "y")]


def test_a_view_gets_another_query(t_env):
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS x")
    t_env.execute_sql("ALTER VIEW v AS SELECT 'two' AS y, 3 AS z")
    assert query(t_env, "SELECT z, y FROM v") == [(3, "two")]
    t_env.execute_sql("CREATE TEMPORARY VIEW tmp AS SELECT 1 AS x")
    refused(t_env, "ALTER VIEW tmp AS SELECT 2", "doesn't exist or is a temporary view")
    refused(t_env, "ALTER VIEW nope AS SELECT 2", "doesn't exist or is a temporary view")
    refused(t_env, "ALTER VIEW v AS SELECT nope FROM v", "'nope' not found")
    assert query(t_env, "SELECT z FROM v") == [(3,)]


def test_databases_and_catalogs_show_what_was_set(t_env):
    t_env.execute_sql("CREATE DATABASE d WITH ('k' = 'v')")
    t_env.execute_sql("ALTER DATABASE d SET ('k' = 'w', 'l' = 'x')")
    refused(t_env, "ALTER DATABASE nope SET ('a' = 'b')", "Database nope not exists")
    refused(t_env, "ALTER DATABASE nope.d SET ('a' = 'b')", "Catalog nope not exists")
    t_env.execute_sql(
        "CREATE CATALOG c COMMENT 'second' WITH ('type' = 'generic_in_memory', "
        "'default-database' = 'db')"
    )
    created = (
        "CREATE CATALOG `c`\nCOMMENT 'second'\nWITH (\n  'default-database' = 'db',\n"
        "  'type' = 'generic_in_memory'\n)\n"
    )
    assert shown(t_env, "SHOW CREATE CATALOG c") == [(created,)]
    t_env.execute_sql("ALTER CATALOG c COMMENT 'other'")
    t_env.execute_sql("ALTER CATALOG c RESET ('nothing')")
    described = [("name", "c"), ("type", "generic_in_memory"), ("comment", "other")]
    assert shown(t_env, "DESCRIBE CATALOG c") == described
    option = ("option:default-database", "db")
    assert shown(t_env, "DESC CATALOG EXTENDED c") == [*described, option]
    refused(t_env, "ALTER CATALOG c SET ('k' = 'v')", "Unable to create catalog 'c'")
    refused(t_env, "ALTER CATALOG c RESET ('type')", "RESET does not support changing 'type'")
    refused(t_env, "DESCRIBE CATALOG nope", "Cannot obtain metadata information from Catalog nope")
    refused(t_env, "DROP CATALOG default_catalog", "currently in use")


def test_modules_come_and_go(t_env):
    refused(t_env, "LOAD MODULE core", "A module with name 'core' already exists")
    refused(t_env, "LOAD MODULE nope", "Unable to create module 'nope'")
    refused(t_env, "UNLOAD MODULE nope", "No module with name 'nope' exists")
    refused(t_env, "USE MODULES core, core", "Module 'core' appears more than once")
    refused(t_env, "USE MODULES nope", "No module with name 'nope' exists")
    with pytest.raises(Exception, match="appears more than once"):
        t_env.use_modules("core", "core")
    t_env.use_modules("core")
    t_env.execute_sql("UNLOAD MODULE core")
    assert (t_env.list_modules(), shown(t_env, "SHOW FULL MODULES")) == ([], [])
    assert query(t_env, "SELECT UPPER('a'), 1 + 1") == [("A", 2)]
    t_env.execute_sql("LOAD MODULE core")
    assert t_env.list_modules() == ["core"]
    t_env.unload_module("core")
    assert t_env.list_modules() == []


@udf(result_type=DataTypes.STRING())
def first(_value):
    return "first"


@udf(result_type=DataTypes.STRING())
def second(_value):
    return "second"


def test_a_system_function_comes_before_one_of_a_database(t_env):
    t_env.create_temporary_function("f", first)
    assert query(t_env, "SELECT f(1)") == [("first",)]
    t_env.create_temporary_system_function("f", second)
    assert query(t_env, "SELECT f(1)") == [("second",)]
    assert query(t_env, "SELECT default_database.f(1)") == [("first",)]
    assert t_env.drop_temporary_system_function("f")
    assert query(t_env, "SELECT F(1)") == [("first",)]


def test_functions_of_a_catalog_are_looked_for_when_they_are_used(t_env):
    t_env.execute_sql("CREATE FUNCTION g AS 'no.such.object' LANGUAGE PYTHON")
    refused(t_env, "CREATE FUNCTION g AS 'x.y' LANGUAGE PYTHON", "g already exists in Catalog")
    t_env.execute_sql("CREATE TEMPORARY FUNCTION h AS 'no.such.object' LANGUAGE PYTHON")
    assert shown(t_env, "SHOW USER FUNCTIONS") == [("g",), ("h",)]
    refused(t_env, "SELECT g(1)", "Cannot instantiate user-defined function")
    t_env.execute_sql("ALTER FUNCTION g AS 'no.other.object' LANGUAGE PYTHON")
    t_env.execute_sql("ALTER FUNCTION IF EXISTS nope AS 'x.y' LANGUAGE PYTHON")
    refused(t_env, "ALTER FUNCTION nope AS 'x.y' LANGUAGE PYTHON", "nope does not exist in Catalog")
    refused(t_env, "ALTER TEMPORARY FUNCTION h AS 'x.y' LANGUAGE PYTHON", "is not supported")
    create = "CREATE TEMPORARY FUNCTION"
    refused(t_env, f"{create} h AS 'x.y' LANGUAGE PYTHON", "h' does already exist")
    t_env.execute_sql(f"{create} IF NOT EXISTS h AS 'x.y' LANGUAGE PYTHON")
    t_env.execute_sql("DROP FUNCTION g")
    refused(t_env, "DROP FUNCTION g", "g does not exist in Catalog")
    t_env.execute_sql("DROP FUNCTION IF EXISTS g")
    t_env.execute_sql("DROP TEMPORARY FUNCTION h")
    refused(t_env, "DROP TEMPORARY FUNCTION h", "doesn't exist")
    refused(t_env, "DROP TEMPORARY SYSTEM FUNCTION h", "doesn't exist")
    assert shown(t_env, "SHOW USER FUNCTIONS") == []
