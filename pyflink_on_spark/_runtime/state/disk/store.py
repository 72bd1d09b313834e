"""The database of one operator's keyed state, and what decides which entries stay in memory."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import ref

from pyflink_on_spark._runtime.state.disk.keys import decode_key, encode_key
from pyflink_on_spark._runtime.state.disk.settings import DiskSettings

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.disk.namespace import DiskNamespace
    from pyflink_on_spark._runtime.state.disk.table import DiskTable

Write = tuple[int, bytes, bytes | None, bytes]
_SMALLEST_GENERATION = 128
_FIRST_GENERATION = 250
_FIRST_SIZE = 100
_PER_ENTRY = 400
_PER_BYTE = 3
_PAGE = 2_000
_DATABASES_PART = 4
_KIB = 1024
_SETTINGS = (
    "page_size = 4096",
    "journal_mode = off",
    "synchronous = off",
    "locking_mode = exclusive",
    "temp_store = memory",
)


class DiskStore:
    """Entries by namespace and key in a database; nothing of it outlives its process.

    Recent entries are in memory, in two generations. When the young one has as many entries as it
    may have, the old one is written back in one go (as far as it has changed) and forgotten, and
    the young one becomes the old one. An object that was changed in place is found to be different
    then, so that it makes no difference whether state is in memory or on disk.

    Args:
        settings: memory and disk.
        number: of the operator or subtask, which chooses the folder.
    """

    def __init__(self, settings: DiskSettings | None = None, number: int = 0) -> None:
        settings = settings or DiskSettings()
        pages = settings.page_cache
        if pages is None:
            pages = settings.memory // _DATABASES_PART
        self._budget = max(0, settings.memory - pages)
        self._database = _open(settings.folders, number, pages)
        self.capacity = _FIRST_GENERATION
        self._adjust(_FIRST_SIZE)
        self._room = self.capacity
        self._young: list[ref[DiskNamespace]] = []
        self._old: list[ref[DiskNamespace]] = []
        self._next = 0
        self._released: list[int] = []

    def table(self, kind: str, track: bool) -> DiskTable:
        """Return a new table of a state."""
        from pyflink_on_spark._runtime.state.disk.table import DiskTable

        return DiskTable(kind, track, self)

    def new_number(self) -> int:
        """Return the number of a new namespace."""
        self._next += 1
        return self._next

    def find(self, number: int, key: Any) -> bytes | None:
        """Return an entry as it is in the database."""
        row = self._database.execute(
            "SELECT value FROM entries WHERE space = ? AND name = ?", (number, encode_key(key)[0])
        ).fetchone()
        return None if row is None else row[0]

    def rows(self, number: int) -> Iterator[list[tuple[Any, bytes]]]:
        """Yield the entries of a namespace as they are in the database, some at a time."""
        last = b""
        while True:
            found = self._database.execute(
                "SELECT name, original, value FROM entries WHERE space = ? AND name > ? "
                "ORDER BY name LIMIT ?",
                (number, last, _PAGE),
            ).fetchall()
            if found:
                yield [(decode_key(name, original), value) for name, original, value in found]
            if len(found) < _PAGE:
                return
            last = found[-1][0]

    def make_room(self) -> None:
        """Make room for one more young entry."""
        if self._room <= 0:
            self._age()
        self._room -= 1

    def grows(self, namespace: DiskNamespace) -> None:
        """Note that a namespace is about to have its first young entry."""
        self._young.append(ref(namespace))

    def release(self, number: int) -> None:
        """Remove a namespace's entries, soon; may be called by the garbage collector."""
        self._released.append(number)

    @property
    def cached(self) -> int:
        """How many entries are in memory."""
        return sum(namespace.cached for namespace in self._alive())

    def close(self) -> None:
        """Close the database, which removes its file."""
        self._database.close()

    def _alive(self) -> list[DiskNamespace]:
        found = {reference() for reference in (*self._young, *self._old)}
        return [namespace for namespace in found if namespace is not None]

    def _age(self) -> None:
        old = [namespace for reference in self._old if (namespace := reference()) is not None]
        self._write(old)
        for namespace in old:
            namespace.forget_old()
        for reference in self._young:
            if (namespace := reference()) is not None:
                namespace.grow_old()
        self._old, self._young = self._young, []
        self._room = self.capacity

    def _write(self, namespaces: list[DiskNamespace]) -> None:
        puts: list[Write] = []
        removals: list[tuple[int, bytes]] = []
        for namespace in namespaces:
            for key, content in namespace.old_contents():
                if content is None:
                    removals.append((namespace.number, encode_key(key)[0]))
                else:
                    puts.append((namespace.number, *encode_key(key), content))
        if puts:
            self._adjust(sum(len(put[3]) for put in puts) / len(puts))
        self._run(puts, removals)

    def _adjust(self, average: float) -> None:
        wanted = int(self._budget / (2 * (_PER_ENTRY + _PER_BYTE * average)))
        self.capacity = max(_SMALLEST_GENERATION, min(wanted, 4 * self.capacity))

    def _run(self, puts: list[Write], removals: list[tuple[int, bytes]]) -> None:
        if not (puts or removals or self._released):
            return
        database = self._database
        released, self._released = self._released, []
        puts.sort()
        database.execute("BEGIN")
        database.executemany("DELETE FROM entries WHERE space = ?", ((n,) for n in released))
        database.executemany("DELETE FROM entries WHERE space = ? AND name = ?", removals)
        database.executemany("REPLACE INTO entries VALUES (?, ?, ?, ?)", puts)
        database.execute("COMMIT")


def _open(folders: tuple[str, ...], number: int, page_cache: int) -> sqlite3.Connection:
    """Make a database in a file that has no name any more, so that it goes with its process."""
    folder = folders[number % len(folders)] if folders else None
    try:
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        descriptor, path = tempfile.mkstemp(prefix="state-", suffix=".db", dir=folder)
    except OSError as error:
        raise OSError(f"cannot keep state in {folder or tempfile.gettempdir()}: {error}") from None
    os.close(descriptor)
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for setting in (*_SETTINGS, f"cache_size = -{max(64, page_cache // _KIB)}"):
        database.execute(f"PRAGMA {setting}")
    database.execute(
        "CREATE TABLE entries (space INTEGER, name BLOB, original BLOB, value BLOB, "
        "PRIMARY KEY (space, name)) WITHOUT ROWID"
    )
    os.unlink(path)
    return database
