"""The database of one operator's keyed state, and what decides which entries stay in memory."""

from __future__ import annotations

import os
import pickle
import sqlite3
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import ref

from pyflink_on_spark._options.own import REFUSE
from pyflink_on_spark._runtime.elements.immutability import Key, deserialize, serialize
from pyflink_on_spark._runtime.state.keyed_state import Place, StateTable

_SMALLEST_GENERATION = 128
_FIRST_GENERATION = 250
_FIRST_SIZE = 100
_PER_ENTRY = 400
_PER_BYTE = 3
_PAGE = 2_000
_DATABASES_PART = 4
_SLICE = 500
_MANY_SLICES = 8
_WRITING_PART = 0.75
_MERGED_PER_SLICE = 2 * _SLICE
_UNKNOWN = object()
_MANY = 200
_ORDERED_TYPES = {str, bytes, int}
_PART = 2_000


class DiskStore:
    """Entries by namespace and key in a database; nothing of it outlives its process.

    Recent entries are in memory, in two generations. While the young one fills, the old one is
    written back as far as it has changed: in slices, so that no pause is long, and not at once, so
    that a function may change an object for a while that it has received from a state. When the
    young one has as many entries as it may have, the old one is forgotten, and the young one
    becomes the old one.

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
        self._database = EntryDatabase(settings.folders, number, pages)
        self.capacity = _FIRST_GENERATION
        self._written_rows, self._written_bytes = 1, _FIRST_SIZE
        self._adjust()
        self._room = self.capacity
        self._room_later = 0
        self._unwritten: Iterator[Change | None] = iter(())
        self._rows_per_slice = 0
        self._young: list[ref[DiskNamespace]] = []
        self._old: list[ref[DiskNamespace]] = []
        self._next = 0

    def table(self, kind: str, track: bool) -> DiskTable:
        """Return a new table of a state."""
        return DiskTable(kind, track, self)

    def new_number(self) -> int:
        """Return the number of a new namespace."""
        self._next += 1
        return self._next

    def find(self, number: int, key: object) -> bytes | None:
        """Return an entry as it is in the database."""
        return self._database.find(number, encode_key(key)[0])

    def rows(self, number: int) -> Iterator[list[tuple[object, bytes]]]:
        """Yield the entries of a namespace as they are in the database, some at a time."""
        last = b""
        while True:
            found = self._database.page(number, last, _PAGE)
            if found:
                yield [
                    (decode_key(name, original), value)
                    for name, original, value in found
                    if value is not None
                ]
            if len(found) < _PAGE:
                return
            last = found[-1][0]

    def load(self, changes: Iterable[Change]) -> int | None:
        """Put rows straight into the database, unless a copy of this process may read it.

        Returns:
            How many were not there; None if nothing is done.
        """
        return None if self._database.layered else self._database.load(sorted(changes))

    def make_room(self) -> None:
        """Make room for one more young entry."""
        if self._room <= 0:
            self._find_room()
        self._room -= 1

    def grows(self, namespace: DiskNamespace) -> None:
        """Note that a namespace is about to have its first young entry."""
        self._young.append(ref(namespace))

    def release(self, number: int) -> None:
        """Remove a namespace's entries, soon; may be called by the garbage collector."""
        self._database.release(number)

    @property
    def cached(self) -> int:
        """The number of entries in memory."""
        return sum(namespace.cached for namespace in {*_alive(self._young), *_alive(self._old)})

    def close(self) -> None:
        """Close the database, which removes its files."""
        self._database.close()

    # -- copies of this process -----------------------------------------------------------------

    @property
    def descriptors(self) -> Iterable[int]:
        """The open files that a copy of this process needs."""
        return self._database.descriptors

    def freeze(self, ended: Callable[[], bool]) -> bool:
        """Keep all entries on disk for a copy of this process until the copy has ended.

        Returns:
            False if too many copies live already.
        """
        return self._database.freeze(ended)

    def start_in_copy(self) -> None:
        """Make the entries readable in this process, which is the copy."""
        self._database.start_in_copy()

    # -- generations ----------------------------------------------------------------------------

    def _find_room(self) -> None:
        """Make room: for a generation, or for a slice of it if something is to be written."""
        if self._room_later <= 0:
            self._age()
            self._room_later = self.capacity
        elif self._room_later <= self.capacity * _WRITING_PART:
            self._write(islice(self._unwritten, self._rows_per_slice))
        self._room = self._room_later
        merges = self._database.mergeable
        if merges or self._rows_per_slice:
            self._room = min(_SLICE, self._room_later)
        self._room_later -= self._room
        if merges:
            self._database.merge(_MERGED_PER_SLICE)

    def _age(self) -> None:
        self._write(self._unwritten)
        self._adjust()
        for namespace in _alive(self._old):
            namespace.forget_old()
        for namespace in _alive(self._young):
            namespace.grow_old()
        self._old, self._young = self._young, []
        self._unwritten = _to_write(self._old)
        self._rows_per_slice = 0
        if self.capacity >= _MANY_SLICES * _SLICE:
            old = sum(namespace.old for namespace in _alive(self._old))
            self._rows_per_slice = 1 + int(old * _SLICE / (self.capacity * _WRITING_PART))

    def _write(self, rows: Iterable[Change | None]) -> None:
        changes = sorted(row for row in rows if row is not None)
        sizes = [len(change[3]) for change in changes if change[3] is not None]
        self._written_rows += len(sizes)
        self._written_bytes += sum(sizes)
        self._database.write(changes)

    def _adjust(self) -> None:
        """Choose the size of a generation by the average size of the values that were written."""
        if self._written_rows:
            average = self._written_bytes / self._written_rows
            wanted = int(self._budget / (2 * (_PER_ENTRY + _PER_BYTE * average)))
            self.capacity = max(_SMALLEST_GENERATION, min(wanted, 4 * self.capacity))
        self._written_rows = self._written_bytes = 0


