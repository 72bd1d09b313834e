"""Buckets and partitions of tables: DISTRIBUTED, and ALTER TABLE with both."""

from __future__ import annotations

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

NAME = "`default_catalog`.`default_database`"
PRINT = "WITH ('connector' = 'print')"


@pytest.fixture
def t_env():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def run(t_env, *statements):
    for statement in statements:
        t_env.execute_sql(statement)


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return [tuple(row) for row in found]


def buckets(t_env, table):
    """The line of SHOW CREATE TABLE about buckets, or None."""
    ((text,),) = rows(t_env, f"SHOW CREATE TABLE {table}")
    return next((line for line in text.splitlines() if line.startswith("DISTRIBUTED")), None)


@pytest.mark.parametrize(
    ("clause", "shown"),
    [
        ("BY HASH(k) INTO 4 BUCKETS", "BY HASH(`k`) INTO 4 BUCKETS"),
        ("BY RANGE(k, v) INTO 6 BUCKETS", "BY RANGE(`k`, `v`) INTO 6 BUCKETS"),
        ("BY (v)", "BY (`v`)"),
        ("BY (k, k) INTO 1 BUCKETS", "BY (`k`, `k`) INTO 1 BUCKETS"),
        ("INTO 7 BUCKETS", "INTO 7 BUCKETS"),
    ],
)
def test_buckets(t_env, clause, shown):
    columns = "(k INT, v STRING, c AS k + 1)"
    run(
        t_env,
        f"CREATE TABLE a {columns} DISTRIBUTED {clause} {PRINT}",
        f"CREATE TABLE b {columns} COMMENT 'c' DISTRIBUTED {clause} PARTITIONED BY (v) {PRINT}",
        f"CREATE TABLE c (k INT, v STRING) {PRINT}",
        f"ALTER TABLE c ADD DISTRIBUTION {clause}",
        "CREATE TABLE d LIKE a",
        "CREATE TABLE e DISTRIBUTED INTO 2 BUCKETS LIKE a (EXCLUDING DISTRIBUTION)",
        f"CREATE TABLE f {PRINT} LIKE a (EXCLUDING ALL)",
    )
    assert {buckets(t_env, name) for name in "abcdf"} == {f"DISTRIBUTED {shown}"}
    assert buckets(t_env, "e") == "DISTRIBUTED INTO 2 BUCKETS"
    ((text,),) = rows(t_env, "SHOW CREATE TABLE b")
    assert f"COMMENT 'c'\nDISTRIBUTED {shown}\nPARTITIONED BY (`v`)\nWITH" in text
    run(
        t_env,
        "ALTER TABLE a MODIFY DISTRIBUTION INTO 3 BUCKETS",
        "ALTER TABLE IF EXISTS d DROP DISTRIBUTION",
    )
    assert (buckets(t_env, "a"), buckets(t_env, "d")) == ("DISTRIBUTED INTO 3 BUCKETS", None)
    run(t_env, "ALTER TABLE a ADD x INT", "ALTER TABLE a SET ('print-identifier' = 'p')")
    assert buckets(t_env, "a") == "DISTRIBUTED INTO 3 BUCKETS"


def test_a_table_without_options(t_env):
    run(t_env, f"CREATE TABLE a (k INT) DISTRIBUTED INTO 2 BUCKETS {PRINT}")
    run(t_env, "CREATE TABLE b LIKE a (EXCLUDING OPTIONS)")
    text = f"CREATE TABLE {NAME}.`b` (\n  `k` INT\n)\nDISTRIBUTED INTO 2 BUCKETS\n"
    assert rows(t_env, "SHOW CREATE TABLE b") == [(text,)]


def test_a_table_with_buckets_is_read(t_env):
    run(
        t_env,
        "CREATE TABLE a (k INT) DISTRIBUTED BY HASH(k) WITH ('connector' = 'datagen', "
        "'number-of-rows' = '1', 'fields.k.min' = '5', 'fields.k.max' = '5')",
    )
    assert rows(t_env, "SELECT k FROM a") == [(5,)]


