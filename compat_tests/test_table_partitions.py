"""Partitions that a catalog has, and tables in buckets."""

from __future__ import annotations

import pytest

from compat_tests.tables import query


def shown(t_env, statement):
    with t_env.execute_sql(statement).collect() as rows:
        return [tuple(row) for row in rows]


def refused(t_env, statement, message):
    with pytest.raises(Exception, match=message):
        t_env.execute_sql(statement)


def partitions(t_env, text="a"):
    return [name for (name,) in shown(t_env, f"SHOW PARTITIONS {text}")]


# -- partitions ----------------------------------------------------------------------------------


@pytest.fixture
def days(t_env):
    t_env.execute_sql(
        "CREATE TABLE a (i INT, p STRING, q INT) PARTITIONED BY (p, q) "
        "WITH ('connector' = 'datagen')"
    )
    t_env.execute_sql(
        "ALTER TABLE a ADD PARTITION (p='x', q=1) PARTITION (p='y', q=1) WITH ('k' = 'v') "
        "PARTITION (p='z', q=2)"
    )
    return t_env


def test_added_partitions(days):
    assert partitions(days) == ["p=x/q=1", "p=y/q=1", "p=z/q=2"]
    days.execute_sql("ALTER TABLE a ADD IF NOT EXISTS PARTITION (p='x', q='1')")
    days.execute_sql("ALTER TABLE a ADD PARTITION (q=7, p='w')")
    days.execute_sql("ALTER TABLE a ADD PARTITION (p='w', q='9')")
    assert partitions(days) == ["p=x/q=1", "p=y/q=1", "p=z/q=2", "q=7/p=w", "p=w/q=9"]


def test_values_of_partitions_are_texts(days):
    days.execute_sql("ALTER TABLE a ADD PARTITION (p=1.50, q=1e2) PARTITION (p='it''s', q=+5)")
    days.execute_sql("ALTER TABLE a ADD PARTITION (p='x', p='u', q=1)")
    days.execute_sql("ALTER TABLE a RENAME TO b")
    assert partitions(days, "b")[3:] == ["p=1.50/q=1E+2", "p=it's/q=5", "p=u/q=1"]


def test_partitions_before_a_wrong_one_stay(days):
    refused(days, "ALTER TABLE a ADD PARTITION (p='1', q=1) PARTITION (p='2')", "does not match")
    assert partitions(days)[3:] == ["p=1/q=1"]
    two = "PARTITION (p='1', q=1), PARTITION (p='2', q=1)"
    refused(days, f"ALTER TABLE a DROP {two}", "does not exist")
    assert partitions(days)[3:] == []


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ("q=1", ["p=x/q=1", "p=y/q=1"]),
        ("p='z'", ["p=z/q=2"]),
        ("p='x', q=1", ["p=x/q=1"]),
        ("p='no'", []),
        ("i=1", []),
    ],
)
def test_listed_partitions_of_some_values(days, values, names):
    assert partitions(days, f"a PARTITION ({values})") == names


def test_dropped_partitions(days):
    days.execute_sql("ALTER TABLE a DROP PARTITION (q='1', p='x'), PARTITION (p='z', q=2)")
    assert partitions(days) == ["p=y/q=1"]
    days.execute_sql("ALTER TABLE a DROP IF EXISTS PARTITION (p='x', q=1), PARTITION (p='y', q=1)")
    assert partitions(days) == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("a ADD PARTITION (p='x', q=1)", ("Could not execute ALTER TABLE default_catalog."
         r"default_database.a ADD PARTITION \(p=x, q=1\)")),
        ("a ADD PARTITION (p='x', q=1)", (r"Partition CatalogPartitionSpec\{\{p=x, q=1\}\} of "
         "table default_database.a in catalog default_catalog already exists")),
        ("a ADD PARTITION (p='y')", (r"PartitionSpec CatalogPartitionSpec\{\{p=y\}\} does not "
         r"match partition keys \[p, q\] of table default_database.a in catalog default_catalog")),
        ("a ADD PARTITION (p='y', r=1)", r"does not match partition keys \[p, q\]"),
        ("a ADD PARTITION (p='y', q=CAST(1 AS INT))", "SQL parse failed"),
        ("a DROP PARTITION (p='z')", (r"Partition CatalogPartitionSpec\{\{p=z\}\} of table "
         "default_database.a in catalog default_catalog does not exist")),
        ("a DROP PARTITION (p='no', q=1)", (r"ALTER TABLE default_catalog.default_database.a DROP "
         r"PARTITION \(p=no, q=1\)")),
        ("a DROP PARTITION (p='no'), PARTITION (q=1)", r"PARTITION \(p=no\) PARTITION \(q=1\)"),
        ("a ADD PARTITION (p='y', q=TRUE)", "not a literal: TRUE"),
        ("a ADD PARTITION (p='y', q=NULL)", "not a literal: NULL"),
        ("a ADD PARTITION (p='y', q)", "SQL parse failed"),
        ("IF EXISTS nope ADD PARTITION (p='x')", "default_database.nope does not exist in Catalog"),
        ("IF EXISTS nope DROP PARTITION (p='x')", "default_database.nope in catalog default_cat"),
        ("n ADD PARTITION (p='x')", "default_database.n in catalog default_catalog is not part"),
        ("n DROP PARTITION (p='x')", "default_database.n in catalog default_catalog does not"),
        ("v ADD PARTITION (p='x')", "default_database.v in catalog default_catalog is not part"),
        ("tmp ADD PARTITION (p='x')", "default_database.tmp does not exist in Catalog default_cat"),
        ("tmp DROP PARTITION (p='x')", "default_database.tmp in catalog default_catalog does not"),
    ],
)  # fmt: skip
def test_partitions_that_are_refused(days, statement, message):
    days.execute_sql("CREATE TABLE n (i INT) WITH ('connector' = 'datagen')")
    days.execute_sql("CREATE VIEW v AS SELECT 1 AS i")
    days.execute_sql(
        "CREATE TEMPORARY TABLE tmp (p STRING) PARTITIONED BY (p) WITH ('connector' = 'datagen')"
    )
    refused(days, f"ALTER TABLE {statement}", message)
    assert partitions(days) == ["p=x/q=1", "p=y/q=1", "p=z/q=2"]