def _alive(references: list[ref[DiskNamespace]]) -> Iterator[DiskNamespace]:
    return (namespace for reference in references if (namespace := reference()) is not None)


def _to_write(references: list[ref[DiskNamespace]]) -> Iterator[Change | None]:
    """Yield the changes of namespaces, each row when its turn comes."""
    for reference in references:
        namespace = reference()
        if namespace is not None:
            yield from namespace.to_write()


def encode_key(key: Any) -> tuple[bytes, bytes | None]:
    """Return the stored form of a key, and its pickle where that form is not the whole key."""
    kind = type(key)
    if kind is str:
        return b"s" + key.encode("utf-8", "surrogatepass"), None
    if kind is int:
        return b"i%d" % key, None
    if kind is bytes:
        return b"b" + key, None
    if kind is Key:
        return b"k" + repr(key.identity).encode("utf-8", "surrogatepass"), serialize(key)
    return b"o" + serialize(key), None


def decode_key(encoded: bytes, original: bytes | None) -> object:
    """Return a key."""
    if original is not None:
        return pickle.loads(original)
    kind, content = encoded[:1], encoded[1:]
    if kind == b"s":
        return content.decode("utf-8", "surrogatepass")
    if kind == b"i":
        return int(content)
    if kind == b"b":
        return content
    return pickle.loads(content)


