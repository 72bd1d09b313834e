"""Errors in SQL texts have one sentence and a position."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.errors import SqlParseError, TableError, ValidationError
from pyflink_on_spark.errors import JobExecutionError
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.testing import local_engine

MATCH = "SELECT * FROM v MATCH_RECOGNIZE (MEASURES A.id AS x PATTERN ({}) DEFINE A AS id > 1)"


@pytest.fixture
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW v AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS x (id, k)"
    )
    t_env.execute_sql("CREATE TABLE nowhere (id INT) WITH ('connector' = 'nosuch')")
    t_env.execute_sql("CREATE TABLE made (id INT) WITH ('connector' = 'datagen', 'rows' = '1')")
    t_env.execute_sql("CREATE TABLE pair (id INT, k STRING) WITH ('connector' = 'blackhole')")
    t_env.execute_sql(
        "CREATE TABLE files (n BIGINT, k STRING) WITH ('connector' = 'filesystem', "
        "'path' = '/nowhere', 'format' = 'csv')"
    )
    return t_env


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("SELECT *\nFROM nope", "line 2, column 6", "Object 'nope' not found"),
        ("SELECT id,\n  nam FROM v", "line 2, column 3", "Column 'nam' not found"),
        ("SELECT id, FOO(id) FROM v", "line 1, column 12", "function signature FOO"),
        ("SELECT * FROM nowhere", "line 1, column 15", "factory for identifier 'nosuch'"),
        ("SELECT * FROM made", "line 1, column 15", "Unsupported options found for 'datagen'"),
        ("INSERT INTO\nnope SELECT id FROM v", "line 2, column 1", "Cannot find table"),
        ("INSERT INTO pair SELECT k, id FROM v", "line 1, column 18", "Incompatible types"),
        ("INSERT INTO pair SELECT id FROM v", "line 1, column 18", "Different number of columns"),
        ("SELECT id + k FROM v", "line 1, column 8", r"Cannot apply '\+'"),
        ("SELECT id, COUNT(*) FROM v GROUP BY k", "line 1, column 8", "is not being grouped"),
        ("SELECT id FROM v WHERE COUNT(*) > 1", "line 1, column 24", "Aggregate expression"),
        ("SELECT ROW_NUMBER() FROM v", "line 1, column 8", "OVER clause is necessary"),
        ("SELECT SUM(id) OVER w FROM v", "line 1, column 8", "Window 'w' not found"),
        (
            MATCH.format("A").replace("(MEASURES", "(ORDER BY k, id + 1 MEASURES"),
            "line 1, column 46",
            "ORDER BY of MATCH_RECOGNIZE needs columns",
        ),
        (
            MATCH.format("A").replace("(MEASURES", "(PARTITION BY UPPER(k) MEASURES"),
            "line 1, column 47",
            "PARTITION BY of MATCH_RECOGNIZE needs columns",
        ),
        (MATCH.format("^A"), "line 1, column 62", "Flink does not carry out"),
        (MATCH.format("A $"), "line 1, column 64", "Flink does not carry out"),
        (MATCH.format("A) SUBSET S = (A"), "line 1, column 65", "SUBSET cannot be used"),
        (MATCH.format("A").replace("A.id", "v.id"), "line 1, column 43", "Table 'v' not found"),
        (
            MATCH.format("A").replace("A.id", "LAST(A.id, -1)"),
            "line 1, column 54",
            "a number that is not negative",
        ),
    ],
)
def test_what_is_wrong(t_env, text, place, message):
    with pytest.raises(ValidationError, match=message) as failed:
        t_env.execute_sql(text)
    assert place in str(failed.value)


def test_no_sql(t_env):
    with pytest.raises(SqlParseError, match='Encountered "AND" at line 2, column 3'):
        t_env.execute_sql("SELECT id FROM v WHERE\n  AND id = 1")


def test_options_of_files_that_change_nothing_or_are_not_there(t_env):
    def table(name, options):
        t_env.execute_sql(
            f"CREATE TABLE {name} (n INT, k STRING) PARTITIONED BY (k) WITH ('connector' = "
            f"'filesystem', 'path' = '/nowhere', 'format' = 'csv', {options})"
        )

    table("a", "'source.report-statistics' = 'NONE', 'sink.shuffle-by-partition.enable' = 'false'")
    t_env.sql_query("SELECT * FROM a")
    table("b", "'source.report-statistics' = 'SOME'")
    with pytest.raises(ValidationError, match="Invalid value for option"):
        t_env.sql_query("SELECT * FROM b")


def test_updates_into_files(t_env):
    message = "doesn't support consuming update changes which is"
    with pytest.raises(TableError, match=message) as failed:
        t_env.execute_sql("INSERT INTO\n  files SELECT COUNT(*), k FROM v GROUP BY k")
    assert "TableException: From line 2, column 3 to line 2, column 7: Table sink" in str(
        failed.value
    )


@pytest.mark.parametrize(
    ("form", "line", "message"),
    [
        ("csv", "x,b", "Failed to deserialize CSV row 'x,b': column 'n'"),
        ("json", "{", "Failed to deserialize JSON '{'"),
        ("json", "null", "Failed to deserialize JSON 'null': a value that is no object stands"),
        ("json", "[1]", "Failed to deserialize JSON '[1]': a value that is no object stands"),
    ],
)
def test_a_corrupt_record(t_env, tmp_path, form, line, message):
    (tmp_path / "in").write_text(f"{line}\n")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = '{form}'"
    t_env.execute_sql(f"CREATE TABLE c (n INT, s STRING) WITH ({options})")
    with local_engine(), pytest.raises(JobExecutionError) as failed:
        list(t_env.execute_sql("SELECT n FROM c").collect())
    assert str(failed.value).startswith(f"ValueError: {message}")