def test_partitions_of_a_temporary_table_are_in_no_catalog(t_env):
    t_env.execute_sql(
        "CREATE TEMPORARY TABLE a (p STRING) PARTITIONED BY (p) WITH ('connector' = 'datagen')"
    )
    refused(t_env, "SHOW PARTITIONS a", "Could not execute SHOW PARTITIONS default_catalog")


# -- buckets -------------------------------------------------------------------------------------


def distribution(t_env, table="t"):
    """The text between the columns and the options of a table."""
    ((text,),) = shown(t_env, f"SHOW CREATE TABLE {table}")
    return text.partition("\n)\n")[2].partition("WITH (")[0].strip()


def created(t_env, clause, table="t"):
    t_env.execute_sql(
        f"CREATE TABLE {table} (i INT, p STRING, m AS i + 1) {clause} "
        "WITH ('connector' = 'datagen', 'number-of-rows' = '2')"
    )


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        ("DISTRIBUTED BY HASH(i) INTO 4 BUCKETS", "DISTRIBUTED BY HASH(`i`) INTO 4 BUCKETS"),
        ("DISTRIBUTED BY RANGE(i, p) INTO 4 BUCKETS", "DISTRIBUTED BY RANGE(`i`, `p`) INTO 4 BUCK"),
        ("DISTRIBUTED BY HASH(i, i) INTO 2 BUCKETS", "DISTRIBUTED BY HASH(`i`, `i`) INTO 2 BUCK"),
        ("DISTRIBUTED BY (p)", "DISTRIBUTED BY (`p`)"),
        ("DISTRIBUTED INTO 3 BUCKETS", "DISTRIBUTED INTO 3 BUCKETS"),
        ("DISTRIBUTED BY (p) INTO 2 BUCKETS PARTITIONED BY (p)",
         "DISTRIBUTED BY (`p`) INTO 2 BUCKETS\nPARTITIONED BY (`p`)"),
    ],
)  # fmt: skip
def test_tables_in_buckets(t_env, clause, text):
    created(t_env, clause)
    assert distribution(t_env).startswith(text)
    assert len(query(t_env, "SELECT p FROM t")) == 2


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("DISTRIBUTED BY HASH(nope) INTO 4 BUCKETS", ("Invalid bucket key 'nope'. A bucket key for "
         r"a distribution must reference a physical column in the schema. .* \[i, p\]")),
        ("DISTRIBUTED BY HASH(m) INTO 4 BUCKETS", "Invalid bucket key 'm'"),
        ("DISTRIBUTED BY HASH(i) INTO 0 BUCKETS", ("Invalid bucket count '0'. The number of "
         "buckets for a distributed table must be at least 1")),
        ("DISTRIBUTED BY HASH(i) INTO -1 BUCKETS", "SQL parse failed"),
        ("DISTRIBUTED BY HASH(i) INTO 1.5 BUCKETS", "Bucket count must be a positive integer"),
        ("DISTRIBUTED BY HASH() INTO 2 BUCKETS", "SQL parse failed"),
        ("DISTRIBUTED BY i INTO 2 BUCKETS", "SQL parse failed"),
        ("DISTRIBUTED", "SQL parse failed"),
        ("PARTITIONED BY (p) DISTRIBUTED BY (i)", "SQL parse failed"),
    ],
)  # fmt: skip
def test_wrong_buckets(t_env, clause, message):
    with pytest.raises(Exception, match=message):
        created(t_env, clause)


