"""The settings of a JDBC sink."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JdbcConnection:
    """The connection to a database.

    Args:
        url: ``jdbc:<kind of database>://<host>:<port>/<database>``.
        driver_name: the Java class of a driver. It has no effect: the URL chooses the driver.
        user_name: the name of the user.
        password: the password of the user.
    """

    url: str = field(repr=False)
    driver_name: str | None = None
    user_name: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class JdbcExecution:
    """The batches and retries of statements.

    Args:
        batch_size: the largest number of rows in a batch.
        batch_interval: the longest time until a row is written, in ms; 0 for no limit.
        max_retries: the number of retries after a transient failure.
    """

    batch_size: int = 5000
    batch_interval: int = 0
    max_retries: int = 3


@dataclass(frozen=True)
class JdbcSinkConfig:
    """The settings of a JDBC sink.

    Args:
        sql: the statement, with a question mark for each field of a row.
        row_type: the type of the rows, a RowTypeInfo.
        connection: how to connect to the database.
        execution: when the statement is executed.
    """

    sql: str
    row_type: Any
    connection: JdbcConnection
    execution: JdbcExecution
