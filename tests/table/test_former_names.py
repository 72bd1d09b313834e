"""Programs over tables as PyFlink 1.13 runs them, which is the oracle of these tests.

    PYTHON_OF_1_13 -m pytest --noconftest -p no:cacheprovider tests/table/test_former_names.py

runs them there, on Java 8 or 11.
"""

from __future__ import annotations

import datetime
import decimal
import os
import sys

import pytest

ON_PYFLINK = sys.version_info < (3, 11)

if not ON_PYFLINK:
    import pyflink_on_spark

    pyflink_on_spark.install()

    @pytest.fixture(autouse=True)
    def _local_engine():
        from pyflink_on_spark.testing import local_engine

        with local_engine():
            yield


def settings(batch=False):
    from pyflink.table import EnvironmentSettings

    builder = EnvironmentSettings.new_instance().use_blink_planner()
    return (builder.in_batch_mode() if batch else builder.in_streaming_mode()).build()


@pytest.fixture(params=["batch", "streaming", "batch environment", "stream environment"])
def t_env(request):
    return environment(request.param)


@pytest.fixture
def batch_env():
    return environment("batch")


def environment(kind):
    from pyflink.dataset import ExecutionEnvironment
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import (
        BatchTableEnvironment,
        StreamTableEnvironment,
        TableConfig,
        TableEnvironment,
    )

    if kind == "stream environment":
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        return StreamTableEnvironment.create(env, TableConfig())
    if kind == "batch environment":
        env = ExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        return BatchTableEnvironment.create(env, TableConfig())
    t_env = TableEnvironment.create(settings(kind == "batch"))
    t_env.get_config().get_configuration().set_string("parallelism.default", "1")
    return t_env


def rows(table):
    with table.execute().collect() as found:
        return sorted(tuple(row) for row in found)


def columns():
    from pyflink.table import DataTypes

    return [DataTypes.INT(), DataTypes.STRING(), DataTypes.DOUBLE()]


LINES = 'a,b,c\n1,hello,1.5\n2,"x,y",2.5\n#3,z,1\n3,,\n'


def test_tables_of_connect_are_read_and_written(t_env, tmp_path):
    from pyflink.table import DataTypes
    from pyflink.table.descriptors import FileSystem, OldCsv, Schema

    (tmp_path / "in.csv").write_text(LINES)
    form = OldCsv().ignore_first_line().comment_prefix("#").quote_character('"')
    schema = Schema().field("a", DataTypes.INT()).field("b", "STRING").field("c", "DOUBLE")
    source = t_env.connect(FileSystem().path(str(tmp_path / "in.csv")))
    source.with_format(form).with_schema(schema).create_temporary_table("source")
    sink = t_env.connect(FileSystem().path(str(tmp_path / "out.csv")))
    sink.with_format(OldCsv().field_delimiter("|")).with_schema(
        Schema().field("a", DataTypes.INT()).field("b", "STRING").field("c", "DOUBLE")
    ).create_temporary_table("sink")
    t_env.scan("source").select("a + 1 as a, b, c").insert_into("sink")
    result = t_env.execute("a job")
    assert result.get_job_id() is not None
    assert (tmp_path / "out.csv").read_text() == "2|hello|1.5\n3|x,y|2.5\n4||\n"
    assert sorted(t_env.list_tables()) == ["sink", "source"]


def csv_source(path, **more):
    from pyflink.table import CsvTableSource

    return CsvTableSource(str(path), ["a", "b", "c"], columns(), **more)


def test_registered_sources_sinks_and_functions(t_env, tmp_path):
    from pyflink.table import CsvTableSink, DataTypes, WriteMode
    from pyflink.table.udf import udf

    (tmp_path / "in.csv").write_text(LINES)
    source = csv_source(
        tmp_path / "in.csv",
        quote_character='"',
        ignore_first_line=True,
        lenient=True,
        empty_column_as_null=True,
    )
    t_env.register_table_source("source", source)
    sink = CsvTableSink(
        ["x", "y"],
        [DataTypes.INT(), DataTypes.STRING()],
        str(tmp_path / "out.csv"),
        ";",
        1,
        WriteMode.OVERWRITE,
    )
    t_env.register_table_sink("sink", sink)
    tenfold = udf(lambda i: i * 10, [DataTypes.INT()], DataTypes.INT(), udf_type="general")
    t_env.register_function("tenfold", tenfold)
    t_env.scan("source").where("a > 1").select("tenfold(a), b.upperCase() as u").insert_into("sink")
    t_env.execute("first")
    assert (tmp_path / "out.csv").read_text() == "20;X,Y\n30;\n"
    t_env.sql_update("INSERT INTO sink SELECT a, b FROM source")
    assert "sink" in t_env.explain()
    t_env.execute("second")
    assert (tmp_path / "out.csv").read_text() == "1;hello\n2;x,y\n;z\n3;\n"