class DiskNamespace:
    """Entries by key. None stands for an entry that is known not to be there.

    Args:
        store: where the entries are that are not in memory.
    """

    __slots__ = (
        "__weakref__",
        "_count",
        "_has_rows",
        "_old",
        "_store",
        "_stored",
        "_young",
        "number",
    )

    def __init__(self, store: DiskStore) -> None:
        self._store = store
        self.number = store.new_number()
        self._count = 0
        self._has_rows = False
        self._young: dict[object, object] = {}
        self._old: dict[object, object] = {}
        # Of each entry in memory: a hash of what the database has, or None if it has nothing.
        self._stored: dict[object, int | None] = {}

    def __del__(self) -> None:
        if self._has_rows:
            self._store.release(self.number)

    def get(self, key: object, default: object = None) -> object:
        """Return an entry."""
        value = self._young.get(key, _UNKNOWN)
        if value is _UNKNOWN:
            value = self._fetched(key)
        return default if value is None else value

    def __getitem__(self, key: object) -> object:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: object, value: object) -> None:
        known = self._young.get(key, _UNKNOWN)
        if known is _UNKNOWN:
            known = self._fetched(key)
        self._count += (value is not None) - (known is not None)
        self._young[key] = value

    def __delitem__(self, key: object) -> None:
        if self.get(key) is None:
            raise KeyError(key)
        self[key] = None

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[object]:
        return (key for key, _ in self.items())

    def setdefault(self, key: object, default: object) -> object:
        """Return an entry; set it first if it is not there."""
        value = self.get(key)
        if value is None:
            value = self[key] = default
        return value

    def pop(self, key: object, default: object = None) -> object:
        """Remove and return an entry."""
        value = self.get(key)
        if value is None:
            return default
        self[key] = None
        return value

    def update(self, entries: dict[object, object]) -> None:
        """Set entries."""
        for key, value in entries.items():
            self[key] = value

    def load(self, entries: dict[object, object]) -> None:
        """Set entries as ``update`` does, but most of many straight in the database."""
        if len(entries) >= _MANY:
            number, stored = self.number, self._stored
            added = self._store.load(
                (number, *encode_key(key), serialize(value))
                for key, value in entries.items()
                if key not in stored and value is not None
            )
            if added is not None:
                self._count += added
                self._has_rows = True
                entries = {k: v for k, v in entries.items() if k in stored or v is None}
        self.update(entries)

    def clear(self) -> None:
        """Remove all entries."""
        for key in list(self):
            self[key] = None

    def items(self) -> Iterator[tuple[object, object]]:
        """Yield the entries; entries may change meanwhile, which may be seen or not."""
        if self._count:
            in_memory = dict.fromkeys((*self._young, *self._old))
            yield from self._present((key, None) for key in in_memory)
            if self._has_rows:
                for page in self._store.rows(self.number):
                    yield from self._present(row for row in page if row[0] not in in_memory)

    def _present(
        self, rows: Iterable[tuple[object, bytes | None]]
    ) -> Iterator[tuple[object, object]]:
        """Yield the entries that exist; the values in memory may be newer than the rows."""
        for key, content in rows:
            value = self._young.get(key, _UNKNOWN)
            if value is _UNKNOWN:
                value = self._old.get(key, _UNKNOWN)
            if value is _UNKNOWN:
                value = self._read(key)[0] if content is None else deserialize(content)
            if value is not None:
                yield key, value

    def values(self) -> Iterator[object]:
        """Yield the values."""
        return (value for _, value in self.items())

    # -- for the store --------------------------------------------------------------------------

    @property
    def cached(self) -> int:
        """The number of entries in memory."""
        return len(self._stored)

    @property
    def old(self) -> int:
        """The number of entries in the old generation."""
        return len(self._old)

    def to_write(self) -> Iterator[Change | None]:
        """Yield for each entry of the old generation its row, when its turn comes.

        None stands for nothing. The keys are in order, so that slices of them are neighbours in
        the database.
        """
        number, stored = self.number, self._stored
        for key in _in_order(self._old):
            before = stored[key]
            if key in self._young:
                yield None
                continue
            value = self._old[key]
            content = None if value is None else serialize(value)
            now = None if content is None else hash(content)
            if now == before:
                yield None
                continue
            stored[key] = now
            self._has_rows = True
            yield number, *encode_key(key), content

    def forget_old(self) -> None:
        """Forget the old generation, which was written."""
        for key in self._old:
            if key not in self._young:
                del self._stored[key]
        self._old = {}

    def grow_old(self) -> None:
        """Make the young generation the old one."""
        self._old, self._young = self._young, {}

    def _fetched(self, key: object) -> object:
        """Return an entry that is not young; it is then."""
        self._store.make_room()
        value = self._old.get(key, _UNKNOWN)
        if value is _UNKNOWN:
            value, self._stored[key] = self._read(key)
        if not self._young:
            self._store.grows(self)
        self._young[key] = value
        return value

    def _read(self, key: object) -> tuple[object, int | None]:
        """Return an entry as it is in the database, and the hash of it."""
        content = self._store.find(self.number, key) if self._has_rows else None
        return (None, None) if content is None else (deserialize(content), hash(content))


