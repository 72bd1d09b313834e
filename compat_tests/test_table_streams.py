"""Streams as tables, and tables as streams."""

# ruff: noqa: E501, DTZ001

from __future__ import annotations

import datetime
import decimal

import pytest
from pyflink.common import Row, RowKind, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import ProcessFunction
from pyflink.table import DataTypes, Schema
from pyflink.table.changelog_mode import ChangelogMode
from pyflink.table.expressions import col

from compat_tests.running import collect
from compat_tests.tables import changes, rows

NAMED = Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()])


@pytest.fixture
def stream(env):
    return env.from_collection([Row(1, "x"), Row(2, None)], NAMED)


def test_rows_of_a_table_have_names(t_env):
    table = t_env.from_elements([(1, "a"), (2, None)], ["id", "name"])
    found = collect(t_env.to_data_stream(table))
    assert found == [Row(id=1, name="a"), Row(id=2, name=None)]
    assert [repr(row) for row in found] == ["Row(id=1, name='a')", "Row(id=2, name=None)"]


def test_python_functions_over_a_table(t_env):
    table = t_env.from_elements([(1, "a")], ["id", "name"])
    stream = t_env.to_data_stream(table)
    assert collect(stream.map(lambda r: (r.id, r["name"], r[0], len(r), r.as_dict()))) == [
        (1, "a", 1, 2, {"id": 1, "name": "a"})
    ]


def test_python_types_of_a_table(t_env):
    table = t_env.sql_query(
        "SELECT CAST(1 AS TINYINT), CAST(1.5 AS FLOAT), 2.50, 'x', TRUE, DATE '2024-01-02', "
        "TIMESTAMP '2024-01-02 03:04:05.123456', ARRAY[1, 2], MAP['k', 1], ROW(1, 'x'), "
        "CAST(NULL AS INT)"
    )
    stream = t_env.to_data_stream(table).map(lambda row: [repr(value) for value in row])
    assert collect(stream) == [
        [
            "1", "1.5", "Decimal('2.50')", "'x'", "True", "datetime.date(2024, 1, 2)",
            "datetime.datetime(2024, 1, 2, 3, 4, 5, 123456)", "[1, 2]", "{'k': 1}",
            "Row(EXPR$0=1, EXPR$1='x')", "None",
        ]
    ]  # fmt: skip


def test_append_stream_takes_names_from_the_type(t_env):
    table = t_env.from_elements([(1, "a")], ["id", "name"])
    kind = Types.ROW([Types.LONG(), Types.STRING()])
    assert collect(t_env.to_append_stream(table, kind)) == [Row(f0=1, f1="a")]
    kind = Types.ROW_NAMED(["x", "y"], [Types.LONG(), Types.STRING()])
    assert collect(t_env.to_append_stream(table, kind)) == [Row(x=1, y="a")]


def test_printed_stream_of_a_table(env, t_env, run_printed):
    t_env.to_data_stream(t_env.from_elements([(1, "Hi", True, None, 2.5)],
                         DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()),
                                        DataTypes.FIELD("b", DataTypes.STRING()),
                                        DataTypes.FIELD("c", DataTypes.BOOLEAN()),
                                        DataTypes.FIELD("d", DataTypes.INT()),
                                        DataTypes.FIELD("e", DataTypes.DOUBLE())]))).print()  # fmt: skip
    assert run_printed(env) == ["+I[1,Hi,True,None,2.5]"]


def test_columns_of_a_stream(t_env, env, stream):
    def names(table):
        return table.get_schema().get_field_names()

    assert names(t_env.from_data_stream(stream)) == ["n", "s"]
    assert names(t_env.from_data_stream(stream, col("s"), col("n").alias("m"))) == ["s", "m"]
    assert names(t_env.from_data_stream(stream, col("a"), col("b"))) == ["a", "b"]
    atoms = env.from_collection([1, 2], Types.INT())
    assert names(t_env.from_data_stream(atoms)) == ["f0"]
    tuples = env.from_collection([(1, "x")], Types.TUPLE([Types.INT(), Types.STRING()]))
    assert names(t_env.from_data_stream(tuples)) == ["f0", "f1"]


def test_rows_of_a_stream(t_env, stream):
    assert rows(t_env.from_data_stream(stream)) == [(1, "x"), (2, None)]
    assert rows(t_env.from_data_stream(stream, col("s"), col("n"))) == [("x", 1), (None, 2)]
    assert rows(t_env.from_data_stream(stream, col("a"), col("b")).select(col("a"))) == [(1,), (2,)]


