"""Plans that are refused, and their databases and tables."""

from __future__ import annotations

import json

import pytest

from pyflink_on_spark.errors import UnsupportedFlinkFeature
from pyflink_on_spark.table import EnvironmentSettings, PlanReference, TableEnvironment

INSERT = "INSERT INTO target SELECT a FROM numbers"


@pytest.fixture
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql("CREATE DATABASE shop")
    t_env.execute_sql("USE shop")
    t_env.execute_sql("CREATE TABLE numbers (a INT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE TABLE target (a INT) WITH ('connector' = 'blackhole')")
    return t_env


def load(t_env, text):
    return t_env.load_plan(PlanReference.from_json_string(text))


def test_a_plan_knows_its_database(t_env):
    text = t_env.compile_plan_sql(INSERT).as_json_string()
    t_env.execute_sql("USE default_database")
    assert "default_catalog.shop.target" in load(t_env, text).explain()
    assert t_env.get_current_database() == "default_database"


def test_a_table_that_has_changed(t_env):
    text = t_env.compile_plan_sql(INSERT).as_json_string()
    t_env.execute_sql("ALTER TABLE numbers ADD b STRING")
    with pytest.raises(Exception, match="numbers in the persisted plan does not match"):
        load(t_env, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps({"flinkVersion": "2.3", "nodes": [], "edges": []}), "Flink's own planner"),
        ("{}", "no compiled plan of this version"),
        ("[1]", "no compiled plan of this version"),
        ('{"pyflinkOnSpark": 2}', "no compiled plan of this version"),
    ],
)
def test_other_plans(t_env, text, message):
    with pytest.raises(Exception, match=message):
        load(t_env, text)


def test_tables_have_no_text(t_env):
    with pytest.raises(UnsupportedFlinkFeature, match="compile_plan_sql"):
        t_env.from_path("numbers").insert_into("target").compile_plan()
    statements = t_env.create_statement_set()
    statements.add_insert("target", t_env.from_path("numbers"))
    with pytest.raises(UnsupportedFlinkFeature, match="COMPILE PLAN"):
        statements.compile_plan()
