"""Resuming in the middle of a file, and reading files as they come."""

from __future__ import annotations

import gzip
import os
import pickle
import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.file_format import FileSplit, TextLines
from pyflink_on_spark._runtime.contract.operator import TaskInfo


class ManualClock:
    def __init__(self):
        self.time = 0

    def now(self):
        return self.time


def context_of(clock=None, index=0, parallelism=1):
    task = TaskInfo("source", index, parallelism)
    return SimpleNamespace(clock=clock or ManualClock(), task=task, asks=False)


def source_of(*paths, interval=None, text=None):
    options = FileSourceConfig.of(text or TextLines(), [str(path) for path in paths])
    return SplitFileSource(
        FileSourceConfig(options.file_format, options.paths, discovery_interval=interval)
    )


def open_readers(source, snapshots=None, parallelism=1, clock=None):
    splits = source.splits(parallelism)
    restored = None if snapshots is None else pickle.loads(snapshots)
    return [
        source.reader(splits[i::parallelism], restored, context_of(clock, i, parallelism))
        for i in range(parallelism)
    ]


def save(readers):
    return pickle.dumps([item for reader in readers for item in reader.snapshot()])


def drain(readers):
    """Everything there is for now, in order."""
    found = []
    for reader in readers:
        while (bundle := reader.poll()) is not None:
            found += bundle.values
    return found


@settings(deadline=None)
@given(
    pieces=st.lists(st.sampled_from(["a", "é", "€", "\n", "\r", "\r\n", "bcd"]), max_size=40),
    chunk_size=st.integers(1, 9),
    limits=st.lists(st.integers(1, 4), min_size=1, max_size=5),
)
def test_lines_after_restarts_anywhere(tmp_path_factory, pieces, chunk_size, limits):
    text = "".join(pieces)
    path = tmp_path_factory.mktemp("resume") / "f.txt"
    path.write_bytes(text.encode())
    lines = re.split(r"\r\n|\r|\n", text)
    lines = lines if lines[-1] else lines[:-1]
    source = source_of(path, text=TextLines(chunk_size=chunk_size))
    found, saved, turn = [], None, 0
    while True:
        (reader,) = open_readers(source, saved)
        reader.limit = limits[turn % len(limits)]
        turn += 1
        bundle = reader.poll()
        if bundle is None:
            break
        found += bundle.values
        saved = save([reader])
        reader.close()
    assert found == lines


def test_it_goes_on_where_it_was_without_reading_what_lies_before(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("".join(f"{n}\n" for n in range(1000)))
    text = TextLines(chunk_size=100)
    rows = list(text.resume(FileSplit(str(path)), None))
    _, position = rows[5]
    with path.open("r+b") as file:
        file.write(b"x" * (position[0] - 1))
    after = [b.values for b, _ in text.resume(FileSplit(str(path)), position)]
    assert after == [b.values for b, _ in rows[6:]]


@pytest.mark.parametrize("kind", ["gz", "UTF-16"])
def test_what_cannot_be_cut_is_counted(tmp_path, kind):
    path = tmp_path / ("f.txt.gz" if kind == "gz" else "f.txt")
    text = "".join(f"{n}\n" for n in range(100))
    path.write_bytes(gzip.compress(text.encode()) if kind == "gz" else text.encode("UTF-16"))
    source = source_of(path, text=TextLines("UTF-16" if kind == "UTF-16" else "UTF-8"))
    (reader,) = open_readers(source)
    reader.limit = 30
    first = reader.poll().values
    (reader,) = open_readers(source, save([reader]))
    assert first + drain([reader]) == [f"{n}" for n in range(100)]


def test_a_file_that_has_become_shorter_is_named(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("abc\n" * 100)
    source = source_of(path, text=TextLines(chunk_size=40))
    (reader,) = open_readers(source)
    reader.poll()
    path.write_text("abc\n")
    with pytest.raises(OSError, match=r"f\.txt has 4 bytes, fewer than the 40"):
        open_readers(source, save([reader]))[0].poll()


def test_a_file_that_is_gone_is_named(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("abc\n")
    (reader,) = open_readers(source_of(path))
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"f\.txt was there when .* and is gone now"):
        reader.poll()


def test_new_files_are_read_as_they_come(tmp_path):
    clock = ManualClock()
    (tmp_path / "b").write_text("b1\nb2\n")
    readers = open_readers(source_of(tmp_path, interval=100), clock=clock)
    assert drain(readers) == ["b1", "b2"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c").write_text("c\n")
    (tmp_path / "a").write_text("a\n")
    (tmp_path / "_hidden").write_text("no\n")
    (tmp_path / "b").write_text("b1\nb2\nb3\n")
    clock.time = 99
    assert drain(readers) == []
    clock.time = 100
    assert drain(readers) == ["a", "c"]
    assert not readers[0].ended


def test_a_file_is_watched_too(tmp_path):
    (tmp_path / "a").write_text("a\n")
    readers = open_readers(source_of(tmp_path / "a", interval=1))
    assert drain(readers) == ["a"]


def test_what_is_watched_has_to_be_there(tmp_path):
    source = source_of(tmp_path / "no", interval=1)
    with pytest.raises(FileNotFoundError, match=r"does not exist: .*/no"):
        source.splits(1)
    (tmp_path / "no").mkdir()
    readers = open_readers(source)
    (tmp_path / "no").rmdir()
    with pytest.raises(FileNotFoundError, match=r"does not exist: .*/no"):
        readers[0].poll()


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 3), (3, 1), (2, 3)])
def test_every_file_once_with_any_parallelism(tmp_path, before, after):
    clock = ManualClock()
    source = source_of(tmp_path, interval=10, text=TextLines(chunk_size=16))
    expected = []

    def add(names):
        for name in names:
            lines = [f"{name}-{n}" for n in range(20)]
            expected.extend(lines)
            (tmp_path / name).write_text("\n".join(lines))

    add("abcdef")
    readers = open_readers(source, parallelism=before, clock=clock)
    found = []
    for reader in readers:
        reader.limit = 7
        bundle = reader.poll()
        found += bundle.values if bundle else []
    saved = save(readers)
    add("ghi")
    readers = open_readers(source, saved, after, clock)
    found += drain(readers)
    saved = save(readers)
    add("jk")
    readers = open_readers(source, saved, before, clock)
    found += drain(readers)
    assert sorted(found) == sorted(expected)


def test_files_that_are_done_may_go(tmp_path):
    (tmp_path / "a").write_text("a\n")
    source = source_of(tmp_path, interval=10)
    readers = open_readers(source)
    assert drain(readers) == ["a"]
    os.unlink(tmp_path / "a")
    (tmp_path / "b").write_text("b\n")
    assert drain(open_readers(source, save(readers))) == ["b"]


@pytest.mark.parametrize("interval", [None, 200])
@pytest.mark.parametrize(("before", "after"), [(4, 1), (1, 1), (4, 3), (2, 4)])
def test_files_are_read_in_order_after_another_parallelism(tmp_path, interval, before, after):
    for number in range(60):
        (tmp_path / f"{number:03}.txt").write_text(f"{number}\n")
    source = source_of(tmp_path, interval=interval)
    readers = open_readers(source, parallelism=before)
    found = [int(line) for reader in readers for line in reader.poll().values]
    for reader in open_readers(source, save(readers), after):
        lines = [int(line) for line in drain([reader])]
        assert lines == sorted(lines)
        found += lines
    assert sorted(found) == list(range(60))