def test_statements_with_properties_of_before(t_env, tmp_path):
    t_env.sql_update(
        "CREATE TABLE sink (x INT, y STRING) WITH ('connector.type' = 'filesystem', "
        f"'connector.path' = '{tmp_path}/out.csv', 'format.type' = 'csv')"
    )
    table = t_env.from_elements([(1, "a"), (2, "b")], ["x", "y"])
    t_env.register_table("numbers", table)
    t_env.insert_into("sink", t_env.scan("numbers").select("x.cast(INT), y"))
    t_env.execute("job")
    assert (tmp_path / "out.csv").read_text() == "1,a\n2,b\n"


def test_nothing_is_overwritten_unless_that_is_said(batch_env, tmp_path):
    from pyflink.table import CsvTableSink, DataTypes

    (tmp_path / "out.csv").write_text("before\n")
    sink = CsvTableSink(["x"], [DataTypes.BIGINT()], str(tmp_path / "out.csv"))
    batch_env.register_table_sink("sink", sink)
    batch_env.from_elements([(1,)], ["x"]).insert_into("sink")
    with pytest.raises(Exception, match="already exists"):
        batch_env.execute("job")
    assert (tmp_path / "out.csv").read_text() == "before\n"


def test_several_subtasks_write_a_file_each(batch_env, tmp_path):
    from pyflink.table import CsvTableSink, DataTypes

    sink = CsvTableSink(["x"], [DataTypes.BIGINT()], str(tmp_path / "out"), num_files=2)
    batch_env.register_table_sink("sink", sink)
    batch_env.from_elements([(1,), (2,), (3,)], ["x"]).insert_into("sink")
    batch_env.execute("job")
    assert sorted(os.listdir(str(tmp_path / "out"))) == ["1", "2"]
    found = [(tmp_path / "out" / name).read_text() for name in "12"]
    assert sorted("".join(found)) == sorted("1\n2\n3\n")


def test_execute_runs_what_waits_and_no_more(batch_env, tmp_path):
    from pyflink.table import CsvTableSink, DataTypes

    with pytest.raises(Exception, match="No operators defined"):
        batch_env.execute("nothing")
    for name in ("one", "two"):
        sink = CsvTableSink(["x"], [DataTypes.BIGINT()], str(tmp_path / name))
        batch_env.register_table_sink(name, sink)
        batch_env.from_elements([(1,)], ["x"]).insert_into(name)
    batch_env.execute("both")
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == ["1\n", "1\n"]
    with pytest.raises(Exception, match="No operators defined"):
        batch_env.execute("nothing")


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("1,a,1\nx,b,2\n", {"lenient": True}, [(1, "a", 1.0), (None, "b", 2.0)]),
        ("1,a\n2,b,2\n", {"lenient": True}, [(2, "b", 2.0)]),
        ("1,a,1,more\n", {}, [(1, "a", 1.0)]),
        ('1,"a",1\n', {}, [(1, '"a"', 1.0)]),
        ('1,"a\\"b",1\n', {"quote_character": '"'}, [(1, 'a\\"b', 1.0)]),
        ("1||a||1\n", {"field_delim": "||"}, [(1, "a", 1.0)]),
        ("1,a,1;2,b,2;", {"line_delim": ";"}, [(1, "a", 1.0), (2, "b", 2.0)]),
        ("1,  a ,1\n", {}, [(1, "  a ", 1.0)]),
        ("1,,\n", {}, [(1, "", None)]),
        ("1,,\n", {"empty_column_as_null": True}, [(1, None, None)]),
        ("99999999999,a,1\n", {"lenient": True}, [(None, "a", 1.0)]),
        ("%1,a,1\n2,b,2\n", {"ignore_comments": "%"}, [(2, "b", 2.0)]),
    ],
)
def test_lines_are_read_as_they_were(batch_env, tmp_path, text, more, expected):
    (tmp_path / "in.csv").write_text(text)
    table = batch_env.from_table_source(csv_source(tmp_path / "in.csv", **more))
    with table.execute().collect() as found:
        assert sorted((tuple(row) for row in found), key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("x,b,1\n", {}, "x"),
        (" 1,b,1\n", {}, "1"),
        ("1\n", {}, "Row too short"),
        ('1,"a"x,1\n', {"quote_character": '"'}, "UNQUOTED_CHARS_AFTER_QUOTED_STRING"),
        ('1,"a\n', {"quote_character": '"'}, "UNTERMINATED_QUOTED_STRING"),
    ],
)
def test_lines_that_cannot_be_read(batch_env, tmp_path, text, more, message):
    (tmp_path / "in.csv").write_text(text)
    table = batch_env.from_table_source(csv_source(tmp_path / "in.csv", **more))
    with pytest.raises(Exception, match=message):
        rows(table)