def test_values_of_a_stream(t_env, env):
    assert rows(t_env.from_data_stream(env.from_collection([1, 2], Types.INT()))) == [(1,), (2,)]
    tuples = env.from_collection([(1, "x")], Types.TUPLE([Types.INT(), Types.STRING()]))
    assert rows(t_env.from_data_stream(tuples)) == [(1, "x")]


def test_schema_of_a_stream(t_env, stream):
    schema = (
        Schema.new_builder()
        .column("s", "STRING")
        .column_by_expression("twice", "n * 2")
        .column("n", DataTypes.INT())
        .build()
    )
    assert rows(t_env.from_data_stream(stream, schema)) == [("x", 2, 1), (None, 4, 2)]


def test_printed_schema_of_a_stream(t_env, stream, printed):
    schema = (
        Schema.new_builder()
        .column_by_expression("m", "n + 1")
        .column_by_expression("p", "PROCTIME()")
        .column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime")
        .watermark("rt", "rt - INTERVAL '5' SECOND")
        .build()
    )
    table = t_env.from_data_stream(stream, schema)
    lines = [line.strip(" ,") for line in printed(table.print_schema)]
    assert lines == [
        "(", "`n` INT", "`s` STRING", "`m` INT AS n + 1",
        "`p` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME* AS PROCTIME()",
        "`rt` TIMESTAMP_LTZ(3) *ROWTIME* METADATA FROM 'rowtime'",
        "WATERMARK FOR `rt`: TIMESTAMP_LTZ(3) AS rt - INTERVAL '5' SECOND", ")",
    ]  # fmt: skip


def test_printed_schema_of_columns_in_another_order(t_env, env, printed):
    kind = Types.ROW_NAMED(["n", "t"], [Types.INT(), Types.SQL_TIMESTAMP()])
    stream = env.from_collection([(1, datetime.datetime(2024, 1, 1))], kind)

    def lines(*columns):
        schema = Schema.new_builder()
        for name, column in columns:
            schema = schema.column(name, column)
        schema = schema.watermark("t", "t - INTERVAL '5' SECOND").build()
        table = t_env.from_data_stream(stream, schema)
        return [line.strip(" ,") for line in printed(table.print_schema)]

    time, number = ("t", "TIMESTAMP(3)"), ("n", "INT")
    assert lines(time, number) == ["(", "`t` TIMESTAMP(3) *ROWTIME*", "`n` INT", ")"]
    assert lines(time) == ["(", "`t` TIMESTAMP(3) *ROWTIME*", ")"]
    assert lines(number, time) == [
        "(", "`n` INT", "`t` TIMESTAMP(3) *ROWTIME*",
        "WATERMARK FOR `t`: TIMESTAMP(3) AS t - INTERVAL '5' SECOND", ")",
    ]  # fmt: skip


def test_named_columns_of_a_stream_may_be_null(t_env, env):
    def columns(kind, element, *fields):
        schema = t_env.from_data_stream(env.from_collection([element], kind), *fields).get_schema()
        return schema.get_field_data_types()

    pair = Types.TUPLE([Types.INT(), Types.STRING()])
    assert columns(pair, (1, "a")) == [DataTypes.INT(False), DataTypes.STRING()]
    assert columns(pair, (1, "a"), col("a"), col("b"))[0] == DataTypes.INT()
    assert columns(Types.LONG(), 1) == [DataTypes.BIGINT(False)]
    assert columns(Types.LONG(), 1, col("a")) == [DataTypes.BIGINT()]


def test_view_over_a_stream(t_env, stream):
    t_env.create_temporary_view("v", stream)
    assert rows(t_env.sql_query("SELECT n + 1 FROM v WHERE s = 'x'")) == [(2,)]
    t_env.create_temporary_view("w", stream, col("a"), col("b"))
    assert rows(t_env.sql_query("SELECT b FROM w")) == [("x",), (None,)]
    assert t_env.list_temporary_views() == ["v", "w"]


def test_python_and_sql_in_turns(t_env, stream):
    table = t_env.from_data_stream(stream)
    doubled = t_env.to_data_stream(table.select(col("n") * 2)).map(lambda r: r[0] + 1, Types.INT())
    assert rows(t_env.from_data_stream(doubled).select(col("f0") * 10)) == [(30,), (50,)]


class OwnTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timestamp(), value[0]


def timed(env):
    elements = env.from_collection([(1000, "a"), (2000, "b")],
                                   Types.TUPLE([Types.LONG(), Types.STRING()]))  # fmt: skip
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return elements.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(OwnTime()))


