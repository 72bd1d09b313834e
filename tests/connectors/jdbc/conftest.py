"""What the tests of the JDBC sink may use."""

from __future__ import annotations

import pytest

from tests.connectors.jdbc.postgresql_server import postgresql


@pytest.fixture(scope="session")
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