def test_changed_buckets(t_env):
    created(t_env, "")
    t_env.execute_sql("ALTER TABLE t ADD DISTRIBUTION BY HASH(i) INTO 2 BUCKETS")
    assert distribution(t_env) == "DISTRIBUTED BY HASH(`i`) INTO 2 BUCKETS"
    t_env.execute_sql("ALTER TABLE t MODIFY DISTRIBUTION BY (p)")
    assert distribution(t_env) == "DISTRIBUTED BY (`p`)"
    t_env.execute_sql("ALTER TABLE t MODIFY DISTRIBUTION INTO 7 BUCKETS")
    t_env.execute_sql("ALTER TABLE t ADD (k STRING)")
    t_env.execute_sql("ALTER TABLE t SET ('number-of-rows' = '3')")
    assert distribution(t_env) == "DISTRIBUTED INTO 7 BUCKETS"
    t_env.execute_sql("ALTER TABLE t DROP DISTRIBUTION")
    assert distribution(t_env) == ""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("d ADD DISTRIBUTION INTO 2 BUCKETS", ("The current table has already defined the "
         r"distribution 'DISTRIBUTED BY HASH\(`i`\) INTO 4 BUCKETS'. You can modify it")),
        ("t MODIFY DISTRIBUTION BY (p)", "The base table does not define any distribution"),
        ("t DROP DISTRIBUTION", "`t` does not have a distribution to drop"),
        ("t ADD DISTRIBUTION BY RANGE(nope) INTO 2 BUCKETS", "Invalid bucket key 'nope'"),
        ("nope ADD DISTRIBUTION BY (i)", "nope` doesn't exist or is a temporary table"),
        ("IF EXISTS nope ADD DISTRIBUTION BY (i)", "nope` doesn't exist or is a temporary table"),
        ("t ADD DISTRIBUTION INTO 0 BUCKETS", "Invalid bucket count '0'"),
        ("d DROP i", "The column `i` is used as a distribution key"),
        ("d RENAME i TO j", "The column `i` is used as a distribution key"),
        ("t MODIFY (DISTRIBUTION BY (p), k STRING)", "SQL parse failed"),
    ],
)  # fmt: skip
def test_changes_of_buckets_that_are_refused(t_env, statement, message):
    t_env.execute_sql("CREATE TABLE t (i INT, p STRING) WITH ('connector' = 'datagen')")
    t_env.execute_sql(
        "CREATE TABLE d (i INT, p STRING) DISTRIBUTED BY HASH(i) INTO 4 BUCKETS "
        "WITH ('connector' = 'datagen')"
    )
    refused(t_env, f"ALTER TABLE {statement}", message)


def test_tables_like_one_in_buckets(t_env):
    created(t_env, "DISTRIBUTED BY HASH(i) INTO 4 BUCKETS")
    t_env.execute_sql("CREATE TABLE l1 LIKE t (EXCLUDING ALL)")
    t_env.execute_sql("CREATE TABLE l2 LIKE t (EXCLUDING DISTRIBUTION)")
    other = "DISTRIBUTED BY (p) INTO 9 BUCKETS LIKE t"
    t_env.execute_sql(f"CREATE TABLE l3 {other} (EXCLUDING DISTRIBUTION)")
    assert distribution(t_env, "l1") == "DISTRIBUTED BY HASH(`i`) INTO 4 BUCKETS"
    assert distribution(t_env, "l2") == "DISTRIBUTED BY HASH(`i`) INTO 4 BUCKETS"
    assert distribution(t_env, "l3") == "DISTRIBUTED BY (`p`) INTO 9 BUCKETS"
    refused(t_env, f"CREATE TABLE l4 {other}", "The base table already has a distribution def")
    for part in ("DISTRIBUTION", "PARTITIONS", "CONSTRAINTS", "ALL"):
        message = f"Illegal merging strategy 'OVERWRITING' for '{part}' option"
        refused(t_env, f"CREATE TABLE l4 LIKE t (OVERWRITING {part})", message)


@pytest.mark.parametrize("connector", ["blackhole", "filesystem"])
def test_no_connector_writes_buckets(t_env, tmp_path, connector):
    path = f", 'path' = '{tmp_path}', 'format' = 'csv'" if connector == "filesystem" else ""
    options = f"WITH ('connector' = '{connector}'{path})"
    message = r"Table 'default_catalog.default_database.\w' is distributed into buckets, but the "
    t_env.execute_sql(f"CREATE TABLE t (i INT) DISTRIBUTED BY (i) INTO 2 BUCKETS {options}")
    refused(t_env, "INSERT INTO t VALUES (1)", message + "underlying DynamicTableSink")
    refused(t_env, f"CREATE TABLE c DISTRIBUTED BY (i) {options} AS SELECT 1 AS i", message)
