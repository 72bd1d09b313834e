"""What a JDBC sink can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JdbcConnection:
    """How a database is reached.

    Args:
        url: ``jdbc:<kind of database>://<host>:<port>/<database>``.
        driver_name: the Java class of a driver; the URL alone chooses the driver here.
        user_name: who connects.
        password: with what.
    """

    url: str = field(repr=False)
    driver_name: str | None = None
    user_name: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class JdbcExecution:
    """How a statement is executed.

    Args:
        batch_size: for how many rows at most at a time.
        batch_interval: after how many ms at the latest; 0: whenever the batch is full.
        max_retries: how often again when it fails.
    """

    batch_size: int = 5000
    batch_interval: int = 0
    max_retries: int = 3


@dataclass(frozen=True)
class JdbcStatement:
    """What a JDBC sink was told.

    Args:
        sql: the statement, with a question mark for each field of a row.
        row_type: the rows, a RowTypeInfo.
        connection: where it is executed.
        execution: how it is executed.
    """

    sql: str
    row_type: Any
    connection: JdbcConnection
    execution: JdbcExecution
