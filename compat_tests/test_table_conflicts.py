"""Rows with the same primary key: ON CONFLICT, and the options of upsert materialization."""

from __future__ import annotations

import pytest
from pyflink.common import Row, RowKind, Types
from pyflink.table import ChangelogMode, EnvironmentSettings, Schema, TableEnvironment

AUTO = {"table.exec.sink.require-on-conflict": "false"}
NONE, FORCE = ({"table.exec.sink.upsert-materialize": mode} for mode in ("NONE", "FORCE"))
KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}
CHANGES = [
    ("+I", "a", 1, 10), ("+I", "a", 2, 20), ("+I", "b", 1, 5), ("-U", "a", 2, 20),
    ("+U", "a", 2, 25), ("-D", "a", 1, 10), ("+I", "a", 1, 7), ("-D", "a", 2, 25),
    ("-D", "b", 1, 5), ("-D", "a", 1, 7),
]  # fmt: skip
GROUPS = "SELECT s, SUM(x) AS n FROM src GROUP BY s, a"
SAME = "SELECT s, SUM(x) AS n FROM src GROUP BY s"
ROWS = "SELECT s, x AS n FROM src"
APPENDED = "SELECT s, n FROM (VALUES ('a', 1), ('b', 2), ('a', 3), ('a', 1)) AS v(s, n)"
FILTERED = f"SELECT * FROM ({SAME}) WHERE n < 25"
TOP = (
    "SELECT s, x AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY x DESC) AS r "
    "FROM src) WHERE r <= 2"
)


@pytest.fixture
def src(env, t_env):
    env.set_parallelism(1)
    rows = [Row.of_kind(KINDS[kind], *values) for kind, *values in CHANGES]
    types = Types.ROW_NAMED(["s", "a", "x"], [Types.STRING(), Types.INT(), Types.INT()])
    schema = (
        Schema.new_builder().column("s", "STRING NOT NULL").column("a", "INT").column("x", "INT")
    )
    table = t_env.from_changelog_stream(env.from_collection(rows, types), schema.build())
    t_env.create_temporary_view("src", table)
    return t_env


def stream(t_env, query, mode, *key):
    table = t_env.sql_query(query)
    names, types = table.get_schema().get_field_names(), table.get_schema().get_field_data_types()
    schema = Schema.new_builder()
    for name, kind in zip(names, types):
        schema.column(name, kind.not_null())
    return t_env.to_changelog_stream(table, schema.primary_key(*key).build(), mode)


def upserts(t_env, query, options, *key):
    for name, value in options.items():
        t_env.get_config().set(name, value)
    with stream(t_env, query, ChangelogMode.upsert(), *key).execute_and_collect() as results:
        return " ".join(f"{row.get_row_kind()}{','.join(map(str, row))}" for row in results)


