"""Compiled plans: COMPILE PLAN, EXECUTE PLAN and the methods for them."""

from __future__ import annotations

import json

import pytest
from pyflink.table import EnvironmentSettings, PlanReference, TableEnvironment

INSERT = "INSERT INTO target SELECT a FROM numbers"


@pytest.fixture
def out(t_env, tmp_path):
    t_env.execute_sql(
        "CREATE TABLE numbers (a INT, b STRING) WITH ('connector' = 'datagen', 'fields.a.kind' = "
        "'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3', 'fields.b.length' = '1')"
    )
    folder = tmp_path / "out"
    t_env.execute_sql(
        "CREATE TABLE target (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{folder}')"
    )
    return folder


def lines(folder):
    files = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return sorted(line for file in files for line in file.read_text().split())


def result(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return [tuple(row) for row in found]


def test_compile_and_execute(t_env, out, tmp_path):
    file = tmp_path / "plan.json"
    assert result(t_env, f"COMPILE PLAN '{file}' FOR {INSERT}") == [("OK",)]
    assert json.loads(file.read_text())["flinkVersion"] == "2.3"
    executed = t_env.execute_sql(f"EXECUTE PLAN '{file}'")
    executed.wait()
    columns = executed.get_table_schema().get_field_names()
    assert columns == ["default_catalog.default_database.target"]
    assert lines(out) == ["1", "2", "3"]


def test_a_plan_is_not_replaced(t_env, out, tmp_path):
    file = tmp_path / "plan.json"
    t_env.execute_sql(f"COMPILE PLAN '{file}' FOR {INSERT}")
    before = file.read_text()
    with pytest.raises(Exception, match="Cannot overwrite the plan file"):
        t_env.execute_sql(f"COMPILE PLAN '{file}' FOR {INSERT} WHERE a > 1")
    statement = f"COMPILE PLAN '{file}' IF NOT EXISTS FOR {INSERT} WHERE a > 1"
    assert result(t_env, statement) == [("OK",)]
    assert file.read_text() == before
    t_env.get_config().set("table.plan.force-recompile", "true")
    t_env.execute_sql(f"COMPILE PLAN '{file}' FOR {INSERT} WHERE a > 1")
    assert file.read_text() != before


def test_compile_and_execute_in_one(t_env, out, tmp_path):
    t_env.execute_sql(f"COMPILE AND EXECUTE PLAN '{tmp_path}/p.json' FOR {INSERT}").wait()
    assert lines(out) == ["1", "2", "3"]


def test_a_set_of_statements(t_env, out, tmp_path):
    file = tmp_path / "plan.json"
    t_env.execute_sql(f"COMPILE PLAN '{file}' FOR STATEMENT SET BEGIN {INSERT}; {INSERT}; END")
    t_env.execute_sql(f"EXECUTE PLAN '{file}'").wait()
    assert lines(out) == ["1", "1", "2", "2", "3", "3"]


def test_methods(t_env, out, tmp_path):
    plan = t_env.compile_plan_sql(INSERT)
    assert plan.get_flink_version() == "2.3"
    assert "target" in plan.explain()
    file = tmp_path / "plan.json"
    plan.write_to_file(str(file))
    with pytest.raises(Exception, match="Cannot overwrite the plan file"):
        plan.write_to_file(str(file))
    plan.write_to_file(str(file), True)
    loaded = t_env.load_plan(PlanReference.from_file(str(file)))
    assert loaded.as_json_string() == plan.as_json_string()
    t_env.execute_sql(f"EXECUTE PLAN '{file}'").wait()
    assert lines(out) == ["1", "2", "3"]


def test_smile(t_env, out):
    plan = t_env.compile_plan_sql(INSERT)
    found = t_env.load_plan(PlanReference.from_smile_bytes(plan.as_smile_bytes()))
    assert found.get_flink_version() == "2.3"


def test_statement_set(t_env, out):
    statements = t_env.create_statement_set()
    statements.add_insert_sql(INSERT)
    statements.add_insert_sql("INSERT INTO target SELECT a + 1 FROM numbers")
    assert statements.compile_plan().get_flink_version() == "2.3"


def test_batch_mode():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql("CREATE TABLE nowhere (a INT) WITH ('connector' = 'blackhole')")
    assert t_env.compile_plan_sql("INSERT INTO nowhere VALUES (1)").get_flink_version() == "2.3"


@pytest.mark.parametrize("text", ["SELECT a FROM numbers", "CREATE TABLE x (a INT)"])
def test_only_inserts_can_be_compiled(t_env, out, text):
    with pytest.raises(Exception, match="only accepts a single SQL statement of type INSERT"):
        t_env.compile_plan_sql(text)


def test_what_is_no_plan(t_env, tmp_path):
    with pytest.raises(Exception, match="Cannot load Plan from file"):
        t_env.load_plan(PlanReference.from_file(str(tmp_path / "missing.json")))
    with pytest.raises(Exception, match="Cannot load Plan"):
        t_env.load_plan(PlanReference.from_json_string("no json"))
    with pytest.raises(Exception, match=r"missing\.json"):
        t_env.execute_sql(f"EXECUTE PLAN '{tmp_path}/missing.json'")


def test_references():
    file = PlanReference.from_file("/x")
    assert file == PlanReference.from_file("/x")
    assert hash(file) == hash(PlanReference.from_file("/x"))
    assert (str(file), str(file.get_file())) == ("Plan from file '/x'", "/x")
    text = PlanReference.from_json_string("{}")
    assert (str(text), text.get_content()) == ("Plan:\n{}", "{}")
    smile = PlanReference.from_smile_bytes(b"abc")
    assert (str(smile), smile.get_content()) == ("Plan:\n[97, 98, 99]", b"abc")


@pytest.mark.pyflink_bug("the methods that run a plan fail with a Py4JError")
def test_methods_that_run_a_plan(t_env, out):
    plan = t_env.compile_plan_sql(INSERT)
    t_env.execute_plan(PlanReference.from_json_string(plan.as_json_string())).wait()
    assert lines(out) == ["1", "2", "3"]
    plan.execute().wait()
    assert lines(out) == ["1", "1", "2", "2", "3", "3"]