def test_values_are_written_as_they_were(batch_env, tmp_path):
    from pyflink.table import CsvTableSink, DataTypes

    kinds = [
        DataTypes.BOOLEAN(),
        DataTypes.DATE(),
        DataTypes.TIME(),
        DataTypes.TIMESTAMP(3),
        DataTypes.DECIMAL(38, 18),
        DataTypes.FLOAT(),
        DataTypes.STRING(),
    ]
    names = list("abcdefg")
    sink = CsvTableSink(names, kinds, str(tmp_path / "out.csv"))
    batch_env.register_table_sink("sink", sink)
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)
    row = (
        True,
        moment.date(),
        moment.time().replace(microsecond=0),
        moment,
        decimal.Decimal("1.5"),
        1.25,
        'a,"b',
    )
    fields = [DataTypes.FIELD(name, kind) for name, kind in zip(names, kinds)]
    batch_env.from_elements([row], DataTypes.ROW(fields)).insert_into("sink")
    batch_env.execute("job")
    expected = 'true,2020-01-02,03:04:05,2020-01-02 03:04:05.678,1.500000000000000000,1.25,a,"b\n'
    assert (tmp_path / "out.csv").read_text() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", [(1, "x"), (2, "y"), (3, "x")]),
        ("a + 1 as c, b.upperCase() as d", [(2, "X"), (3, "Y"), (4, "X")]),
        ("a * 2 - 1, concat(b, 'z', \"q\")", [(1, "xzq"), (3, "yzq"), (5, "xzq")]),
        ("(a > 1).?(10, 20)", [(10,), (10,), (20,)]),
        ("ifThenElse(a === 2 || b !== 'x', 1, 0)", [(0,), (0,), (1,)]),
        ("a.cast(STRING), cast(a, LONG)", [("1", 1), ("2", 2), ("3", 3)]),
        ("-a, !(a > 1) && true", [(-3, False), (-2, False), (-1, True)]),
        ("b.substring(1, 1), a.between(1, 2), b.in('x', 'z')", None),
        ("*", [(1, "x"), (2, "y"), (3, "x")]),
        ("a.max, a.min as l, a.count, a.avg", [(3, 1, 3, 2)]),
        ("sum(a), count(b)", [(6, 3)]),
        ("a % 2, a / 2, 1.5, 2L, 'it''s'", None),
        ("nullOf(INT), a.isNull, a.isNotNull", None),
        ("upperCase(b), b.charLength()", [("X", 1), ("X", 1), ("Y", 1)]),
    ],
)
def test_texts_of_expressions(batch_env, text, expected):
    table = batch_env.from_elements([(1, "x"), (2, "y"), (3, "x")], ["a", "b"])
    found = rows(table.select(text))
    if expected is None:
        expected = ELSEWHERE[text]
    assert found == expected