NO_BUCKETS = "doesn't implement the SupportsBucketing interface"
NO_KEY = "Invalid bucket key 'c'. A bucket key for a distribution must reference a physical column"
NO_COUNT = "Invalid bucket count '0'. The number of buckets for a distributed table must be at"
MISSING = "nope` doesn't exist or is a temporary table"
USED = "The column `k` is used as a distribution key"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO b VALUES (1, 'a')", NO_BUCKETS),
        (f"CREATE TABLE x DISTRIBUTED BY (e) {PRINT} AS SELECT 1 AS e", NO_BUCKETS),
        (f"CREATE TABLE x (k INT, c AS k) DISTRIBUTED BY (c) {PRINT}", NO_KEY),
        (f"CREATE TABLE x (k INT) DISTRIBUTED INTO 0 BUCKETS {PRINT}", NO_COUNT),
        (f"CREATE TABLE x (k INT) DISTRIBUTED {PRINT}", 'Encountered "WITH"'),
        ("CREATE TABLE x (k INT) PARTITIONED BY (k) DISTRIBUTED INTO 2 BUCKETS", "DISTRIBUTED"),
        ("CREATE TABLE x DISTRIBUTED INTO 2 BUCKETS LIKE b", "already has a distribution defined"),
        ("CREATE TABLE x LIKE b (OVERWRITING DISTRIBUTION)", "Illegal merging strategy 'OVERWR"),
        ("ALTER TABLE a ADD DISTRIBUTION BY (c)", NO_KEY),
        ("ALTER TABLE b MODIFY DISTRIBUTION INTO 0 BUCKETS", NO_COUNT),
        ("ALTER TABLE b MODIFY DISTRIBUTION BY LIST(k)", 'Encountered "LIST"'),
        (
            "ALTER TABLE b ADD DISTRIBUTION BY (k)",
            r"already defined the distribution 'DISTRIBUTED BY \(`k`\) INTO 3 BUCKETS'. You can",
        ),
        ("ALTER TABLE a MODIFY DISTRIBUTION BY (k)", "does not define any distribution. You might"),
        ("ALTER TABLE a DROP DISTRIBUTION", "`a` does not have a distribution to drop"),
        ("ALTER TABLE b DROP k", USED),
        ("ALTER TABLE b RENAME k TO x", USED),
        ("ALTER TABLE nope ADD DISTRIBUTION BY (k)", MISSING),
        ("ALTER TABLE IF EXISTS nope ADD DISTRIBUTION BY (k)", MISSING),
        ("ALTER TABLE nope MODIFY DISTRIBUTION BY (k)", MISSING),
        ("ALTER TABLE nope DROP DISTRIBUTION", MISSING),
        ("ALTER TABLE w ADD DISTRIBUTION BY (k)", "ALTER TABLE for a view is not allowed"),
    ],
)
def test_buckets_that_are_refused(t_env, statement, message):
    run(
        t_env,
        f"CREATE TABLE a (k INT, v STRING, c AS k + 1) {PRINT}",
        f"CREATE TABLE b (k INT, v STRING) DISTRIBUTED BY (k) INTO 3 BUCKETS {PRINT}",
        "CREATE VIEW w AS SELECT 1 AS k",
    )
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(statement)


def partitions(t_env, rest=""):
    return [text for (text,) in rows(t_env, f"SHOW PARTITIONS p {rest}")]


@pytest.fixture
def partitioned(t_env):
    run(t_env, f"CREATE TABLE p (k INT, d STRING, e INT) PARTITIONED BY (d, e) {PRINT}")
    return t_env