MATERIALIZED = "+Ia,10 +Ua,20 +Ib,5 +Ua,10 +Ua,25 +Ua,7 -Db,5 -Da,7"


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        (GROUPS, AUTO, MATERIALIZED),
        (ROWS, AUTO, MATERIALIZED),
        (TOP, AUTO, MATERIALIZED),
        (APPENDED, AUTO, "+Ia,1 +Ib,2 +Ua,3 +Ua,1"),
        (SAME, {}, "+Ia,10 +Ua,30 +Ib,5 +Ua,10 +Ua,35 +Ua,25 +Ua,32 +Ua,7 -Db,5 -Da,7"),
        (SAME, FORCE, "+Ia,10 +Ua,30 +Ib,5 +Ua,10 +Ua,35 +Ua,25 +Ua,32 +Ua,7 -Db,5 -Da,7"),
        (GROUPS, FORCE, MATERIALIZED),
        (GROUPS, NONE, "+Ia,10 +Ia,20 +Ib,5 -Da,20 +Ia,25 -Da,10 +Ia,7 -Da,25 -Db,5 -Da,7"),
        (APPENDED, FORCE, "+Ia,1 +Ib,2 +Ua,3 +Ua,1"),
        (APPENDED, NONE, "+Ia,1 +Ib,2 +Ia,3 +Ia,1"),
        (FILTERED, FORCE, "+Ia,10 -Da,10 +Ib,5 +Ia,10 -Da,10 +Ia,7 -Db,5 -Da,7"),
    ],
)
def test_the_last_row_of_a_key_is_there(src, query, options, expected):
    assert upserts(src, query, options, "s") == expected


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("SELECT s, x FROM changes", {}, "+Ia,10 +Ib,5 +Ua,20 -Db,5"),
        ("SELECT s, x FROM changes", FORCE, "+Ia,10 +Ib,5 +Ua,20 -Db,5"),
        ("SELECT s, x FROM changes WHERE x < 20", {}, "+Ia,10 +Ib,5 -Ua,10 -Db,5"),
        ("SELECT s, x FROM changes WHERE x < 20", FORCE, "+Ia,10 +Ib,5 -Da,10 -Db,5"),
    ],
)
def test_rows_before_updates_go_where_nobody_needs_them(env, t_env, query, options, expected):
    env.set_parallelism(1)
    changes = [("+I", "a", 10), ("+I", "b", 5), ("-U", "a", 10), ("+U", "a", 20), ("-D", "b", 5)]
    rows = [Row.of_kind(KINDS[kind], *values) for kind, *values in changes]
    types = Types.ROW_NAMED(["s", "x"], [Types.STRING(), Types.INT()])
    schema = Schema.new_builder().column("s", "STRING NOT NULL").column("x", "INT")
    table = t_env.from_changelog_stream(
        env.from_collection(rows, types), schema.primary_key("s").build()
    )
    t_env.create_temporary_view("changes", table)
    assert upserts(t_env, query, options, "s") == expected


def test_a_key_with_more_columns_than_rows_have(src):
    assert upserts(src, SAME, {}, "s", "n") == (
        "+Ia,10 -Ua,10 +Ua,30 +Ib,5 -Ua,30 +Ua,10 -Ua,10 +Ua,35 -Ua,35 +Ua,25 -Ua,25 +Ua,32 "
        "-Ua,32 +Ua,7 -Db,5 -Da,7"
    )


DIFFERS = "The query has an upsert key that differs from the primary key of the sink table"


@pytest.mark.parametrize("query", [GROUPS, ROWS, TOP, APPENDED])
def test_conflicts_that_nobody_has_resolved(src, query):
    with pytest.raises(Exception, match=DIFFERS):
        stream(src, query, ChangelogMode.upsert(), "s")


def test_streams_that_take_what_comes_or_all_changes(src):
    stream(src, APPENDED, None, "s")
    stream(src, GROUPS, ChangelogMode.all(), "s")
    with pytest.raises(Exception, match=DIFFERS):
        stream(src, GROUPS, None, "s")


# -- statements ----------------------------------------------------------------------------------

COLUMNS = "s STRING NOT NULL, x INT NOT NULL, n BIGINT"
KEYED = "SELECT s, x, COUNT(*) FROM {} GROUP BY s, x"
EQUAL = "SELECT s, MAX(x), COUNT(*) FROM {} GROUP BY s"
ADDED = "SELECT s, x, CAST(x AS BIGINT) FROM {}"


@pytest.fixture
def tables():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    key = f"{COLUMNS}, PRIMARY KEY (s) NOT ENFORCED"
    for name, columns, connector in (
        ("printed", key, "'print'"),
        ("swallowed", key, "'blackhole'"),
        ("keyless", COLUMNS, "'blackhole'"),
        ("retracting", key, "'filesystem', 'path' = '/nowhere', 'format' = 'debezium-json'"),
        ("bare", "s STRING NOT NULL, x INT NOT NULL", "'datagen'"),
        ("timed", "s STRING NOT NULL, x INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts",
         "'datagen'"),
    ):  # fmt: skip
        t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ('connector' = {connector})")
    return t_env


