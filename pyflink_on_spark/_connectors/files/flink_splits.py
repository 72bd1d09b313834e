"""The files of a savepoint of Flink, as our source has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._connectors.files.reader import FilesDone
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.location import locate
from pyflink_on_spark._runtime.contract.connector import FlinkSplits, Versioned
from pyflink_on_spark._runtime.moved_in.data_input import DataInput

_PENDING = b"\xef\xbe\xad\xde"
_NO_OFFSET = -1
_VERSION = 1


def positions_of_files(found: FlinkSplits, *, monitoring: bool) -> list[Any]:
    """Make the positions of the files that Flink has not read to their end.

    Args:
        found: what Flink has of the source.
        monitoring: whether our source looks for new files.

    Raises:
        ValueError: our source cannot continue from there.
    """
    pending, done = _pending(found.enumerator)
    if done and not monitoring:
        raise ValueError(
            "the source of Flink looks for new files, and that of the job does not: call "
            "monitor_continuously(), or leave the positions out"
        )
    unread = [
        (split, None, skip) for split, skip in (*map(_split, found.splits), *map(_split, pending))
    ]
    if not monitoring:
        return unread
    paths = tuple(sorted({locate(path).path for path in done} - {s.path for s, _, _ in unread}))
    numbered = sorted(unread, key=lambda item: (item[2] == 0, item[0].path))
    return [FilesDone(paths), *((*item, number) for number, item in enumerate(numbered))]


def _split(found: Versioned) -> tuple[FileSplit, int]:
    """Read a split, and how many of its records are read."""
    version, data = found
    if version != _VERSION:
        raise ValueError(f"file splits of version {version} are not known")
    data.utf()
    path = _path(data)
    start, length, _, size = data.long(), data.long(), data.long(), data.long()
    for _ in range(data.count("hosts", 2)):
        data.utf()
    offset, records = _NO_OFFSET, 0
    if data.boolean():
        offset, records = data.long(), data.long()
    if offset != _NO_OFFSET:
        raise ValueError(
            f"{path} is half read, at byte {offset} in Flink's own way: let the job read its "
            "files to their end before it stops"
        )
    end = None if start + length >= size else start + length
    return FileSplit(locate(path).path, start, end), records


def _path(data: DataInput) -> str:
    """Read a path, which Flink writes as the parts of a URI."""
    if not data.boolean():
        raise ValueError("a file split has no path")
    scheme, user, host = _text(data), _text(data), _text(data)
    port = data.integer()
    path, _query, _fragment = _text(data), _text(data), _text(data)
    authority = "".join((f"{user}@" if user else "", host or "", f":{port}" if port >= 0 else ""))
    if not scheme:
        return path or ""
    return f"{scheme}://{authority}{path}" if authority else f"{scheme}:{path}"


def _text(data: DataInput) -> str | None:
    return data.string() if data.boolean() else None


def _pending(found: Versioned | None) -> tuple[list[Versioned], list[str]]:
    """Read the splits that no reader has, and the paths that are known."""
    if found is None:
        return [], []
    version, data = found
    if version != _VERSION or data.take(len(_PENDING)) != _PENDING:
        raise ValueError("the enumerator of the files is of a version that is not known")
    of_splits, splits, paths = (_little(data) for _ in range(3))
    pending = [(of_splits, DataInput(content, data.where)) for content in _pieces(data, splits)]
    return pending, [path.decode("utf-8") for path in _pieces(data, paths)]


def _pieces(data: DataInput, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield data.take(_little(data))


def _little(data: DataInput) -> int:
    return int.from_bytes(data.take(4), "little", signed=True)