ELSEWHERE = {
    "b.substring(1, 1), a.between(1, 2), b.in('x', 'z')": [
        ("x", False, True),
        ("x", True, True),
        ("y", True, False),
    ],
    "a % 2, a / 2, 1.5, 2L, 'it''s'": [
        (0, 1, 1.5, 2, "it's"),
        (1, 0, 1.5, 2, "it's"),
        (1, 1, 1.5, 2, "it's"),
    ],
    "nullOf(INT), a.isNull, a.isNotNull": [(None, False, True)] * 3,
}


def test_texts_in_all_places(batch_env):
    table = batch_env.from_elements([(1, "x"), (2, "y"), (3, "x")], ["a", "b"])
    other = batch_env.from_elements([("x", "ex"), ("y", "why")], ["k", "v"])
    assert rows(table.filter("a > 1 && b = 'x'")) == [(3, "x")]
    assert rows(table.where("a < 2")) == [(1, "x")]
    assert rows(table.group_by("b").select("b, a.sum as s")) == [("x", 4), ("y", 2)]
    assert rows(table.group_by("b as c").select("c, count(a)")) == [("x", 2), ("y", 1)]
    assert rows(table.join(other, "b = k").select("a, v")) == [(1, "ex"), (2, "why"), (3, "ex")]
    assert rows(table.left_outer_join(other, "b = k && k = 'y'").where("v.isNull").select("a")) == [
        (1,),
        (3,),
    ]
    assert rows(table.add_columns("a + 1 as c").drop_columns("a")) == [
        ("x", 2),
        ("x", 4),
        ("y", 3),
    ]
    assert rows(table.alias("y, z").select("z, y"))[0] == ("x", 1)
    assert rows(table.rename_columns("a as z").select("z")) == [(1,), (2,), (3,)]
    assert rows(table.add_or_replace_columns("concat(b, '!') as b").select("b"))[0] == ("x!",)
    with table.order_by("a.desc").fetch(1).execute().collect() as found:
        assert [tuple(row) for row in found] == [(3, "x")]


def test_table_functions_in_texts(batch_env):
    from pyflink.table import DataTypes
    from pyflink.table.udf import udtf

    split = udtf(lambda text: text.split(" "), [DataTypes.STRING()], DataTypes.STRING())
    batch_env.register_function("split", split)
    table = batch_env.from_elements([("a b",), ("c",)], ["line"])
    joined = table.join_lateral("split(line) as (word)").select("word")
    assert rows(joined) == [("a",), ("b",), ("c",)]


def test_windows_in_texts(batch_env):
    from pyflink.table import DataTypes
    from pyflink.table.window import Tumble

    fields = [DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)), DataTypes.FIELD("n", DataTypes.INT())]
    moments = [datetime.datetime(2020, 1, 1, 0, 0, second) for second in (1, 2, 11)]
    table = batch_env.from_elements(
        [(moment, index) for index, moment in enumerate(moments)], DataTypes.ROW(fields)
    )
    windowed = table.window(Tumble.over("10.seconds").on("ts").alias("w")).group_by("w")
    assert rows(windowed.select("w.start, n.sum")) == [
        (datetime.datetime(2020, 1, 1), 1),
        (datetime.datetime(2020, 1, 1, 0, 0, 10), 2),
    ]


def test_columns_with_other_names_in_the_records(t_env, tmp_path):
    from pyflink.table.descriptors import FileSystem, OldCsv, Schema

    if ON_PYFLINK:
        pytest.skip("Flink's files of CSV refuse them")
    (tmp_path / "in.csv").write_text("1,x\n")
    schema = Schema().field("number", "INT").from_origin_field("a").field("b", "STRING")
    t_env.connect(FileSystem().path(str(tmp_path / "in.csv"))).with_format(OldCsv()).with_schema(
        schema
    ).create_temporary_table("source")
    assert t_env.from_path("source").get_schema().get_field_names() == ["number", "b"]
    assert rows(t_env.from_path("source")) == [(1, "x")]