def sink_line(t_env, statement):
    text = t_env.explain_sql(statement)
    plan = text[text.index("== Optimized Physical Plan") :]
    return next(line for line in plan.splitlines() if line.startswith("Sink("))


@pytest.mark.parametrize("strategy", ["NOTHING", "ERROR", "DEDUPLICATE"])
@pytest.mark.parametrize("table", ["printed", "swallowed"])
def test_a_statement_says_what_happens(tables, table, strategy):
    clause = f"ON CONFLICT DO {strategy}"
    line = sink_line(tables, f"INSERT INTO {table} {KEYED.format('timed')} {clause}")
    assert f"upsertMaterialize=[true], conflictStrategy=[{strategy}]" in line
    line = sink_line(tables, f"INSERT INTO {table} {EQUAL.format('timed')} {clause}")
    assert "upsertMaterialize" not in line
    assert f"conflictStrategy=[{strategy}]" in line


@pytest.mark.parametrize(
    ("mode", "query", "materialized"),
    [
        ("FORCE", EQUAL, True), ("FORCE", KEYED, True), ("FORCE", ADDED, True),
        ("none", EQUAL, False), ("none", KEYED, False), ("none", ADDED, False),
        ("AUTO", EQUAL, False), ("AUTO", ADDED, False),
    ],
)  # fmt: skip
def test_an_option_says_it_for_all(tables, mode, query, materialized):
    tables.get_config().set("table.exec.sink.upsert-materialize", mode)
    for table in ("printed", "swallowed"):
        line = sink_line(tables, f"INSERT INTO {table} {query.format('bare')}")
        assert ("upsertMaterialize=[true]" in line) is materialized
    for table in ("keyless", "retracting"):
        line = sink_line(tables, f"INSERT INTO {table} {query.format('bare')}")
        assert "upsertMaterialize" not in line


def test_without_the_clause_the_last_row_counts_if_an_option_says_so(tables):
    tables.get_config().set("table.exec.sink.require-on-conflict", "false")
    line = sink_line(tables, f"INSERT INTO printed {KEYED.format('bare')}")
    assert "upsertMaterialize=[true]" in line
    assert "conflictStrategy" not in line


GROWS = (
    r"ON CONFLICT clause is only allowed for upsert sinks. The sink "
    r"'default_catalog.default_database.printed' is not an upsert sink because it only accepts "
    r"INSERT \(append-only\) changes\."
)
TIMELESS = (
    "ON CONFLICT DO NOTHING requires all source tables to define watermarks, but the following "
    r"source\(s\) do not: default_catalog.default_database.bare. Please add a WATERMARK declaration"
)


@pytest.mark.parametrize(
    ("table", "query", "strategy", "message"),
    [
        ("printed", ADDED.format("timed"), "NOTHING", GROWS),
        ("printed", "VALUES ('a', 1, 1)", "DEDUPLICATE", GROWS),
        ("keyless", ADDED.format("timed"), "ERROR", "it only accepts INSERT"),
        ("retracting", KEYED.format("timed"), "ERROR", r"it requires UPDATE_BEFORE \(retract mode"),
        ("printed", KEYED.format("bare"), "NOTHING", TIMELESS),
        ("printed", EQUAL.format("bare"), "ERROR", "ON CONFLICT DO ERROR requires all source"),
        ("printed", KEYED.format("bare"), "UPDATE", 'Encountered "UPDATE"|UPDATE'),
    ],
)  # fmt: skip
def test_clauses_that_are_refused(tables, table, query, strategy, message):
    with pytest.raises(Exception, match=message):
        tables.explain_sql(f"INSERT INTO {table} {query} ON CONFLICT DO {strategy}")


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO printed ({}) ON CONFLICT DO NOTHING",
        "INSERT INTO printed {} on conflict do nothing",
        "INSERT INTO printed (s, x, n) {} ON CONFLICT DO NOTHING;",
        "INSERT INTO printed {} HAVING COUNT(*) > 1 ON CONFLICT DO NOTHING",
        "INSERT INTO printed {0} UNION ALL {0} ON CONFLICT DO NOTHING",
    ],
)
def test_where_the_clause_may_stand(tables, text):
    line = sink_line(tables, text.format(KEYED.format("timed")))
    assert "conflictStrategy=[NOTHING]" in line


