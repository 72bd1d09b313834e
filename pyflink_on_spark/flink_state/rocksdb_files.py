"""The files of RocksDB in native savepoints and in incremental checkpoints of Flink."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark.flink_state.metadata import RocksDbHandle, StateBytes

_OPTIONS = """[Version]
  rocksdb_version=8.10.0
  options_file_version=1.1
[DBOptions]
[CFOptions "default"]
  merge_operator={id=StringAppendTESTOperator;delimiter=,;}
[TableOptions/BlockBasedTable "default"]
"""
"""The setting of Flink that matters to readers: pieces of lists are put together with commas.

The options in the savepoint itself are not used: they could name anything.
"""
_END = b"\xff\xff"
_LAST_OF_STATE = 0x80

Open = Callable[[StateBytes], Any]


class RocksDbStates:
    """The states of one subtask in a copy of its database.

    Args:
        database: opened with ``rocksdict``.
        names: of the states, in the order of their numbers.
        width: of the number of the key group before each key, in bytes.
        where: what it is, for errors.
    """

    def __init__(self, database: Any, names: tuple[str, ...], width: int, where: str) -> None:
        self._families = [database.get_column_family(name) for name in names]
        self._width, self._where = width, where

    def canonical(self, group: int) -> bytes:
        """Return a key group as a canonical savepoint has it; b"" if there is nothing in it.

        Raises:
            CheckpointError: RocksDB finds that its files are damaged.
        """
        try:
            return self._canonical(group)
        except Exception as error:  # RocksDB's errors have no class of their own
            raise _unreadable(self._where, error) from error

    def _canonical(self, group: int) -> bytes:
        prefix = group.to_bytes(self._width, "big")
        last = bytes([prefix[0] | _LAST_OF_STATE]) + prefix[1:]
        parts: list[bytes] = []
        for number, family in enumerate(self._families):
            pairs = list(_pairs(family, prefix))
            if not pairs:
                continue
            parts.append(number.to_bytes(2, "big"))
            *others, (key, value) = pairs
            parts += [_sized(each) + _sized(content) for each, content in others]
            parts.append(_sized(last + key[self._width :]) + _sized(value))
        return b"".join([*parts, _END]) if parts else b""


def _pairs(family: Any, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    found = family.iter()
    found.seek(prefix)
    while found.valid() and (key := found.key()).startswith(prefix):
        yield key, found.value()
        found.next()
    found.status()


def _sized(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@contextmanager
def opened(
    handle: RocksDbHandle, open_file: Open, names: tuple[str, ...], width: int, where: str
) -> Iterator[RocksDbStates]:
    """Copy a database to a temporary folder, and open it there.

    Args:
        handle: the files.
        open_file: opens a file of the savepoint; a context manager.
        names: of the states.
        width: of the number of the key group before each key, in bytes.
        where: what it is, for errors.

    Raises:
        CheckpointError: RocksDB cannot read the files.
        ModuleNotFoundError: there is no package that reads them.
    """
    rocksdict = optional_package(
        "rocksdict", "rocksdict", "Native savepoints of RocksDB (canonical ones do not)", "rocksdb"
    )
    with tempfile.TemporaryDirectory(prefix="pyflink-on-spark-rocksdb-") as place:
        database, options = Path(place, "database"), Path(place, "options")
        database.mkdir()
        options.mkdir()
        (options / "OPTIONS-000001").write_text(_OPTIONS)
        for name, file in handle.files.items():
            with open_file(file) as source, (database / name).open("wb") as target:
                _copy(source, target)
        try:
            _, kinds = rocksdict.Options.load_latest(str(options))
            found = rocksdict.Rdict.list_cf(str(database))
            opened_database = rocksdict.Rdict(
                str(database),
                kinds["default"],
                column_families=dict.fromkeys(found, kinds["default"]),
                access_type=rocksdict.AccessType.read_only(),
            )
        except Exception as error:
            raise _unreadable(where, error) from error
        try:
            missing = [name for name in names if name not in found]
            if missing:
                raise CheckpointError(
                    f"{where}: the state {missing[0]!r} is not in RocksDB's files"
                )
            yield RocksDbStates(opened_database, names, width, where)
        finally:
            opened_database.close()


def _unreadable(where: str, error: Exception) -> CheckpointError:
    return CheckpointError(f"{where}: RocksDB cannot read its files: {error}")


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    shutil.copyfileobj(source, target, 1 << 20)