def test_properties_of_descriptors():
    from pyflink.table.descriptors import (
        Csv,
        CustomConnectorDescriptor,
        FileSystem,
        Json,
        OldCsv,
        Rowtime,
        Schema,
    )

    assert FileSystem().path("/x").to_properties() == {
        "connector.property-version": "1",
        "connector.type": "filesystem",
        "connector.path": "/x",
    }
    assert CustomConnectorDescriptor("jdbc", 1, False).property(
        "connector.url", "u"
    ).to_properties() == {
        "connector.property-version": "1",
        "connector.type": "jdbc",
        "connector.url": "u",
    }
    assert OldCsv().field("a", "INT").field_delimiter("|").ignore_first_line().to_properties() == {
        "format.ignore-first-line": "true",
        "format.property-version": "1",
        "format.field-delimiter": "|",
        "format.fields.0.name": "a",
        "format.fields.0.data-type": "INT",
        "format.type": "csv",
    }
    assert Json().fail_on_missing_field(True).derive_schema().to_properties() == {
        "format.property-version": "1",
        "format.derive-schema": "true",
        "format.fail-on-missing-field": "true",
        "format.type": "json",
    }
    assert Csv().null_literal("x").field_delimiter("|").to_properties() == {
        "format.property-version": "1",
        "format.field-delimiter": "|",
        "format.null-literal": "x",
        "format.type": "csv",
    }
    rowtime = Rowtime().timestamps_from_field("t").watermarks_periodic_bounded(60000)
    schema = Schema().field("r", "TIMESTAMP").rowtime(rowtime).field("p", "TIMESTAMP").proctime()
    assert schema.field("x", "INT").from_origin_field("y").to_properties() == {
        "schema.0.name": "r",
        "schema.0.data-type": "TIMESTAMP",
        "schema.0.rowtime.timestamps.type": "from-field",
        "schema.0.rowtime.timestamps.from": "t",
        "schema.0.rowtime.watermarks.type": "periodic-bounded",
        "schema.0.rowtime.watermarks.delay": "60000",
        "schema.1.name": "p",
        "schema.1.data-type": "TIMESTAMP",
        "schema.1.proctime": "true",
        "schema.2.name": "x",
        "schema.2.data-type": "INT",
        "schema.2.from": "y",
    }


def test_settings_of_before():
    from pyflink.table import EnvironmentSettings, TableConfig

    assert settings().is_blink_planner()
    assert EnvironmentSettings.new_instance().use_any_planner().build().is_streaming_mode()
    mode = settings(batch=True).to_configuration().get_string("execution.runtime-mode", "")
    assert mode == "BATCH"
    assert not EnvironmentSettings.from_configuration(
        settings(batch=True).to_configuration()
    ).is_streaming_mode()
    config = TableConfig()
    assert (config.get_null_check(), config.get_decimal_context()) == (True, (34, "HALF_EVEN"))
    config.set_decimal_context(10, "HALF_UP")
    assert config.get_decimal_context() == (10, "HALF_UP")
    hours = [datetime.timedelta(hours=hour) for hour in (1, 2)]
    config.set_idle_state_retention_time(*hours)
    assert config.get_idle_state_retention() == hours[0]
    assert config.get_min_idle_state_retention_time() == 3600000
    assert config.get_max_idle_state_retention_time() == 5400000
    with pytest.raises(Exception, match="at least 5 minutes"):
        config.set_idle_state_retention_time(hours[0], hours[0])
    with pytest.raises(ValueError, match="Unsupported rounding_mode"):
        config.set_decimal_context(10, "UPWARDS")


def test_environments_refuse_what_cannot_be_together():
    from pyflink.dataset import ExecutionEnvironment
    from pyflink.table import BatchTableEnvironment, StreamTableEnvironment, TableConfig

    env = ExecutionEnvironment.get_execution_environment()
    with pytest.raises(ValueError, match="No argument found"):
        BatchTableEnvironment.create()
    with pytest.raises(ValueError, match="Only the param 'table_config'"):
        BatchTableEnvironment.create(table_config=TableConfig())
    with pytest.raises(ValueError, match="cannot be used at the same time"):
        BatchTableEnvironment.create(env, environment_settings=settings(batch=True))
    with pytest.raises(ValueError, match="must be set to batch mode"):
        BatchTableEnvironment.create(environment_settings=settings())
    with pytest.raises(ValueError, match="cannot be used at the same time"):
        StreamTableEnvironment.create(table_config=TableConfig(), environment_settings=settings())


def test_a_query_is_no_update(batch_env):
    with pytest.raises(Exception, match="Unsupported SQL query! sqlUpdate"):
        batch_env.sql_update("SELECT 1")
