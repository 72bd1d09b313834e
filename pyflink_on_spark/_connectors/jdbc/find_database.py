"""Finds the kind of database that a JDBC URL names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.jdbc.database import Database, without_secrets
from pyflink_on_spark._connectors.jdbc.mysql import MySql
from pyflink_on_spark._connectors.jdbc.postgresql import PostgreSql
from pyflink_on_spark._connectors.jdbc.sqlite import Sqlite

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.jdbc.config import JdbcConnection

_KINDS: dict[str, type[Database]] = {
    "postgresql": PostgreSql,
    "mysql": MySql,
    "mariadb": MySql,
    "sqlite": Sqlite,
}


def find_database(connection: JdbcConnection) -> Database:
    """Return the database of a URL.

    Raises:
        ValueError: there is no driver for the URL, or the URL is malformed.
    """
    jdbc, _, rest = connection.url.partition(":")
    kind = _KINDS.get(rest.partition(":")[0])
    if jdbc != "jdbc" or kind is None:
        known = ", ".join(f"jdbc:{name}:" for name in _KINDS)
        raise ValueError(
            f"there is no driver for {without_secrets(connection.url)}: JDBC URLs begin with one "
            f"of {known}"
        )
    return kind(connection)