def _in_order(entries: dict[Any, object]) -> list[object]:
    """Return keys, neighbours in the database next to each other."""
    if len(kinds := set(map(type, entries))) == 1 and kinds <= _ORDERED_TYPES:
        return sorted(entries)
    return sorted(entries, key=encode_key)


class _Namespaces(dict[Hashable, Any]):
    """All namespaces of a table; a new one is one on disk, whatever is asked for."""

    def __init__(self, store: DiskStore) -> None:
        super().__init__({None: DiskNamespace(store)})
        self._store = store

    def __setitem__(self, namespace: Hashable, entries: Any) -> None:
        found = DiskNamespace(self._store)
        super().__setitem__(namespace, found)
        found.update(entries)

    def setdefault(self, namespace: Hashable, entries: object = None) -> Any:
        """Return a namespace."""
        if namespace not in self:
            self[namespace] = entries or {}
        return self[namespace]


class DiskTable(StateTable):
    """A table whose namespaces are like dicts, but on disk. The namespaces' names are in memory.

    Args:
        kind: as a descriptor's ``_kind``, for example ``value``.
        track: whether to note which entries change.
        store: where the entries are.
    """

    __slots__ = ("_store",)

    def __init__(self, kind: str, track: bool, store: DiskStore) -> None:
        super().__init__(kind, track)
        self._store = store
        self.namespaces = _Namespaces(store)
        self.current = self.namespaces[None]

    def put_all(self, namespace: Hashable, entries: dict[object, object]) -> None:
        """Set entries of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {}).load(entries)  # type: ignore[attr-defined]

    def all_entries(self) -> Iterator[tuple[Hashable, dict[object, object]]]:
        """Yield namespaces and entries by key, some at a time."""
        for namespace, table in self.namespaces.items():
            part: dict[object, object] = {}
            for key, value in table.items():
                part[key] = value
                if len(part) == _PART:
                    yield namespace, part
                    part = {}
            yield namespace, part

    def size(self) -> int:
        """Return how many entries there are in memory; those on disk only are not counted."""
        return sum(table.cached for table in self.namespaces.values())  # type: ignore[attr-defined]

    def entries(self) -> Iterator[tuple[Hashable, object, object]]:
        """Yield namespace, key and value of each entry; entries may change meanwhile.

        Entries on disk are read in order, and do not take the place of others in memory.
        """
        for namespace, table in list(self.namespaces.items()):
            for key, value in table.items():
                yield namespace, key, value

    def places(self) -> Iterator[Place]:
        """Yield the place of each entry; entries may change meanwhile."""
        for namespace, table in list(self.namespaces.items()):
            for key in table:
                yield namespace, key


@dataclass(frozen=True)
class DiskSettings:
    """The memory and the folders of keyed state on disk.

    Args:
        memory: how many bytes the recent entries of one operator may take, about.
        folders: where databases are, in turn; empty for the system's folder for temporary files.
        page_cache: how many bytes of that the database has as its own cache; None for a quarter.
    """

    memory: int = 64 * 1024 * 1024
    folders: tuple[str, ...] = ()
    page_cache: int | None = None


@dataclass(frozen=True)
class StateSettings:
    """The settings of keyed state.

    Args:
        disk: memory and disk of a state backend that may be larger than memory; None for memory.
        track_changes: whether checkpoints may write only what has changed.
        changed: what happens to restored state of another kind or type, as the option says.
    """

    disk: DiskSettings | None = None
    track_changes: bool = False
    changed: str = REFUSE


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
