"""Which database a URL means, and how it is reached."""

from __future__ import annotations

import sqlite3
import sys

import pytest

from pyflink_on_spark._connectors.jdbc.client import JdbcConnection
from pyflink_on_spark._connectors.jdbc.databases import Tls, find_database


def found(url, **options):
    return find_database(JdbcConnection(url, **options))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("//db:5433/shop", {"host": "db", "port": "5433", "dbname": "shop"}),
        ("//db/shop", {"host": "db", "port": "5432", "dbname": "shop"}),
        ("//db:1/", {"host": "db", "port": "1"}),
        ("//[::1]:1/s", {"host": "::1", "port": "1", "dbname": "s"}),
        ("//a:1,b/s", {"host": "a,b", "port": "1,5432", "dbname": "s"}),
        ("shop", {"host": "localhost", "port": "5432", "dbname": "shop"}),
        ("/", {"host": "localhost", "port": "5432"}),
        ("//db/a%20b", {"host": "db", "port": "5432", "dbname": "a b"}),
    ],
)
def test_postgresql(url, expected):
    assert found(f"jdbc:postgresql:{url}")._settings == expected


def test_postgresql_parameters():
    url = "jdbc:postgresql://db/s?user=me&password=a%26b&ApplicationName=x&connectTimeout=3"
    settings = found(f"{url}&currentSchema=one&tcpKeepAlive=true&reWriteBatchedInserts=true")
    expected = {
        "host": "db",
        "port": "5432",
        "dbname": "s",
        "user": "me",
        "password": "a&b",
        "application_name": "x",
        "connect_timeout": "3",
        "options": "-c search_path=one",
        "keepalives": "1",
    }
    assert settings._settings == expected
    options = found(url, user_name="you", password="other")._settings
    assert (options["user"], options["password"]) == ("you", "other")
    assert found("jdbc:postgresql:s?ssl=true")._settings["sslmode"] == "verify-full"
    assert found("jdbc:postgresql:s?sslmode=require")._settings["sslmode"] == "require"
    standby = found("jdbc:postgresql:s?targetServerType=preferSecondary")._settings
    assert standby["target_session_attrs"] == "prefer-standby"


def test_mysql():
    url = "jdbc:mysql://db:3307/shop?user=me&password=pw&connectTimeout=1500&serverTimezone=UTC"
    database = found(url + "&socketTimeout=0")
    assert database._settings == {
        "host": "db",
        "port": 3307,
        "database": "shop",
        "charset": "utf8mb4",
        "user": "me",
        "password": "pw",
        "connect_timeout": 2,
    }
    assert found("jdbc:mariadb://db/")._settings["database"] is None
    assert database.place == "jdbc:mysql://db:3307/shop"


@pytest.mark.parametrize(
    ("query", "tls"),
    [
        ("", Tls.AS_OFFERED),
        ("sslMode=PREFERRED", Tls.AS_OFFERED),
        ("useSSL=false", Tls.NEVER),
        ("sslMode=DISABLED", Tls.NEVER),
        ("useSSL=true", Tls.ALWAYS),
        ("useSSL=true&verifyServerCertificate=true", Tls.VERIFIED_BY_NAME),
        ("sslMode=REQUIRED", Tls.ALWAYS),
        ("sslMode=VERIFY_CA", Tls.VERIFIED),
        ("sslMode=verify-full", Tls.VERIFIED_BY_NAME),
    ],
)
def test_mysql_encryption(query, tls):
    assert found(f"jdbc:mysql://db/s?{query}")._tls is tls


def test_sqlite(tmp_path):
    database = found(f"jdbc:sqlite:{tmp_path}/new.db")
    assert database.driver() is sqlite3
    database.connect().close()
    assert (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:oracle:thin:@//db:1/s",
        "postgresql://db/s",
        "jdbc:postgresql://db:port/s",
        "jdbc:mysql:shop",
        "jdbc:mysql://me:secret@db/s",
        "jdbc:sqlite:",
        "jdbc:sqlite:file?password=secret",
        "jdbc:postgresql://db/s?unknown=1&password=secret",
        "jdbc:mysql://db/s?unknown=1&password=secret",
        "jdbc:postgresql://db/s?targetServerType=any2&password=secret",
    ],
)
def test_urls_that_cannot_be_read(url):
    with pytest.raises(ValueError, match=r"URL|hosts|targetServerType") as caught:
        found(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("kind", "module"), [("postgresql", "psycopg"), ("mysql", "pymysql")])
def test_a_missing_driver_is_named(monkeypatch, kind, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pyflink_on_spark\[jdbc\]'"):
        found(f"jdbc:{kind}://db/s").connect()
