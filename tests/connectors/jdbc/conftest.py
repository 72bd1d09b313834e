"""Fixtures for the tests of the JDBC sink."""

from __future__ import annotations

import pytest

from tests.connectors.jdbc.mariadb_server import mariadb
from tests.connectors.jdbc.postgresql_server import postgresql


@pytest.fixture(scope="package")
def server():
    with postgresql() as running:
        yield running


@pytest.fixture
def database(server):
    """A connection to a PostgreSQL that is empty."""
    with server.connect() as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        yield connection


@pytest.fixture(scope="package")
def mysql_server():
    with mariadb() as running:
        yield running


@pytest.fixture
def mysql(mysql_server):
    """A function that executes statements in an empty database of MariaDB."""
    with mysql_server.connect() as connection:

        def run(sql):
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall())

        run("DROP DATABASE IF EXISTS test")
        run("CREATE DATABASE test CHARACTER SET utf8mb4")
        run("USE test")
        yield run
