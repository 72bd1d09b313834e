"""The SQL that tables of databases are read and written with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """How a database writes names, and how it replaces rows.

    Args:
        quote: what stands around a name.
        replaces_on_duplicate_key: whether it has ``ON DUPLICATE KEY UPDATE``, as MySQL.
    """

    quote: str
    replaces_on_duplicate_key: bool = False

    def name(self, text: str) -> str:
        """Return a name in quotes."""
        return f"{self.quote}{text.replace(self.quote, self.quote * 2)}{self.quote}"

    def table(self, text: str) -> str:
        """Return a table's name, perhaps with its schema before it, in quotes."""
        return ".".join(map(self.name, text.split(".")))

    def select(self, table: str, columns: Sequence[str], between: str | None) -> str:
        """Return what reads a table.

        Args:
            table: its name.
            columns: what is read.
            between: the column that two parameters are the bounds of, or None.
        """
        listed = ", ".join(map(self.name, columns)) or "1"
        sql = f"SELECT {listed} FROM {self.table(table)}"
        return sql if between is None else f"{sql} WHERE {self.name(between)} BETWEEN ? AND ?"

    def select_by(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return what reads the rows in which some columns have the values of parameters."""
        condition = " AND ".join(f"{self.name(column)} = ?" for column in key)
        return f"{self.select(table, columns, None)} WHERE {condition}"

    def insert(self, table: str, columns: Sequence[str]) -> str:
        """Return what adds a row."""
        listed = ", ".join(map(self.name, columns))
        marks = ", ".join("?" * len(columns))
        return f"INSERT INTO {self.table(table)} ({listed}) VALUES ({marks})"

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return what adds a row, or replaces the one with its key."""
        added = self.insert(table, columns)
        others = [self.name(column) for column in columns if column not in key]
        if self.replaces_on_duplicate_key:
            changed = others or [self.name(key[0])]
            listed = ", ".join(f"{column} = VALUES({column})" for column in changed)
            return f"{added} ON DUPLICATE KEY UPDATE {listed}"
        listed = ", ".join(f"{column} = EXCLUDED.{column}" for column in others)
        action = f"UPDATE SET {listed}" if others else "NOTHING"
        return f"{added} ON CONFLICT ({', '.join(map(self.name, key))}) DO {action}"

    def delete(self, table: str, key: Sequence[str]) -> str:
        """Return what removes the row with a key."""
        condition = " AND ".join(f"{self.name(column)} = ?" for column in key)
        return f"DELETE FROM {self.table(table)} WHERE {condition}"


_MYSQL = Dialect("`", replaces_on_duplicate_key=True)
_SQLITE = Dialect("`")
_STANDARD = Dialect('"')


def dialect_of(url: str) -> Dialect:
    """Return the dialect of the database that a URL names."""
    kind = url.removeprefix("jdbc:").partition(":")[0]
    # SQLite takes what is in double quotes for a text, if there is no such column.
    return {"mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE}.get(kind, _STANDARD)
