"""Statements that create, show and write; results and what is printed of them."""

# ruff: noqa: E501, ISC004

from __future__ import annotations

import re

import pytest
from pyflink.table import (
    DataTypes,
    EnvironmentSettings,
    ResultKind,
    Schema,
    StreamTableEnvironment,
    TableDescriptor,
    TableEnvironment,
)
from pyflink.table.expressions import col
from pyflink.table.udf import AggregateFunction, udaf, udf, udtf

from compat_tests.tables import query, rows


def lines_of(path):
    files = [p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return sorted(line for file in files for line in file.read_text().splitlines())


def test_printed_result(t_env, printed):
    table = t_env.from_elements([(1, "Ann", 1.5), (2, None, -2.0)], ["id", "name", "score"])
    assert printed(table.execute().print) == [
        "+----+----------------------+--------------------------------+--------------------------------+",
        "| op |                   id |                           name |                          score |",
        "+----+----------------------+--------------------------------+--------------------------------+",
        "| +I |                    1 |                            Ann |                            1.5 |",
        "| +I |                    2 |                         <NULL> |                           -2.0 |",
        "+----+----------------------+--------------------------------+--------------------------------+",
        "2 rows in set",
    ]


def test_printed_columns_have_room_for_null(t_env, printed):
    query = (
        "SELECT CAST(1 AS TINYINT) t, CAST(2 AS SMALLINT) s, TRUE b, CAST(1.5 AS DECIMAL(3, 1)) d, "
        "CAST(1.5 AS DECIMAL(9, 1)) e"
    )
    lines = printed(lambda: t_env.execute_sql(query).print())
    assert lines[:4] == [
        "+----+--------+--------+--------+--------+-------------+",
        "| op |      t |      s |      b |      d |           e |",
        "+----+--------+--------+--------+--------+-------------+",
        "| +I |      1 |      2 |   TRUE |    1.5 |         1.5 |",
    ]


def test_printed_values(t_env, printed):
    result = t_env.execute_sql(
        "SELECT TRUE, 1.0E7, TIMESTAMP '2024-02-29 01:02:03.400', ARRAY[1, 2], MAP['k', 'v'], "
        "ROW(1, 'x'), x'6869', 12.30, DATE '2024-01-02', 'a text that is longer than its column'"
    )
    line = printed(result.print)[3]
    assert [cell.strip() for cell in line.split("|")[2:-1]] == [
        "TRUE", "1.0E7", "2024-02-29 01:02:03.400", "[1, 2]", "{k=v}", "(1, x)", "x'6869'",
        "12.30", "2024-01-02", "a text that is longer than ...",
    ]  # fmt: skip


def test_printed_empty_result(t_env, printed):
    result = t_env.execute_sql("SELECT * FROM (VALUES (1)) AS t(x) WHERE x > 1")
    assert printed(result.print) == ["Empty set"]


def test_printed_result_of_batch(printed):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    assert printed(t_env.execute_sql("SELECT 1 AS x, 'a' AS y").print) == [
        "+-------------+--------------------------------+",
        "|           x |                              y |",
        "+-------------+--------------------------------+",
        "|           1 |                              a |",
        "+-------------+--------------------------------+",
        "1 row in set",
    ]


def test_result_of_a_definition(t_env, printed):
    result = t_env.execute_sql("CREATE TABLE p (a INT) WITH ('connector' = 'print')")
    assert result.get_result_kind() == ResultKind.SUCCESS
    assert result.get_job_client() is None
    assert result.wait() is None
    assert printed(result.print) == ["OK"]


def test_result_of_an_insert(t_env):
    t_env.execute_sql("CREATE TABLE b (a INT) WITH ('connector' = 'blackhole')")
    result = t_env.execute_sql("INSERT INTO b VALUES (1), (2)")
    result.wait()
    assert result.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT
    assert result.get_table_schema().get_field_names() == ["default_catalog.default_database.b"]
    assert len(str(result.get_job_client().get_job_id())) == 32


def test_printed_result_of_an_insert(t_env, printed):
    t_env.execute_sql("CREATE TABLE b (a INT) WITH ('connector' = 'blackhole')")
    result = t_env.execute_sql("INSERT INTO b VALUES (1), (2)")
    result.wait()
    assert printed(result.print) == ["-1"]
    both = t_env.create_statement_set().add_insert_sql("INSERT INTO b VALUES (1)")
    result = both.add_insert_sql("INSERT INTO b VALUES (2)").execute()
    result.wait()
    assert printed(result.print) == ["-1"]


def test_printed_plan(t_env, printed):
    lines = printed(t_env.execute_sql("EXPLAIN SELECT 1 AS x").print)
    assert lines[0] == "== Abstract Syntax Tree =="
    assert not any(line.startswith(("+--", "|")) for line in lines)


def test_shown_names(t_env, printed):
    t_env.execute_sql("CREATE TABLE b (a INT) WITH ('connector' = 'blackhole')")
    t_env.execute_sql("CREATE TABLE a (a INT) WITH ('connector' = 'blackhole')")
    t_env.execute_sql("CREATE TEMPORARY VIEW c AS SELECT 1 AS x")
    assert printed(t_env.execute_sql("SHOW TABLES").print) == [
        "+------------+",
        "| table name |",
        "+------------+",
        "|          a |",
        "|          b |",
        "|          c |",
        "+------------+",
        "3 rows in set",
    ]
    assert [row[0] for row in t_env.execute_sql("SHOW VIEWS").collect()] == ["c"]
    assert [row[0] for row in t_env.execute_sql("SHOW CURRENT DATABASE").collect()] == [
        "default_database"
    ]
    assert t_env.list_tables() == ["a", "b", "c"]
    assert t_env.list_views() == ["c"]
    assert (t_env.drop_temporary_view("c"), t_env.drop_temporary_view("c")) == (True, False)


def test_described_table(t_env):
    t_env.execute_sql(
        "CREATE TABLE d (id INT NOT NULL, name STRING, ts TIMESTAMP(3), amount DECIMAL(10, 2), "
        "PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'datagen')"
    )
    assert [tuple(row) for row in t_env.execute_sql("DESCRIBE d").collect()] == [
        ("id", "INT", False, "PRI(id)", None, None),
        ("name", "STRING", True, None, None, None),
        ("ts", "TIMESTAMP(3)", True, None, None, None),
        ("amount", "DECIMAL(10, 2)", True, None, None, None),
    ]


CREATION = """CREATE TABLE `default_catalog`.`default_database`.`d` (
  `id` INT NOT NULL COMMENT 'it''s the key',
  `name` VARCHAR(2147483647),
  `n` BIGINT METADATA FROM 'x' VIRTUAL,
  `ts` TIMESTAMP(3),
  `later` AS `ts` + INTERVAL '1' DAY,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '1' SECOND,
  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
)
COMMENT 'all'
PARTITIONED BY (`name`)
WITH (
  'connector' = 'blackhole',
  'quoted' = 'it''s'
)
"""


def test_shown_creation(t_env):
    t_env.execute_sql(CREATION)
    shown = t_env.execute_sql("SHOW CREATE TABLE d").collect()
    assert [tuple(row) for row in shown] == [(CREATION,)]
    t_env.execute_sql("CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'blackhole')")
    ((text,),) = t_env.execute_sql("SHOW CREATE TABLE t").collect()
    assert text.startswith("CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`t` (\n")
    with pytest.raises(Exception, match="`nope` does not exist"):
        t_env.execute_sql("SHOW CREATE TABLE nope")
    t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS x")
    with pytest.raises(Exception, match=r"is a view\. Please use SHOW CREATE VIEW"):
        t_env.execute_sql("SHOW CREATE TABLE v")


def test_shown_functions_and_modules(t_env):
    t_env.create_temporary_system_function("Twice", udf(lambda i: i * 2, result_type="BIGINT"))
    result = t_env.execute_sql("SHOW USER FUNCTIONS")
    assert result.get_table_schema().get_field_names() == ["function name"]
    assert [tuple(row) for row in result.collect()] == [("twice",)]
    listed = {row[0] for row in t_env.execute_sql("SHOW FUNCTIONS").collect()}
    assert "twice" in listed
    assert [tuple(row) for row in t_env.execute_sql("SHOW MODULES").collect()] == [("core",)]
    full = t_env.execute_sql("SHOW FULL MODULES").collect()
    assert [tuple(row) for row in full] == [("core", True)]


def described(t_env, name):
    return dict(tuple(row) for row in t_env.execute_sql(f"DESCRIBE FUNCTION {name}").collect())


def test_described_functions_of_flink(t_env):
    result = t_env.execute_sql("DESC FUNCTION now")
    assert result.get_table_schema().get_field_names() == ["info name", "info value"]
    plain = [("is system function", "true"), ("is temporary", "false")]
    assert [tuple(row) for row in result.collect()] == plain
    assert list(described(t_env, "EXTENDED Rand").items()) == [
        *plain,
        ("kind", "SCALAR"),
        ("requirements", "[]"),
        ("is deterministic", "false"),
        ("supports constant folding", "true"),
        ("signature", "Rand()\nRand(<INTEGER>)"),
    ]
    assert described(t_env, "EXTENDED ARRAY_AGG")["kind"] == "AGGREGATE"
    signature = "dateformat(<TIMESTAMP>, <CHARACTER_STRING>)"
    assert described(t_env, "EXTENDED dateformat")["signature"].startswith(signature)
    assert described(t_env, "`upper`") == dict(plain)


class Highest(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] = max(accumulator[0], value)

    def get_value(self, accumulator):
        return accumulator[0]


FUNCTIONS = {
    "scalar": (udf(lambda i: i, result_type="INT"), "SCALAR", "*", "true"),
    "typed": (
        udf(lambda i, s: i, ["INT", "STRING NOT NULL"], "INT", deterministic=False),
        "SCALAR", "arg0 => INT, arg1 => STRING NOT NULL", "false",
    ),
    "pandas": (udf(lambda i: i, result_type="INT", func_type="pandas"), "SCALAR", "*", "true"),
    "several": (
        udtf(lambda i: [i], ["BIGINT"], ["INT"]), "TABLE", "arg0 => BIGINT", "true",
    ),
    "highest": (
        udaf(Highest(), ["INT"], "INT", accumulator_type="ARRAY<INT>"),
        "AGGREGATE", "arg0 => INT", "true",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_described_functions_of_users(t_env, name):
    function, kind, arguments, deterministic = FUNCTIONS[name]
    t_env.create_temporary_system_function(name, function)
    assert described(t_env, name) == {"is system function": "true", "is temporary": "true"}
    assert list(described(t_env, f"EXTENDED {name.upper()}").items())[2:] == [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", deterministic),
        ("supports constant folding", "true"),
        ("signature", f"{name.upper()}({arguments})"),
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "Function with the identifier '`nope`' doesn't exist."),
        ("date_format", "Function with the identifier '`date_format`' doesn't exist."),
        ("x.Y", "Function with the identifier '`x`.`Y`' doesn't exist."),
        ("a.b.c.d", "Object identifier must consist of 1 to 3 parts."),
        ("mine", "UnsupportedOperationException: This CatalogFunction is a InlineCatalogFunction."),
        ("`default_database`.mine", "This CatalogFunction is a InlineCatalogFunction."),
        ("absent", "Cannot instantiate user-defined function 'absent'."),
        ("upper", 'Encountered "upper" at line 1, column 19.'),
    ],
)
def test_functions_that_cannot_be_described(t_env, name, message):
    t_env.create_temporary_function("mine", udf(lambda i: i, result_type="INT"))
    t_env.execute_sql("CREATE TEMPORARY FUNCTION absent AS 'no.such' LANGUAGE PYTHON")
    with pytest.raises(Exception, match=re.escape(message)):
        t_env.execute_sql(f"DESCRIBE FUNCTION {name}")


def test_described_functions_of_catalogs(t_env):
    path = "compat_tests.tables.twice"
    t_env.execute_sql(f"CREATE FUNCTION kept AS '{path}' LANGUAGE PYTHON")
    t_env.execute_sql(f"CREATE TEMPORARY FUNCTION passing AS '{path}' LANGUAGE PYTHON")
    where = {"class name": path, "function language": "PYTHON", "resource uris": "[]"}
    kept = {"is system function": "false", "is temporary": "false", **where}
    assert described(t_env, "kept") == kept
    assert described(t_env, "default_database.KEPT") == kept
    assert described(t_env, "passing") == kept | {"is temporary": "true"}
    signature = described(t_env, "EXTENDED Kept")["signature"]
    assert signature == "default_catalog.default_database.Kept(arg0 => BIGINT)"


def test_listed_functions(t_env):
    shown = [row[0] for row in t_env.execute_sql("SHOW FUNCTIONS").collect()]
    assert sorted(shown) == sorted(t_env.list_functions())
    assert len(shown) == 251
    assert {"dateFormat", "OBJECT_OF", "sum0", "withColumns", "ARRAY_AGG"} <= set(shown)
    assert not {"DATE_FORMAT", "SUM", "IF", "CURRENT_DATABASE"} & set(shown)
    like = [row[0] for row in t_env.execute_sql("SHOW FUNCTIONS LIKE 'up%'").collect()]
    assert like == ["upper", "upperCase"]


def test_described_comments(t_env):
    t_env.execute_sql(
        "CREATE TABLE d (id INT COMMENT 'the key', name STRING) WITH ('connector' = 'datagen')"
    )
    assert [tuple(row) for row in t_env.execute_sql("DESCRIBE d").collect()] == [
        ("id", "INT", True, None, None, None, "the key"),
        ("name", "STRING", True, None, None, None, None),
    ]
    shown = t_env.execute_sql("SHOW COLUMNS IN d LIKE 'n%'").collect()
    assert [row[0] for row in shown] == ["name"]


def test_create_and_drop(t_env):
    create = "CREATE TABLE {}t (a INT) WITH ('connector' = 'blackhole')"
    t_env.execute_sql(create.format(""))
    t_env.execute_sql(create.format("IF NOT EXISTS "))
    t_env.execute_sql("DROP TABLE t")
    t_env.execute_sql("DROP TABLE IF EXISTS t")
    assert t_env.list_tables() == []


def test_print_table(t_env, printed):
    t_env.execute_sql(
        "CREATE TABLE p (a INT, b STRING, c DOUBLE, d BOOLEAN, e DECIMAL(5, 2), f DATE, "
        "g TIME(0), h TIMESTAMP(3), i ARRAY<STRING>, j MAP<STRING, INT>, k ROW<x INT, y STRING>, "
        "l STRING) WITH ('connector' = 'print')"
    )
    insert = (
        "INSERT INTO p SELECT 1, 'text', 1.5E0, TRUE, 12.3, DATE '2024-02-29', TIME '01:02:03', "
        "TIMESTAMP '2024-02-29 01:02:03.4', ARRAY['a', 'b'], MAP['k', 1], ROW(2, 'z'), "
        "CAST(NULL AS STRING)"
    )
    assert printed(lambda: t_env.execute_sql(insert).wait()) == [
        "+I[1, text, 1.5, true, 12.30, 2024-02-29, 01:02:03, 2024-02-29T01:02:03.400, [a, b], "
        "{k=1}, +I[2, z], null]"
    ]


def test_print_table_with_an_identifier(t_env, printed):
    descriptor = (
        TableDescriptor.for_connector("print")
        .schema(Schema.new_builder().column("a", DataTypes.BIGINT()).build())
        .option("print-identifier", "ID")
        .build()
    )
    t_env.create_temporary_table("p", descriptor)
    table = t_env.from_elements([(1,), (2,)], ["a"])
    assert printed(lambda: table.execute_insert("p").wait()) == ["ID> +I[1]", "ID> +I[2]"]


def test_insert_by_name(t_env, printed):
    t_env.execute_sql("CREATE TABLE p (a INT, b STRING, c DOUBLE) WITH ('connector' = 'print')")
    insert = "INSERT INTO p (c, a) SELECT 1, 2"
    assert printed(lambda: t_env.execute_sql(insert).wait()) == ["+I[2, null, 1.0]"]


def test_statement_set(t_env, tmp_path):
    for name in ("first_sink", "second_sink"):
        t_env.execute_sql(
            f"CREATE TABLE {name} (a BIGINT, b STRING) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path / name}', 'format' = 'csv')"
        )
    table = t_env.from_elements([(1, "x"), (2, "y")], ["a", "b"])
    statements = t_env.create_statement_set()
    statements.add_insert("first_sink", table)
    statements.add_insert_sql("INSERT INTO second_sink SELECT CAST(7 AS BIGINT), 'z'")
    statements.add(table.select(col("a") + 10, col("b")).insert_into("second_sink"))
    statements.execute().wait()
    assert lines_of(tmp_path / "first_sink") == ["1,x", "2,y"]
    assert lines_of(tmp_path / "second_sink") == ["11,x", "12,y", "7,z"]


def test_statement_set_of_sql(t_env, printed):
    t_env.execute_sql("CREATE TABLE p (a INT) WITH ('connector' = 'print')")
    text = "EXECUTE STATEMENT SET BEGIN INSERT INTO p SELECT 1; INSERT INTO p SELECT 2; END"
    assert sorted(printed(lambda: t_env.execute_sql(text).wait())) == ["+I[1]", "+I[2]"]


def test_statement_set_with_streams(env, t_env, run_printed):
    t_env.execute_sql("CREATE TABLE p (a BIGINT) WITH ('connector' = 'print')")
    statements = t_env.create_statement_set()
    statements.add_insert("p", t_env.from_elements([(1,)], ["a"]))
    statements.attach_as_datastream()
    env.from_collection([5]).map(lambda n: f"five {n}").print()
    assert sorted(run_printed(env)) == ["+I[1]", "five 5"]


FILES = """
CREATE TABLE files (
  a INT, b STRING, c DOUBLE, d BOOLEAN, e DECIMAL(6, 2), f DATE, g TIMESTAMP(3), h ARRAY<INT>,
  i BYTES
) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = '{}')
"""
VALUES = """
INSERT INTO files VALUES
 (1, 'plain', 1.5E0, TRUE, 2.50, DATE '2024-01-02', TIMESTAMP '2024-01-02 03:04:05', ARRAY[1, 2],
  x'6869'),
 (2, 'with, comma', 1.0E10, FALSE, -0.05, DATE '1969-12-31', TIMESTAMP '2024-01-02 03:04:05.120',
  ARRAY[3], x'00'),
 (3, CAST(NULL AS STRING), CAST(NULL AS DOUBLE), CAST(NULL AS BOOLEAN),
  CAST(NULL AS DECIMAL(6, 2)), CAST(NULL AS DATE), CAST(NULL AS TIMESTAMP(3)),
  CAST(NULL AS ARRAY<INT>), CAST(NULL AS BYTES))
"""


def test_csv_files(t_env, tmp_path):
    t_env.execute_sql(FILES.format(tmp_path, "csv"))
    t_env.execute_sql(VALUES).wait()
    assert lines_of(tmp_path) == [
        '1,plain,1.5,true,2.5,2024-01-02,"2024-01-02 03:04:05",1;2,aGk=',
        '2,"with, comma",1.0E10,false,-0.05,1969-12-31,"2024-01-02 03:04:05.12",3,AA==',
        "3,,,,,,,,",
    ]


def test_json_files(t_env, tmp_path):
    t_env.execute_sql(FILES.format(tmp_path, "json"))
    t_env.execute_sql(VALUES).wait()
    assert lines_of(tmp_path) == [
        '{"a":1,"b":"plain","c":1.5,"d":true,"e":2.5,"f":"2024-01-02",'
        '"g":"2024-01-02 03:04:05","h":[1,2],"i":"aGk="}',
        '{"a":2,"b":"with, comma","c":1.0E10,"d":false,"e":-0.05,"f":"1969-12-31",'
        '"g":"2024-01-02 03:04:05.12","h":[3],"i":"AA=="}',
        '{"a":3,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null,"i":null}',
    ]
    read = query(t_env, "SELECT a, b, c, d, e, f, g, h FROM files WHERE b IS NOT NULL")
    assert sorted(map(repr, read)) == [
        "(1, 'plain', 1.5, True, Decimal('2.50'), datetime.date(2024, 1, 2), "
        "datetime.datetime(2024, 1, 2, 3, 4, 5), [1, 2])",
        "(2, 'with, comma', 10000000000.0, False, Decimal('-0.05'), datetime.date(1969, 12, 31), "
        "datetime.datetime(2024, 1, 2, 3, 4, 5, 120000), [3])",
    ]


def test_reading_csv(t_env, tmp_path):
    (tmp_path / "in.csv").write_text('1;"a;""b"\nbad;y\n;\n')
    t_env.execute_sql(
        f"CREATE TABLE f (n INT, s STRING) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv', 'csv.field-delimiter' = ';', "
        "'csv.ignore-parse-errors' = 'true')"
    )
    assert query(t_env, "SELECT * FROM f") == [(1, 'a;"b'), (None, "y"), (None, "")]


def test_reading_json(t_env, tmp_path):
    (tmp_path / "in.json").write_text(
        '{"n": "7", "s": 5, "extra": 1}\n{"s": null}\nno json\n{"n": 8, "s": "x", "r": {"a": 1}}\n'
    )
    t_env.execute_sql(
        f"CREATE TABLE f (n INT, s STRING, r ROW<a INT>) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'json', 'json.ignore-parse-errors' = 'true')"
    )
    assert query(t_env, "SELECT n, s, r.a FROM f") == [
        (7, "5", None),
        (None, None, None),
        (8, "x", 1),
    ]


def test_a_corrupt_record_fails_the_job(t_env, tmp_path):
    (tmp_path / "in.json").write_text('{"n": 1}\nno json\n')
    t_env.execute_sql(
        f"CREATE TABLE f (n INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', "
        "'format' = 'json')"
    )
    with pytest.raises(Exception, match="Failed to deserialize JSON 'no json'"):
        query(t_env, "SELECT * FROM f")


def test_datagen(t_env):
    t_env.execute_sql(
        "CREATE TABLE g (n INT, s STRING, x DOUBLE, big AS n * 10) WITH ('connector' = 'datagen', "
        "'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '4', "
        "'fields.s.length' = '6', 'fields.x.min' = '2', 'fields.x.max' = '3')"
    )
    found = sorted(query(t_env, "SELECT n, big, s, x FROM g"))
    assert [(n, big) for n, big, _, _ in found] == [(1, 10), (2, 20), (3, 30), (4, 40)]
    assert all(len(s) == 6 and 2 <= x <= 3 for _, _, s, x in found)


def test_number_of_rows_of_datagen(t_env):
    t_env.execute_sql(
        "CREATE TABLE g (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '7')"
    )
    assert len(query(t_env, "SELECT * FROM g")) == 7


def test_from_descriptor(t_env):
    descriptor = (
        TableDescriptor.for_connector("datagen")
        .schema(Schema.new_builder().column("n", DataTypes.INT()).build())
        .option("number-of-rows", "3")
        .build()
    )
    assert len(rows(t_env.from_descriptor(descriptor))) == 3


def test_elements(t_env):
    assert rows(t_env.from_elements([(1, "a"), (2, None)])) == [(1, "a"), (2, None)]
    found = t_env.from_elements([{"b": 1, "a": "x"}])
    assert found.get_schema().get_field_names() == ["a", "b"]
    assert rows(found) == [("x", 1)]


def test_environment_without_streams():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    assert query(t_env, "SELECT 1 + 1") == [(2,)]
    t_env = StreamTableEnvironment.create(
        environment_settings=EnvironmentSettings.in_streaming_mode()
    )
    assert query(t_env, "SELECT 1 + 2") == [(3,)]
    assert (t_env.get_current_catalog(), t_env.get_current_database()) == (
        "default_catalog",
        "default_database",
    )


def test_time_zone_of_the_session(t_env):
    t_env.get_config().set_local_timezone("Asia/Shanghai")
    text = "SELECT CAST(CAST('2024-01-01 00:00:00' AS TIMESTAMP_LTZ(3)) AS STRING)"
    assert query(t_env, text) == [("2024-01-01 00:00:00.000",)]


def test_databases_and_catalogs(t_env):
    t_env.execute_sql("CREATE DATABASE d")
    t_env.execute_sql("CREATE DATABASE IF NOT EXISTS d")
    with pytest.raises(Exception, match="already exist"):
        t_env.execute_sql("CREATE DATABASE d")
    t_env.execute_sql("USE d")
    t_env.execute_sql("CREATE TABLE t (n INT) WITH ('connector' = 'datagen')")
    assert t_env.list_databases() == ["d", "default_database"]
    t_env.execute_sql("USE default_database")
    with pytest.raises(Exception, match="is not empty"):
        t_env.execute_sql("DROP DATABASE d RESTRICT")
    t_env.execute_sql("DROP DATABASE d CASCADE")
    assert t_env.list_databases() == ["default_database"]
    t_env.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    assert t_env.list_catalogs() == ["c", "default_catalog"]
    t_env.execute_sql("DROP CATALOG c")
    assert t_env.list_catalogs() == ["default_catalog"]


def test_tables_like_others(t_env):
    t_env.execute_sql(
        "CREATE TABLE t (n INT, twice AS n * 2, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, "
        "PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    t_env.execute_sql(
        "CREATE TABLE u (extra STRING) WITH ('connector' = 'print') LIKE t (EXCLUDING GENERATED EXCLUDING OPTIONS)"
    )
    schema = t_env.from_path("t").get_schema().get_field_names()
    assert schema == ["n", "twice", "ts"]
    names = [row[0] for row in t_env.execute_sql("DESCRIBE u").collect()]
    assert names == ["n", "ts", "extra"]
    t_env.execute_sql("CREATE TABLE w LIKE t")
    assert t_env.from_path("w").get_schema().get_field_names() == ["n", "twice", "ts"]


def test_in_with_a_query(t_env):
    rows = "(VALUES (1, 'a'), (2, 'b'), (3, 'c')) AS v (n, s)"
    text = f"SELECT s FROM {rows} WHERE n IN (SELECT m FROM (VALUES (1), (3), (3)) AS w (m))"
    assert sorted(row[0] for row in t_env.sql_query(text).execute().collect()) == ["a", "c"]


def test_a_table_of_a_query(t_env, tmp_path):
    t_env.execute_sql(
        f"CREATE TABLE c (twice AS id * 2) WITH ('connector' = 'filesystem', 'path' = "
        f"'{tmp_path}/c', 'format' = 'csv') "
        "AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (id, k)"
    ).wait()
    assert sorted(query(t_env, "SELECT id, k, twice FROM c")) == [(1, "a", 2), (2, "b", 4)]
    with pytest.raises(Exception, match="already exist"):
        t_env.execute_sql("CREATE TABLE c WITH ('connector' = 'print') AS SELECT 1 AS x")


def test_a_sink_cuts_texts_to_their_length(t_env, printed):
    t_env.execute_sql("CREATE TABLE short (k VARCHAR, n VARCHAR(2)) WITH ('connector' = 'print')")
    insert = "INSERT INTO short VALUES ('Hello', 'Flink'), ('a', 'b')"
    assert sorted(printed(lambda: t_env.execute_sql(insert).wait())) == [
        "+I[Hello, Fl]",
        "+I[a, b]",
    ]


def test_a_text_of_any_length_does_not_go_into_one_of_a_fixed_length(t_env):
    t_env.execute_sql("CREATE TABLE fixed (n CHAR(2)) WITH ('connector' = 'print')")
    with pytest.raises(Exception, match="do not match"):
        t_env.execute_sql("INSERT INTO fixed SELECT CAST('Hello' AS VARCHAR(9))")


def test_the_length_of_types_that_do_not_say_it(t_env):
    casts = ["'Hello' AS VARCHAR", "x'0102' AS VARBINARY", "5 AS CHAR"]
    text = f"SELECT {', '.join(f'CAST({cast})' for cast in casts)}"
    schema = t_env.sql_query(text).get_schema()
    lengths = [(str(kind), kind.length) for kind in schema.get_field_data_types()]
    assert lengths == [("VARCHAR", 2**31 - 1), ("VARBINARY", 2**31 - 1), ("CHAR", 1)]


def folders_of(path):
    files = [p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return sorted((str(p.parent.relative_to(path)), p.read_text()) for p in files)


@pytest.fixture
def batch_tables(tmp_path):
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    for name, partitions in (("kept", ""), ("parts", "PARTITIONED BY (city)")):
        t_env.execute_sql(
            f"CREATE TABLE {name} (a INT, city STRING) {partitions} WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}/{name}', 'format' = 'csv')"
        )
    return t_env


def test_overwriting_a_table(batch_tables, tmp_path):
    for statement, left in [
        ("INSERT INTO kept VALUES (1, 'x'), (2, 'y')", "1,x\n2,y\n"),
        ("INSERT OVERWRITE kept VALUES (9, 'q')", "9,q\n"),
        ("INSERT OVERWRITE kept SELECT a + 1, city FROM kept", "10,q\n"),
    ]:
        batch_tables.execute_sql(statement).wait()
        assert folders_of(tmp_path / "kept") == [(".", left)]
    (tmp_path / "kept/below").mkdir()
    (tmp_path / "kept/below/other.csv").write_text("5,e\n")
    (tmp_path / "kept/_hidden").write_text("not read")
    batch_tables.sql_query("SELECT 4, 'dsl'").execute_insert("kept", overwrite=True).wait()
    assert folders_of(tmp_path / "kept") == [(".", "4,dsl\n")]
    assert (tmp_path / "kept/_hidden").exists()
    batch_tables.execute_sql("INSERT OVERWRITE kept SELECT * FROM kept WHERE a < 0").wait()
    assert folders_of(tmp_path / "kept") == []


def test_overwriting_partitions(batch_tables, tmp_path):
    for statement, left in [
        ("INSERT INTO parts VALUES (1, 'x'), (2, 'y')", [("x", "1\n"), ("y", "2\n")]),
        ("INSERT OVERWRITE parts VALUES (9, 'x')", [("x", "9\n"), ("y", "2\n")]),
        ("INSERT OVERWRITE parts PARTITION (city = 'y') SELECT 7", [("x", "9\n"), ("y", "7\n")]),
        (
            "INSERT INTO parts PARTITION (city = 'y') VALUES (8)",
            [("x", "9\n"), ("y", "7\n"), ("y", "8\n")],
        ),
        (
            "INSERT OVERWRITE parts PARTITION (city = 'y') (a) SELECT 6",
            [("x", "9\n"), ("y", "6\n")],
        ),
        ("INSERT OVERWRITE parts SELECT * FROM parts WHERE a < 0", [("x", "9\n"), ("y", "6\n")]),
    ]:
        batch_tables.execute_sql(statement).wait()
        assert folders_of(tmp_path / "parts") == [(f"city={city}", text) for city, text in left]


def test_what_cannot_be_overwritten(t_env, batch_tables, tmp_path):
    columns = "(a INT, city STRING) WITH ('connector' ="
    t_env.execute_sql(
        f"CREATE TABLE kept {columns} 'filesystem', 'path' = '{tmp_path}/k', 'format' = 'csv')"
    )
    with pytest.raises(Exception, match="Streaming mode not support overwrite"):
        t_env.execute_sql("INSERT OVERWRITE kept VALUES (1, 'x')")
    batch_tables.execute_sql(f"CREATE TABLE shown {columns} 'print')")
    with pytest.raises(Exception, match="INSERT OVERWRITE requires"):
        batch_tables.execute_sql("INSERT OVERWRITE shown VALUES (1, 'x')")
    with pytest.raises(Exception, match=r"umber of columns|do not match"):
        batch_tables.execute_sql("INSERT INTO parts PARTITION (city = 'y') SELECT 1, 'y'")
    with pytest.raises(Exception, match=r"'?a'? "):
        batch_tables.execute_sql("INSERT INTO parts PARTITION (a = 1) SELECT 'y'")


def shown(t_env, statement):
    return [tuple(row) for row in t_env.execute_sql(statement).collect()]


def test_renamed_tables_and_views(t_env):
    t_env.execute_sql("CREATE TABLE a (id INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS x")
    assert shown(t_env, "ALTER TABLE a RENAME TO b") == [("OK",)]
    t_env.execute_sql("ALTER TABLE b RENAME TO default_database.c")
    t_env.execute_sql("ALTER VIEW v RENAME TO w")
    t_env.execute_sql("ALTER TABLE IF EXISTS nope RENAME TO x")
    assert shown(t_env, "SHOW TABLES") == [("c",), ("w",)]
    with pytest.raises(
        Exception, match=r"(?s)Could not execute ALTER TABLE .*c RENAME TO .*already exists"
    ):
        t_env.execute_sql("ALTER TABLE c RENAME TO w")


def test_changed_options_of_a_table(t_env):
    t_env.execute_sql("CREATE TABLE a (id INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("ALTER TABLE a SET ('number-of-rows' = '2', 'rows-per-second' = '5')")
    t_env.execute_sql("ALTER TABLE a RESET ('rows-per-second')")
    t_env.execute_sql("ALTER TABLE a SET ()")
    t_env.execute_sql("ALTER TABLE IF EXISTS nope SET ('a' = 'b')")
    ((text,),) = shown(t_env, "SHOW CREATE TABLE a")
    assert text.endswith("WITH (\n  'connector' = 'datagen',\n  'number-of-rows' = '2'\n)\n")
    assert len(shown(t_env, "SELECT 1 FROM a")) == 2


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ALTER TABLE nope RENAME TO x", "nope` doesn't exist or is a temporary table"),
        ("ALTER TABLE nope SET ('a' = 'b')", "nope` doesn't exist or is a temporary table"),
        ("ALTER TABLE t RENAME TO x", "t` doesn't exist or is a temporary table"),
        ("ALTER VIEW nope RENAME TO x", "nope` doesn't exist or is a temporary view"),
        ("ALTER TABLE v RENAME TO x", "ALTER TABLE for a view is not allowed"),
        ("ALTER TABLE a RESET ()", "ALTER TABLE RESET does not support empty key"),
        ("ALTER TABLE a RESET ('connector')", "RESET does not support changing 'connector'"),
        ("SHOW PARTITIONS a", "a in catalog default_catalog is not partitioned"),
        ("SHOW PARTITIONS nope", "Could not execute SHOW PARTITIONS"),
    ],
)  # fmt: skip
def test_alterations_that_are_refused(t_env, statement, message):
    t_env.execute_sql("CREATE TABLE a (id INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE TEMPORARY TABLE t (id INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS x")
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(statement)


def test_what_there_is_none_of(t_env):
    t_env.execute_sql(
        "CREATE TABLE p (id INT, k INT) PARTITIONED BY (k) WITH ('connector' = 'blackhole')"
    )
    assert shown(t_env, "SHOW JARS") == shown(t_env, "SHOW PARTITIONS p") == []


def with_rows(t_env, folder):
    columns = "(k STRING, v INT)"
    t_env.execute_sql(
        f"CREATE TABLE f {columns} WITH ('connector' = 'filesystem', 'path' = '{folder}', "
        "'format' = 'csv')"
    )
    t_env.execute_sql(f"CREATE TABLE p {columns} WITH ('connector' = 'print')")
    t_env.execute_sql("CREATE VIEW w AS SELECT * FROM f")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM f", "DELETE statement is not supported for streaming mode now."),
        ("DELETE FROM f AS t WHERE t.v = 1", "DELETE statement is not supported for streaming"),
        ("UPDATE f SET v = 1", "UPDATE statement is not supported for streaming mode now."),
        ("UPDATE f AS t SET v = t.v + 1 WHERE k = 'a'", "UPDATE statement is not supported for st"),
        ("DELETE FROM w", "DELETE statement is not supported for streaming mode now."),
        ("UPDATE w SET v = 1", "UPDATE statement is not supported for streaming mode now."),
        ("UPDATE p SET v = 1", "Unable to create a source for reading table 'default_catalog.def"),
        (
            "DELETE FROM nope",
            "From line 1, column 13 to line 1, column 16: Object 'nope' not found",
        ),
        ("UPDATE nope SET v = 1", "column 8 to line 1, column 11: Object 'nope' not found"),
        ("UPDATE f SET z = 1", "Unknown target column 'z'"),
        ("UPDATE f SET v = 1, v = 2", "Target column 'v' is assigned more than once"),
        (
            "UPDATE f SET v='a'",
            "From line 1, column 16 to line 1, column 18: Cannot assign to target "
            "field 'v' of type INTEGER from source field 'EXPR$0' of type CHAR(1)",
        ),
        ("DELETE FROM f WHERE z = 1", "Column 'z' not found in any table"),
        ("DELETE f", 'Encountered "f" at line 1, column 8.'),
        ("TRUNCATE TABLE f", "TRUNCATE TABLE statement is not supported in streaming mode."),
        ("TRUNCATE TABLE w", "TRUNCATE TABLE for a view is not allowed"),
        ("TRUNCATE TABLE nope", "Cannot find table '`default_catalog`.`default_database`.`nope`'"),
    ],
)
def test_rows_cannot_be_changed(t_env, tmp_path, statement, message):
    with_rows(t_env, tmp_path)
    with pytest.raises(Exception, match=re.escape(message)):
        t_env.execute_sql(statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM f WHERE k = 'a'", "UnsupportedOperationException: Can't perform delete operation "
         "of the table default_catalog.default_database.f because the corresponding dynamic table "
         "sink has not yet implemented org.apache.flink.table.connector.sink.abilities."
         "SupportsRowLevelDelete."),
        ("UPDATE f SET v = 1", "UnsupportedOperationException: Can't perform update operation of the "
         "table default_catalog.default_database.f because the corresponding dynamic table sink has "
         "not yet implemented org.apache.flink.table.connector.sink.abilities."
         "SupportsRowLevelUpdate."),
        ("DELETE FROM w", "Sink 'default_catalog.default_database.w' does not exists"),
        ("TRUNCATE TABLE p", "TRUNCATE TABLE statement is not supported for the table "
         "default_catalog.default_database.p since the table hasn't implemented the interface "
         "org.apache.flink.table.connector.sink.abilities.SupportsTruncate."),
    ],
)  # fmt: skip
def test_rows_cannot_be_changed_in_batch_mode(batch_tables, tmp_path, statement, message):
    with_rows(batch_tables, tmp_path)
    with pytest.raises(Exception, match=re.escape(message)):
        batch_tables.execute_sql(statement)


def test_a_table_that_cannot_be_read_has_columns(t_env):
    t_env.execute_sql(
        "CREATE TABLE printed (a INT NOT NULL, n BIGINT, twice AS n * 2) WITH ("
        "'connector' = 'print')"
    )
    table = t_env.from_path("printed")
    assert table.get_schema().get_field_names() == ["a", "n", "twice"]
    selected = table.select(col("twice"))
    for refused in (table, selected):
        with pytest.raises(Exception, match="'print' can only be used as a sink"):
            refused.explain()
        with pytest.raises(Exception, match="'print' can only be used as a sink"):
            refused.execute()
    with pytest.raises(Exception, match="'print' can only be used as a sink"):
        t_env.sql_query("SELECT * FROM printed")
