"""Catalogs of a real PostgreSQL and a real MariaDB."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pyflink_on_spark.errors import PyFlinkOnSparkError, UnsupportedFlinkFeature
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.table.catalog import JdbcCatalog, ObjectPath
from tests.connectors.servers import free_port


@pytest.fixture
def t_env(local_engine):
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("parallelism.default", "1")
    return made


def rows(t_env, text):
    with t_env.execute_sql(text).collect() as found:
        return sorted(tuple(row) for row in found)


def create(t_env, url, database, user):
    base = url.rpartition("/")[0]
    t_env.execute_sql(
        f"CREATE CATALOG db WITH ('type' = 'jdbc', 'base-url' = '{base}', 'username' = '{user}', "
        f"'password' = '', 'default-database' = '{database}')"
    )


@pytest.fixture
def postgresql(t_env, server, database):
    database.execute(
        "CREATE TABLE goods (id int PRIMARY KEY, name varchar(20), price numeric(6, 2), d date, "
        "at_ timestamp(3), small smallint NOT NULL, big bigint, f real, g double precision, "
        "ok boolean, t text, c char(3), raw bytea, anything numeric)"
    )
    database.execute(
        "INSERT INTO goods VALUES (1, 'pear', 1.50, '2024-02-29', '2024-02-29 01:02:03.456', 2, 3, "
        "0.5, 0.25, TRUE, 'long', 'abc', '\\x01', 7)"
    )
    database.execute("INSERT INTO goods (id, small) VALUES (2, 0)")
    database.execute("CREATE SCHEMA IF NOT EXISTS other")
    database.execute("CREATE TABLE IF NOT EXISTS other.pairs (a int, b int, PRIMARY KEY (b, a))")
    database.execute("TRUNCATE other.pairs")
    database.execute("CREATE TABLE odd (id int, place point)")
    name = server.url.rpartition("/")[2]
    create(t_env, server.url, name, "owner")
    return name


def test_the_tables_of_postgresql(t_env, postgresql):
    t_env.use_catalog("db")
    assert t_env.get_current_database() == postgresql
    assert postgresql in t_env.list_databases()
    assert t_env.list_tables() == ["other.pairs", "public.goods", "public.odd"]
    assert rows(t_env, "SHOW TABLES LIKE '%odd'") == [("public.odd",)]
    assert rows(t_env, "SHOW VIEWS") == t_env.list_views() == []
    described = {row[0]: row[1:4] for row in rows(t_env, "DESCRIBE goods")}
    assert described["id"] == ("INT", False, "PRI(id)")
    assert {name: kind for name, (kind, _, _) in described.items()} == {
        "id": "INT", "name": "VARCHAR(20)", "price": "DECIMAL(6, 2)", "d": "DATE",
        "at_": "TIMESTAMP(3)", "small": "SMALLINT", "big": "BIGINT", "f": "FLOAT",
        "g": "DOUBLE", "ok": "BOOLEAN", "t": "STRING", "c": "CHAR(3)", "raw": "BYTES",
        "anything": "DECIMAL(38, 18)",
    }  # fmt: skip
    (first, second) = rows(t_env, "SELECT * FROM goods")
    assert first == (
        1, "pear", Decimal("1.50"), datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 456000), 2, 3, 0.5, 0.25, True, "long", "abc",
        b"\x01", Decimal("7.000000000000000000"),
    )  # fmt: skip
    assert second == (2, None, None, None, None, 0, *[None] * 8)


def test_a_table_of_postgresql_is_written_by_its_key(t_env, postgresql):
    name = f"db.`{postgresql}`"
    t_env.execute_sql(f"INSERT INTO {name}.`other.pairs` VALUES (1, 1), (1, 1), (2, 1)").wait()
    assert rows(t_env, f"SELECT a, b FROM {name}.`other.pairs`") == [(1, 1), (2, 1)]
    joined = f"SELECT p.a, g.name FROM {name}.`other.pairs` p JOIN {name}.goods g ON p.a = g.id"
    assert rows(t_env, joined) == [(1, "pear"), (2, None)]


def test_what_postgresql_s_catalog_does_not_have(t_env, postgresql):
    t_env.use_catalog("db")
    with pytest.raises(UnsupportedFlinkFeature, match="the PostgreSQL type point of column place"):
        t_env.execute_sql("SELECT * FROM odd")
    with pytest.raises(PyFlinkOnSparkError, match="godds"):
        t_env.execute_sql("SELECT * FROM godds")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE new_ (a INT) WITH ('connector' = 'print')",
        "CREATE DATABASE new_",
        "CREATE VIEW v AS SELECT 1",
        "CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON",
        "DROP TABLE goods",
        "ALTER TABLE goods RENAME TO other",
        "ALTER TABLE goods ADD x INT",
    ],
)
def test_a_server_is_not_changed(t_env, postgresql, database, statement):
    t_env.use_catalog("db")
    with pytest.raises(UnsupportedFlinkFeature, match="a catalog of type 'jdbc' cannot be changed"):
        t_env.execute_sql(statement)
    assert database.execute("SELECT count(*) FROM goods").fetchone() == (2,)
    t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT id FROM goods")
    assert rows(t_env, "SELECT * FROM v") == [(1,), (2,)]
    assert t_env.list_views() == ["v"]


@pytest.fixture
def mariadb(t_env, mysql_server, mysql):
    mysql(
        "CREATE TABLE goods (id INT UNSIGNED PRIMARY KEY, name VARCHAR(20), price DECIMAL(6, 2), "
        "d DATE, at_ DATETIME(3), tiny TINYINT, flag TINYINT(1), small SMALLINT UNSIGNED, "
        "big BIGINT UNSIGNED, f FLOAT, g DOUBLE, t TEXT, c CHAR(3), raw BLOB, tm TIME)"
    )
    mysql(
        "INSERT INTO goods VALUES (1, 'pear', 1.50, '2024-02-29', '2024-02-29 01:02:03.456', -1, "
        "1, 65535, 18446744073709551615, 0.5, 0.25, 'long', 'abc', x'01', '07:05:09')"
    )
    create(t_env, mysql_server.url, "test", "root")


def test_the_tables_of_mariadb(t_env, mariadb):
    t_env.use_catalog("db")
    assert t_env.list_databases() == ["test"]
    assert t_env.list_tables() == ["goods"]
    described = {row[0]: row[1] for row in rows(t_env, "DESCRIBE goods")}
    assert described == {
        "id": "BIGINT", "name": "VARCHAR(20)", "price": "DECIMAL(6, 2)", "d": "DATE",
        "at_": "TIMESTAMP(3)", "tiny": "TINYINT", "flag": "BOOLEAN", "small": "INT",
        "big": "DECIMAL(20, 0)", "f": "FLOAT", "g": "DOUBLE", "t": "STRING", "c": "CHAR(3)",
        "raw": "BYTES", "tm": "TIME(0)",
    }  # fmt: skip
    assert rows(t_env, "SELECT * FROM goods") == [
        (1, "pear", Decimal("1.50"), datetime.date(2024, 2, 29),
         datetime.datetime(2024, 2, 29, 1, 2, 3, 456000), -1, True, 65535, Decimal(2**64 - 1), 0.5,
         0.25, "long", "abc", b"\x01", datetime.time(7, 5, 9)),
    ]  # fmt: skip
    t_env.execute_sql("INSERT INTO goods (id, name) VALUES (1, 'plum'), (2, 'fig')").wait()
    assert rows(t_env, "SELECT id, name FROM db.test.goods") == [(1, "plum"), (2, "fig")]


def test_a_time_that_is_none_of_a_day(t_env, mariadb, mysql):
    mysql("UPDATE goods SET tm = '25:00:00'")
    with pytest.raises(PyFlinkOnSparkError, match="is no time of a day"):
        rows(t_env, "SELECT tm FROM db.test.goods")


def test_the_catalog_as_an_object(t_env, mariadb, mysql_server):
    base = mysql_server.url.rpartition("/")[0]
    catalog = JdbcCatalog("shop", "test", "root", "", base)
    assert catalog.list_tables("test") == ["goods"]
    assert catalog.table_exists(ObjectPath("test", "goods"))
    assert not catalog.database_exists("mysql")
    t_env.register_catalog("shop", catalog)
    t_env.use_catalog("shop")
    assert rows(t_env, "SELECT id FROM goods") == [(1,)]


def test_a_server_that_is_not_there(t_env):
    with pytest.raises(PyFlinkOnSparkError, match="cannot connect to jdbc:postgresql:"):
        create(t_env, f"jdbc:postgresql://127.0.0.1:{free_port()}/x", "x", "owner")
    assert t_env.list_catalogs() == ["default_catalog"]


def test_a_database_that_is_not_there(t_env, mysql_server, mysql):
    with pytest.raises(PyFlinkOnSparkError, match="'db'"):
        create(t_env, mysql_server.url, "none", "root")


ALL = "'type' = 'jdbc', 'password' = 'hush', 'username' = 'u', 'default-database' = 'd'"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("'type' = 'jdbc', 'base-url' = 'x', 'password' = 'hush'",
         "Missing required options are:\n\ndefault-database\nusername"),
        ("'type' = 'jdbc', 'a' = 'b'", "Unsupported options found for 'jdbc':\n\na"),
        (f"{ALL}, 'base-url' = 'x'",
         "its base-url begins with jdbc:postgresql: or jdbc:mysql:"),
        ("'type' = 'paimon'", "Give Spark the catalog (--conf spark.sql.catalog.NAME"),
    ],
)  # fmt: skip
def test_options_of_catalogs(t_env, options, told):
    with pytest.raises(PyFlinkOnSparkError) as refused:
        t_env.execute_sql(f"CREATE CATALOG c WITH ({options})")
    assert told in str(refused.value)
    assert "hush" not in str(refused.value)