def test_partitions(partitioned):
    t_env = partitioned
    run(
        t_env,
        "ALTER TABLE p ADD PARTITION (e = 2, d = '1')",
        "ALTER TABLE p ADD PARTITION (d = '1', e = 3) WITH ('a' = 'b') PARTITION (d = '2', e = -3)",
        "ALTER TABLE p ADD IF NOT EXISTS PARTITION (d = '1', e = 2) PARTITION (d = 'a/b=c', e = 4)",
        "ALTER TABLE p ADD PARTITION (d = 'x', d = 'y''', e = 1.5)",
    )
    first = ["e=2/d=1", "d=1/e=3"]
    assert partitions(t_env) == [*first, "d=2/e=-3", "d=a/b=c/e=4", "d=y'/e=1.5"]
    assert partitions(t_env, "PARTITION (d = '1')") == first
    assert partitions(t_env, "PARTITION (e = 3, d = '1')") == ["d=1/e=3"]
    assert partitions(t_env, "PARTITION (x = 3)") == []
    run(
        t_env,
        "ALTER TABLE p DROP PARTITION (d = '1', e = 2), PARTITION (d = '2', e = -3)",
        "ALTER TABLE p DROP IF EXISTS PARTITION (d = '9', e = 9), PARTITION (d = 'y''', e = 1.5)",
    )
    assert partitions(t_env) == ["d=1/e=3", "d=a/b=c/e=4"]


@pytest.mark.parametrize(
    ("statement", "message", "left"),
    [
        (
            "ADD PARTITION (d = '1')",
            r"ADD PARTITION \(d=1\)(?s:.*)\{\{d=1\}\} does not match partition keys \[d, e\] of t",
            ["d=1/e=3"],
        ),
        (
            "ADD PARTITION (d = '8', e = 8) PARTITION (d = '1', e = 3)",
            r"\{\{d=1, e=3\}\} of table default_database.p in catalog default_catalog already exi",
            ["d=1/e=3", "d=8/e=8"],
        ),
        (
            "DROP PARTITION (d = '1', e = 3), PARTITION (d = '9', e = 9)",
            r"\{\{d=9, e=9\}\} of table default_database.p in catalog default_catalog does not ex",
            [],
        ),
        ("ADD PARTITION (d = NULL, e = 3)", "not a literal: NULL", ["d=1/e=3"]),
        ("ADD PARTITION (d = TRUE, e = 3)", "not a literal: TRUE", ["d=1/e=3"]),
        ("ADD PARTITION (d = DATE '2020-01-01')", "literal: DATE '2020-01-01'", ["d=1/e=3"]),
        ("ADD PARTITION (d, e = 3)", 'Encountered ","', ["d=1/e=3"]),
        ("ADD PARTITION (d = '5', e = 5), PARTITION (d = '6')", 'Encountered ","', ["d=1/e=3"]),
    ],
)
def test_partitions_that_are_refused(partitioned, statement, message, left):
    t_env = partitioned
    run(t_env, "ALTER TABLE p ADD PARTITION (d = '1', e = 3)")
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(f"ALTER TABLE p {statement}")
    assert partitions(t_env) == left


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ALTER TABLE q ADD PARTITION (k = 1)", "q in catalog default_catalog is not partitioned"),
        ("ALTER TABLE w ADD PARTITION (k = 1)", "w in catalog default_catalog is not partitioned"),
        ("ALTER TABLE nope ADD PARTITION (k = 1)", "nope does not exist in Catalog default_cata"),
        ("ALTER TABLE IF EXISTS nope ADD PARTITION (k = 1)", "nope does not exist in Catalog de"),
        ("ALTER TABLE nope DROP PARTITION (k = 1)", "nope in catalog default_catalog does not e"),
        ("SHOW PARTITIONS q", "Could not execute SHOW PARTITIONS"),
        ("SHOW PARTITIONS w", "w in catalog default_catalog is not partitioned"),
        ("ALTER TABLE q PARTITION (k = 1) RENAME TO PARTITION (k = 2)", 'Encountered "PARTITION"'),
    ],
)
def test_tables_without_partitions(t_env, statement, message):
    run(t_env, f"CREATE TABLE q (k INT) {PRINT}", "CREATE VIEW w AS SELECT 1 AS k")
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(statement)