@pytest.mark.parametrize(
    "clause", ["ON CONFLICT", "ON CONFLICT NOTHING", "ON CONFLICT (s) DO ERROR"]
)
def test_clauses_that_are_no_sql(tables, clause):
    with pytest.raises(Exception, match=r'(?s)SQL parse failed|Encountered "'):
        tables.explain_sql(f"INSERT INTO printed {KEYED.format('timed')} {clause}")


def test_the_words_of_the_clause_are_names_elsewhere(tables):
    names = "SELECT 1 AS conflict, 2 AS nothing, 3 AS deduplicate, 4 AS error, 5 AS do"
    tables.explain_sql(f"SELECT conflict.nothing, do FROM ({names}) AS conflict")


def test_batch_queries_have_no_conflicts():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}, PRIMARY KEY (s) NOT ENFORCED) WITH ('connector' = 'blackhole')"
    )
    t_env.execute_sql(
        "CREATE TABLE bare (s STRING NOT NULL, x INT NOT NULL) WITH ('connector' = 'datagen', "
        "'number-of-rows' = '1')"
    )
    for clause in ("", "ON CONFLICT DO ERROR", "ON CONFLICT DO DEDUPLICATE"):
        line = sink_line(t_env, f"INSERT INTO t {KEYED.format('bare')} {clause}")
        assert "upsertMaterialize" not in line


# -- what is written -----------------------------------------------------------------------------


@pytest.fixture
def files(t_env, tmp_path):
    """A table `e` of some rows in order of time, and a print table with a key."""
    lines = [
        "a,1,1", "a,2,2", "b,1,3", "a,1,4", "c,5,5", "a,2,6", "b,9,7",
    ]  # fmt: skip
    (tmp_path / "e.csv").write_text("\n".join(lines) + "\n")
    t_env.execute_sql(
        "CREATE TABLE e (s STRING NOT NULL, x INT NOT NULL, t INT, ts AS TO_TIMESTAMP_LTZ(t, 0), "
        f"WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/e.csv', "
        "'format' = 'csv')"
    )
    t_env.execute_sql(
        "CREATE TABLE o (s STRING NOT NULL, x INT NOT NULL, n BIGINT, PRIMARY KEY (s) NOT ENFORCED"
        ") WITH ('connector' = 'print')"
    )
    t_env.get_config().set("parallelism.default", "1")
    return t_env


def written(t_env, printed, clause):
    text = f"INSERT INTO o {KEYED.format('e')} {clause}"
    return printed(lambda: t_env.execute_sql(text).wait())


def test_the_last_of_several_rows_is_written(files, printed):
    assert written(files, printed, "ON CONFLICT DO DEDUPLICATE") == [
        "+I[a, 1, 1]", "+U[a, 2, 1]", "+I[b, 1, 1]", "+U[a, 1, 2]", "+I[c, 5, 1]", "+U[a, 2, 2]",
        "+U[b, 9, 1]",
    ]  # fmt: skip


def test_the_first_of_several_rows_is_written(files, printed):
    found = written(files, printed, "ON CONFLICT DO NOTHING")
    rows = {}
    for line in found:
        assert line[:2] in {"+I", "+U"}
        rows[line[3]] = line[3:-1]
    assert rows == {"a": "a, 1, 2", "b": "b, 1, 1", "c": "c, 5, 1"}
    assert next(line for line in found if line[:2] == "+I")[3] == "a"


def test_several_rows_fail_the_job(files, printed):
    with pytest.raises(Exception, match=r"Primary key constraint violation|Failed to wait"):
        written(files, printed, "ON CONFLICT DO ERROR")