def test_timestamps_become_a_column(t_env, env):
    table = t_env.from_data_stream(timed(env), col("t"), col("s"), col("rt").rowtime)
    assert [row[2] for row in rows(table)] == [
        datetime.datetime(1970, 1, 1, 0, 0, 1), datetime.datetime(1970, 1, 1, 0, 0, 2),
    ]  # fmt: skip


def test_a_rowtime_column_becomes_the_timestamps(t_env, env):
    table = t_env.from_data_stream(timed(env), col("t"), col("s"), col("rt").rowtime)
    stream = t_env.to_data_stream(table.select(col("s"), col("rt")))
    assert collect(stream.process(Times())) == [(1000, "a"), (2000, "b")]


def test_rowtime_of_a_schema_with_metadata(t_env, env):
    schema = (
        Schema.new_builder()
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build()
    )
    table = t_env.from_data_stream(timed(env), schema)
    assert table.get_schema().get_field_names() == ["f0", "f1", "rowtime"]
    stream = t_env.to_data_stream(table)
    assert collect(stream.process(Times())) == [(1000, 1000), (2000, 2000)]


def test_changelog_goes_through(t_env, env):
    kinds = [RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE]

    def change(number):
        return Row.of_kind(kinds[number], number, "x")

    stream = env.from_collection([0, 1, 2, 3]).map(change, NAMED)
    table = t_env.from_changelog_stream(stream)
    assert changes(table) == [("+I", 0, "x"), ("-U", 1, "x"), ("+U", 2, "x"), ("-D", 3, "x")]
    kept = collect(t_env.to_changelog_stream(table.select(col("n") + 1)))
    assert [(str(row.get_row_kind()), row[0]) for row in kept] == [
        ("+I", 1), ("-U", 2), ("+U", 3), ("-D", 4),
    ]  # fmt: skip
    pairs = collect(t_env.to_retract_stream(table, NAMED))
    assert [(added, row[0]) for added, row in pairs] == [
        (True, 0), (False, 1), (True, 2), (False, 3),
    ]  # fmt: skip


def test_an_updating_table_is_no_stream_of_rows(t_env, env):
    stream = env.from_collection([0]).map(lambda n: Row.of_kind(RowKind.DELETE, n, "x"), NAMED)
    table = t_env.from_changelog_stream(stream)
    with pytest.raises(Exception, match="doesn't support consuming update and delete changes"):
        t_env.to_data_stream(table)


