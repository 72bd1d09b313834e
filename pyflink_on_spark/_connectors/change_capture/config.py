"""The settings of a captured table, and the places in its changes."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Element = tuple[int, tuple[Any, ...], int]
"""A change: its kind, the values as the database gives them, and its time in ms."""

INSERTED, BEFORE, AFTER, DELETED = range(4)
"""The kinds of changes, numbered as those of tables."""


class Kind(enum.Enum):
    """The databases whose changes can be read."""

    MYSQL = "mysql"
    POSTGRESQL = "postgresql"


class CaptureError(RuntimeError):
    """The database refuses to say its changes, or says them incompletely."""


@dataclass(frozen=True)
class CaptureConfig:
    """A captured table.

    Args:
        kind: of the database.
        host: of the server.
        port: of the server.
        user: the name of the user.
        password: the password of the user.
        database: the table's.
        schema: the table's; empty for MySQL.
        table: its name.
        columns: what is read, in this order.
        snapshot: whether the rows that are there come before the changes.
        slot: the name of PostgreSQL's replication slot; empty for MySQL.
        server_id: of the replica that MySQL takes the reader for; 0 for any.
    """

    kind: Kind
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database: str
    schema: str
    table: str
    columns: tuple[str, ...]
    snapshot: bool = True
    slot: str = ""
    server_id: int = 0

    @property
    def place(self) -> str:
        """The table, for messages."""
        names = (self.database, self.schema, self.table)
        return f"the table {'.'.join(filter(None, names))} of {self.host}:{self.port}"


@dataclass(frozen=True)
class Position:
    """The place of the next element.

    Args:
        log: the place of a transaction in the log of changes, as the database has it.
        skip: how many elements of the transactions from there on were read.
        rows: the rows of the snapshot that were not read, before all changes.
    """

    log: Any
    skip: int = 0
    rows: tuple[Element, ...] = ()


class CaptureClient(Protocol):
    """A connection to a database that can say its changes."""

    def start(self) -> tuple[Any, Iterator[Sequence[Element]]]:
        """Return the place of the first change, and the rows before it, some thousand at a time."""
        ...

    def changes(self, position: Position) -> Iterator[tuple[Element | None, Position]]:
        """Yield the changes from a position on, each with the position after it.

        It ends where there are no more at the moment; None stands for no change.
        """
        ...

    def release(self, log: Any) -> None:
        """Let the database forget the changes before a place."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
