"""The rows of one operator's keyed state: in a file, and in layers over the file."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

Change = tuple[int, bytes, bytes | None, bytes | None]
"""Namespace, encoded key, pickled key if the encoded key does not have it all, and pickled value.

None for the value: the row is removed.
"""

Row = tuple[bytes, bytes | None, bytes | None]
"""Encoded key, pickled key, and pickled value; None for the value of a row that was removed."""

_MOST_LAYERS = 4
_LAYERS_PART = 8  # of the page cache, for each layer
_SMALLEST_CACHE = 64
_KIB = 1024
_FIRST_DESCRIPTOR, _LAST_DESCRIPTOR = 3, 1 << 20
_SETTINGS = (
    "page_size = 4096",
    "journal_mode = off",
    "synchronous = off",
    "secure_delete = off",
)
_OF_CONNECTION = ("locking_mode = exclusive", "temp_store = memory")
_MAIN = "main"


class EntryDatabase:
    """Rows by namespace and encoded key. Their files have no names, and so go with the process.

    A copy of this process reads the rows through the connection that it inherits. This is sound
    because neither process changes what both read: while a copy lives, changes go to a *layer*. A
    layer is another file, whose rows hide those of the same keys below; a row without a value hides
    a row that was removed. When no copy lives, ``merge`` moves the rows of the layers down, some
    at a time. The connection holds its lock on the file from the start, and so locks nothing again.

    Args:
        folders: where the files are, in turn; empty for the system's folder for temporary files.
        number: of the operator or subtask, which chooses the folder.
        page_cache: how many bytes of pages stay in memory.
    """

    def __init__(self, folders: tuple[str, ...], number: int, page_cache: int) -> None:
        self._folder = folders[number % len(folders)] if folders else None
        self._page_cache = page_cache
        path = _new_file(self._folder)
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for setting in _OF_CONNECTION:
            self.connection.execute(f"PRAGMA {setting}")
        self._descriptors: dict[str, int] = {}
        self._layers: list[str] = []
        self._layers_made = 0
        self._copies: list[Callable[[], bool]] = []
        self._copies_have_top = False
        self._released: list[int] = []
        self._set_up(_MAIN, path)

    def find(self, space: int, name: bytes) -> bytes | None:
        """Return the value of a row."""
        for query in self._queries:
            row = self.connection.execute(query, (space, name)).fetchone()
            if row is not None:
                return row[0]  # type: ignore[no-any-return]
        return None

    def page(self, space: int, after: bytes, count: int) -> list[Row]:
        """Return the next rows of a namespace, in the order of their encoded keys."""
        return self.connection.execute(self._page_query, (space, after, count)).fetchall()

    def release(self, space: int) -> None:
        """Remove a namespace's rows, soon; may be called by the garbage collector."""
        self._released.append(space)

    def write(self, changes: list[Change]) -> None:
        """Put and remove rows, at best in their order."""
        if self._copies_live():
            if changes:
                self._write_layer(changes)
        elif changes or self._released:
            self._write_down(changes)

    @property
    def layered(self) -> bool:
        """True if there are layers, or if the next change adds one."""
        return bool(self._layers) or self._copies_live()

    def load(self, puts: list[Change]) -> int:
        """Put rows while there are no layers; return how many of them were not there."""
        database, before = self.connection, self.connection.total_changes
        database.execute("BEGIN")
        database.executemany("INSERT OR IGNORE INTO main.entries VALUES (?, ?, ?, ?)", puts)
        added = database.total_changes - before
        if added < len(puts):
            database.executemany("REPLACE INTO main.entries VALUES (?, ?, ?, ?)", puts)
        database.execute("COMMIT")
        return added

    def close(self) -> None:
        """Close the database, which removes its files; copies of this process keep theirs."""
        self.connection.close()

    # -- copies of this process -----------------------------------------------------------------

    @property
    def descriptors(self) -> Iterable[int]:
        """The open files that a copy of this process needs."""
        return self._descriptors.values()

    def freeze(self, ended: Callable[[], bool]) -> bool:
        """Keep all rows for a copy of this process, which is to be made now.

        Args:
            ended: tells whether the copy has ended.

        Returns:
            False if copies hold so many layers already that this cannot be done.
        """
        if len(self._layers) >= _MOST_LAYERS:
            if self._copies_live():
                return False
            while self._layers:
                self.merge(None)
        self._copies.append(ended)
        self._copies_have_top = True
        return True

    def start_in_copy(self) -> None:
        """Open the layer of this process, which is the copy.

        Opening a file and reading takes every lock that SQLite has. If a thread of the original
        process held one of them when the copy was made, this call never returns, but no later call
        waits.
        """
        self._add_layer()
        self.find(0, b"")

    @property
    def mergeable(self) -> bool:
        """True if there are layers, and no copy reads them."""
        return bool(self._layers) and not self._copies_live()

    def merge(self, count: int | None) -> None:
        """Move so many rows of the oldest layer down, or all; the layer goes with its last row."""
        layer, last, rows = self._layers[0], None, ""
        execute = self.connection.execute
        if count is not None:
            last = execute(
                f"SELECT space, name FROM {layer}.entries ORDER BY space, name LIMIT 1 OFFSET ?",
                (count,),
            ).fetchone()
            rows = "" if last is None else "AND (space, name) < (?, ?)"
        execute("BEGIN")
        execute(
            f"REPLACE INTO main.entries SELECT * FROM {layer}.entries "
            f"WHERE value IS NOT NULL {rows}",
            last or (),
        )
        execute(
            "DELETE FROM main.entries WHERE (space, name) IN "
            f"(SELECT space, name FROM {layer}.entries WHERE value IS NULL {rows})",
            last or (),
        )
        if last is not None:
            execute(f"DELETE FROM {layer}.entries WHERE (space, name) < (?, ?)", last)
        execute("COMMIT")
        if last is None:
            self._remove_layer(layer)

    def _copies_live(self) -> bool:
        if self._copies:
            self._copies = [ended for ended in self._copies if not ended()]
        return bool(self._copies)

    def _write_layer(self, changes: list[Change]) -> None:
        if self._copies_have_top:
            self._add_layer()
        database = self.connection
        database.execute("BEGIN")
        database.executemany(
            f"REPLACE INTO {self._layers[-1]}.entries VALUES (?, ?, ?, ?)", changes
        )
        database.execute("COMMIT")

    def _write_down(self, changes: list[Change]) -> None:
        database = self.connection
        released, self._released = self._released, []
        puts = [change for change in changes if change[3] is not None]
        removals = [change[:2] for change in changes if change[3] is None]
        database.execute("BEGIN")
        for schema in (_MAIN, *self._layers):
            delete = f"DELETE FROM {schema}.entries WHERE space = ?"
            gone = removals if schema == _MAIN else [change[:2] for change in changes]
            database.executemany(delete, ((space,) for space in released))
            database.executemany(f"{delete} AND name = ?", gone)
        database.executemany("REPLACE INTO main.entries VALUES (?, ?, ?, ?)", puts)
        database.execute("COMMIT")

    # -- files ----------------------------------------------------------------------------------

    def _add_layer(self) -> None:
        path = _new_file(self._folder)
        self._layers_made += 1
        layer = f"layer{self._layers_made}"
        self.connection.execute(f"ATTACH ? AS {layer}", (path,))
        self._layers.append(layer)
        self._copies_have_top = False
        self._set_up(layer, path)

    def _remove_layer(self, layer: str) -> None:
        self._layers.remove(layer)
        del self._descriptors[layer]
        self._prepare_queries()
        self.connection.execute(f"DETACH {layer}")

    def _set_up(self, schema: str, path: str) -> None:
        """Make a schema's table; its file loses its name."""
        for setting in _SETTINGS:
            self.connection.execute(f"PRAGMA {schema}.{setting}")
        self.connection.execute(
            f"CREATE TABLE {schema}.entries (space INTEGER, name BLOB, original BLOB, value BLOB, "
            "PRIMARY KEY (space, name)) WITHOUT ROWID"
        )
        self._descriptors[schema] = _descriptor_of(path)
        os.unlink(path)
        self._prepare_queries()

    def _prepare_queries(self) -> None:
        """Choose what reads all layers, and how much memory each has."""
        schemas = [*reversed(self._layers), _MAIN]
        self._queries = [
            f"SELECT value FROM {schema}.entries WHERE space = ? AND name = ?" for schema in schemas
        ]
        parts = [_visible(schema, schemas[:above]) for above, schema in enumerate(schemas)]
        self._page_query = f"{' UNION ALL '.join(parts)} ORDER BY name LIMIT ?3"
        share = self._page_cache // _LAYERS_PART
        for schema in schemas:
            pages = share if schema != _MAIN else self._page_cache - share * len(self._layers)
            size = max(_SMALLEST_CACHE, pages // _KIB)
            self.connection.execute(f"PRAGMA {schema}.cache_size = -{size}")


def _visible(schema: str, above: list[str]) -> str:
    """Return the query for the rows of a schema that no layer above hides."""
    hidden = "".join(
        f" AND NOT EXISTS (SELECT 1 FROM {layer}.entries AS above "
        "WHERE above.space = ?1 AND above.name = entries.name)"
        for layer in above
    )
    return (
        f"SELECT name, original, value FROM {schema}.entries AS entries "
        f"WHERE space = ?1 AND name > ?2{hidden}"
    )


def _new_file(folder: str | None) -> str:
    try:
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        descriptor, path = tempfile.mkstemp(prefix="state-", suffix=".db", dir=folder)
    except OSError as error:
        where = folder or "the folder of temporary files, which TMPDIR names"
        raise OSError(f"cannot keep state in {where}: {error}") from None
    os.close(descriptor)
    return path


def _descriptor_of(path: str) -> int:
    """Return the number by which this process has a file open."""
    wanted = os.stat(path)
    for number in range(_FIRST_DESCRIPTOR, _LAST_DESCRIPTOR):
        try:
            if os.path.samestat(os.fstat(number), wanted):
                return number
        except OSError:
            continue
    raise OSError(f"{path} is not open")