class Described(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{ctx.timestamp()} {value.get_row_kind()} {value!r}"


def described(stream):
    return collect(stream.process(Described()))


UNTIMED = "-9223372036854775808"


def test_a_schema_names_the_fields_of_changes(t_env):
    table = t_env.sql_query(
        "SELECT k, SUM(v) FROM (VALUES ('a', 1), ('a', 2)) AS t (k, v) GROUP BY k"
    )
    schema = Schema.new_builder().column("name", "STRING").column("total", "BIGINT").build()
    assert described(t_env.to_changelog_stream(table, schema)) == [
        f"{UNTIMED} +I Row(name='a', total=1)", f"{UNTIMED} -U Row(name='a', total=1)",
        f"{UNTIMED} +U Row(name='a', total=3)",
    ]  # fmt: skip
    upserts = t_env.to_changelog_stream(table, schema, ChangelogMode.upsert())
    assert described(upserts) == [
        f"{UNTIMED} +I Row(name='a', total=1)", f"{UNTIMED} +U Row(name='a', total=3)",
    ]  # fmt: skip


def test_without_a_schema_all_changes_come(t_env):
    table = t_env.sql_query("SELECT COUNT(*) AS n FROM (VALUES (1), (2)) AS t (v)")
    for mode in (ChangelogMode.upsert(), ChangelogMode.insert_only()):
        kinds = [
            line.split()[1] for line in described(t_env.to_changelog_stream(table, None, mode))
        ]
        assert kinds == ["+I", "-U", "+U"]


@pytest.mark.parametrize("kind", ["TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"])
@pytest.mark.parametrize("key", [None, "rowtime"])
def test_metadata_of_changes_becomes_the_timestamp(t_env, kind, key):
    t_env.get_config().set_local_timezone("UTC")
    name = "moment" if key else "rowtime"
    time = f"CAST(TIMESTAMP '1970-01-01 00:00:07.250' AS {kind})"
    table = t_env.sql_query(f"SELECT 'a' AS k, {time} AS {name}, 1 AS v")
    builder = Schema.new_builder().column("k", "STRING").column_by_metadata(name, kind, key)
    stream = t_env.to_changelog_stream(table, builder.column("v", "INT").build())
    assert described(stream) == ["7250 +I Row(k='a', v=1)"]


def test_metadata_of_changes_that_there_is_not(t_env):
    table = t_env.sql_query("SELECT 'a' AS k, TIMESTAMP '1970-01-01 00:00:07.250' AS other")
    schema = Schema.new_builder().column("k", "STRING").column_by_metadata("other", "TIMESTAMP(3)")
    with pytest.raises(Exception, match="Invalid metadata key 'other' in column 'other'"):
        t_env.to_changelog_stream(table, schema.build())
    schema = (
        Schema.new_builder().column_by_metadata("rowtime", "TIMESTAMP(3)").column("k", "STRING")
    )
    with pytest.raises(Exception, match="Column types of query result and sink for"):
        t_env.to_changelog_stream(table, schema.build())


def test_rows_without_the_metadata_of_changes(t_env):
    table = t_env.sql_query("SELECT 'a' AS k, CAST(NULL AS TIMESTAMP_LTZ(3)) AS rowtime")
    builder = Schema.new_builder().column("k", "STRING")
    schema = builder.column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()
    with pytest.raises(Exception, match=r"(?i)null|failed"):
        described(t_env.to_changelog_stream(table, schema))


def test_a_distinct_table_is_updated(t_env, stream):
    t_env.create_temporary_view("v", stream)
    table = t_env.sql_query("SELECT DISTINCT n FROM v")
    with pytest.raises(Exception, match="doesn't support consuming update changes"):
        t_env.to_data_stream(table)


@pytest.fixture
def upserts(t_env, env):
    changed = [
        (RowKind.INSERT, "a", 1), (RowKind.INSERT, "b", 2), (RowKind.UPDATE_AFTER, "a", 5),
        (RowKind.UPDATE_AFTER, "c", 7), (RowKind.DELETE, "b", 2), (RowKind.INSERT, "a", 6),
    ]  # fmt: skip
    elements = []
    for kind, k, v in changed:
        elements.append(Row(k, v))
        elements[-1].set_row_kind(kind)
    stream = env.from_collection(
        elements, Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
    )
    columns = Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT")
    table = t_env.from_changelog_stream(
        stream, columns.primary_key("k").build(), ChangelogMode.upsert()
    )
    t_env.create_temporary_view("upserts", table)
    return table


def test_upserts_get_the_rows_before_them(upserts):
    assert changes(upserts) == [
        ("+I", "a", 1), ("+I", "b", 2), ("-U", "a", 1), ("+U", "a", 5), ("+I", "c", 7),
        ("-D", "b", 2), ("-U", "a", 5), ("+U", "a", 6),
    ]  # fmt: skip


def test_groups_of_upserts(t_env, upserts):
    found = changes(t_env.sql_query("SELECT COUNT(*), SUM(v) FROM upserts"))
    assert found[-1] == ("+U", 2, 13)
    assert changes(t_env.sql_query("SELECT k, COUNT(*), SUM(v) FROM upserts GROUP BY k")) == [
        ("+I", "a", 1, 1), ("+I", "b", 1, 2), ("-D", "a", 1, 1), ("+I", "a", 1, 5),
        ("+I", "c", 1, 7), ("-D", "b", 1, 2), ("-D", "a", 1, 5), ("+I", "a", 1, 6),
    ]  # fmt: skip


@pytest.mark.parametrize("changelog", [False, True])
def test_a_table_that_comes_back_from_a_stream_has_its_types(t_env, printed, changelog):
    table = t_env.sql_query(
        "SELECT CAST(v AS DECIMAL(10, 2)) AS d, 'abc' AS c, v, "
        "TIMESTAMP '2024-01-01 00:00:00' AS t, CAST(v AS SMALLINT) AS s FROM (VALUES (1), (CAST(NULL AS INT))) AS r(v)"
    )
    if changelog:
        back = t_env.from_changelog_stream(t_env.to_changelog_stream(table))
    else:
        back = t_env.from_data_stream(t_env.to_data_stream(table))
    assert [line.strip(" ,") for line in printed(back.print_schema)] == [
        "(", "`d` DECIMAL(10, 2)", "`c` CHAR(3) NOT NULL", "`v` INT",
        "`t` TIMESTAMP(0) NOT NULL", "`s` SMALLINT", ")",
    ]  # fmt: skip
    moment = datetime.datetime(2024, 1, 1)
    assert rows(back) == [
        (decimal.Decimal("1.00"), "abc", 1, moment, 1),
        (None, "abc", None, moment, None),
    ]
