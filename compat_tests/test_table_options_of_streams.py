"""Options of a table environment reach the environment of its streams."""

from __future__ import annotations

import json

import pytest
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

pytestmark = pytest.mark.whole("a mode that cuts jobs sets the interval of watermarks itself")
ROWS = Types.ROW([Types.LONG(), Types.STRING()])


@pytest.fixture
def environments():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    return env, StreamTableEnvironment.create(env)


def settings(env):
    """Returns the parallelisms and the interval of an environment."""
    interval = env.get_config().get_auto_watermark_interval()
    return env.get_parallelism(), env.get_max_parallelism(), interval


def set_options(t_env):
    t_env.get_config().set("parallelism.default", "3")
    t_env.get_config().set("pipeline.max-parallelism", "77")
    t_env.get_config().set("pipeline.auto-watermark-interval", "123 ms")


@pytest.mark.parametrize(
    "convert",
    [
        lambda t_env, table: t_env.to_data_stream(table),
        lambda t_env, table: t_env.to_changelog_stream(table),
        lambda t_env, table: t_env.to_append_stream(table, ROWS),
        lambda t_env, table: t_env.to_retract_stream(table, ROWS),
    ],
    ids=["data", "changelog", "append", "retract"],
)
def test_a_conversion_takes_the_options_of_the_table_environment(environments, convert):
    env, t_env = environments
    set_options(t_env)
    table = t_env.from_elements([(1, "a")], ["k", "v"])
    assert settings(env) == (1, -1, 200)
    convert(t_env, table)
    assert settings(env) == (3, 77, 123)


def test_options_count_as_they_are_at_the_last_conversion(environments):
    env, t_env = environments
    table = t_env.from_elements([(1, "a")], ["k", "v"])
    t_env.to_data_stream(table)
    set_options(t_env)
    assert settings(env) == (1, -1, 200)
    t_env.to_data_stream(table)
    env.set_parallelism(2)
    assert settings(env) == (2, 77, 123)
    t_env.to_data_stream(table)
    assert settings(env) == (3, 77, 123)


def test_attached_statements_and_queries_take_the_options_as_well(environments):
    env, t_env = environments
    set_options(t_env)
    t_env.execute_sql("SELECT 1").collect().close()
    assert settings(env) == (3, 77, 123)
    env.set_parallelism(2)
    statements = t_env.create_statement_set()
    t_env.execute_sql("CREATE TABLE nothing (a INT) WITH ('connector' = 'blackhole')")
    statements.add_insert_sql("INSERT INTO nothing SELECT 1")
    statements.attach_as_datastream()
    assert settings(env) == (3, 77, 123)


def test_operators_after_a_conversion_have_its_parallelism(environments):
    env, t_env = environments
    t_env.get_config().set("parallelism.default", "2")
    stream = t_env.to_data_stream(t_env.from_elements([(1, "a")], ["k", "v"]))
    mapped = stream.map(lambda row: row[0], output_type=Types.LONG()).name("mapped")
    mapped.print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert {n["parallelism"] for n in nodes if "mapped" in n["contents"] + n["type"]} == {2}
