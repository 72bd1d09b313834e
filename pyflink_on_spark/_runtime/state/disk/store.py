"""The database of one operator's keyed state, and what decides which entries stay in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import ref

from pyflink_on_spark._runtime.state.disk.database import Change, EntryDatabase
from pyflink_on_spark._runtime.state.disk.table import decode_key, encode_key
from pyflink_on_spark._runtime.state.settings import DiskSettings

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.disk.table import DiskNamespace, DiskTable

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
        from pyflink_on_spark._runtime.state.disk.table import DiskTable

        return DiskTable(kind, track, self)

    def new_number(self) -> int:
        """Return the number of a new namespace."""
        self._next += 1
        return self._next

    def find(self, number: int, key: Any) -> bytes | None:
        """Return an entry as it is in the database."""
        return self._database.find(number, encode_key(key)[0])

    def rows(self, number: int) -> Iterator[list[tuple[Any, bytes]]]:
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
