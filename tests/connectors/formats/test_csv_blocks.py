"""The records of CSV files do not depend on where blocks, splits and restarts cut them."""

from __future__ import annotations

import gzip
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._connectors.formats.csv_blocks import CsvRecords, _whole_lines
from pyflink_on_spark._connectors.formats.csv_records import CsvDialect
from pyflink_on_spark._connectors.formats.file_format import (
    CorruptRecordError,
    FileSplit,
    LineMessages,
    TextLines,
)
from tests.effort import share

PIECES = st.sampled_from(
    [*'ab1,# \\ \t"', '""', "\n", "\r", "\r\n", "\n\n", "é", '","', '"\n"', "x,y\n"]
)
CONTENTS = st.lists(PIECES, max_size=60).map("".join)
DIALECTS = st.builds(
    CsvDialect,
    quote=st.sampled_from(['"', None, "é"]),
    escape=st.sampled_from([None, None, "\\"]),
    comments=st.booleans(),
)


def fields(values, form):
    return [value.split(form.delimiter) if type(value) is str else value for value in values]


def outcome(bundles, form):
    """Returns the records and the error, if there is one."""
    records = []
    try:
        for bundle in bundles:
            records += fields(bundle.values, form)
    except ValueError as error:
        return records, type(error)
    return records, None


def read(path, form, lenient, chunk_size, split=None):
    return outcome(CsvRecords(form, lenient, chunk_size).read(split or FileSplit(str(path))), form)


@settings(max_examples=share(300), deadline=None)
@example(' a\n","\n', CsvDialect(comments=True), False)
@given(content=CONTENTS, form=DIALECTS, lenient=st.booleans())
def test_blocks_do_not_matter(tmp_path_factory, content, form, lenient):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(content.encode())
    expected, error = read(path, form, lenient, 1 << 20)
    for chunk_size in (1, 2, 5, 17):
        found, wrong = read(path, form, lenient, chunk_size)
        assert wrong is error
        assert found == expected or error is not None


@settings(max_examples=share(100), deadline=None)
@given(content=CONTENTS, form=DIALECTS, lenient=st.booleans(), chunk_size=st.sampled_from([3, 50]))
def test_a_restart_goes_on(tmp_path_factory, content, form, lenient, chunk_size):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(content.encode())
    split, source = FileSplit(str(path)), CsvRecords(form, lenient, chunk_size)
    expected, error = read(path, form, lenient, chunk_size)
    before, at = [], []
    try:
        for bundle, position in source.resume(split, None):
            before += fields(bundle.values, form)
            at.append((list(before), position))
    except ValueError:
        assert error is not None
    for records, position in at:
        rest, wrong = outcome((bundle for bundle, _ in source.resume(split, position)), form)
        assert wrong is error
        assert records + rest == expected or error is not None


@pytest.mark.parametrize("quoted", [False, True])
def test_splits(tmp_path, quoted):
    path = tmp_path / "a.csv"
    end = '3999,"x\ny"\n' if quoted else "3999,x\n"
    path.write_text("".join(f"{i},x\n" for i in range(3999)) + end)
    size, form = path.stat().st_size, CsvDialect()
    splits = [FileSplit(str(path), i * size // 3, (i + 1) * size // 3) for i in range(3)]
    assert CsvRecords(form).is_splittable(str(path))
    found = [read(path, form, False, 1000, split)[0] for split in splits]
    assert [*found[0], *found[1], *found[2]] == read(path, form, False, 1 << 20)[0]
    assert [bool(records) for records in found] == [True, not quoted, not quoted]


def test_a_quote_that_stays_open_is_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("pyflink_on_spark._connectors.formats.csv_blocks._MOST_HELD", 1000)
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{i},{'5' + chr(34) if i == 10 else 'x'}\n" for i in range(2000)))
    records, error = read(path, CsvDialect(), False, 100)
    assert error is None
    assert [int(record[0]) for record in records] == list(range(2000))
    assert records[10] == ["10", '5"']


def test_compressed_files(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b'1,"x\ny"\n2,z\n'))
    source = CsvRecords(CsvDialect(), chunk_size=3)
    assert not source.is_splittable(str(path))
    assert source.resume(FileSplit(str(path)), None) is None
    assert read(path, CsvDialect(), False, 3) == ([["1", "x\ny"], ["2", "z"]], None)


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-8-sig"])
def test_marks_say_the_character_set(tmp_path, codec):
    path = tmp_path / "a.csv"
    path.write_bytes('1,"é\n𐍈"\n2,z\n'.encode(codec))
    for chunk_size in (5, 1000):
        assert read(path, CsvDialect(), False, chunk_size)[0] == [["1", "é\n𐍈"], ["2", "z"]]
    source, split = CsvRecords(CsvDialect(), chunk_size=7), FileSplit(str(path))
    for bundle, position in source.resume(split, None):
        rest = [fields(more.values, CsvDialect()) for more, _ in source.resume(split, position)]
        assert len(fields(bundle.values, CsvDialect())) + len(rest) >= 1


def test_a_long_line_is_collected_once(monkeypatch):
    """It was copied with each chunk: 300 MB of a .gz took ten minutes."""
    size, count = 16 * 1024, 4_000
    lines = _whole_lines((b"x" * size for _ in range(count)), "long.csv.gz", sys.maxsize)
    assert [len(content) for _, content in lines] == [size * count]


def test_line_ends_at_the_borders_of_chunks():
    chunks = [b"a\r", b"\nb\rc", b"\n", b"d\r", b"e"]
    assert list(_whole_lines(chunks, "", 99)) == [
        (0, b"a\r\nb\r"),
        (5, b"c\n"),
        (7, b"d\r"),
        (9, b"e"),
    ]


@pytest.mark.parametrize("name", ["lines.txt", "lines.txt.gz"])
@pytest.mark.parametrize(
    "form", [TextLines, LineMessages, lambda **size: CsvRecords(CsvDialect(), **size)]
)
def test_a_record_has_a_limit(tmp_path, name, form):
    path = tmp_path / name
    content = b"short\n" * 100 + b"x" * 5_000 + b"\nshort\n"
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    split = FileSplit(str(path), 0, None)
    limited = form(chunk_size=100).with_most(1_000)
    with pytest.raises(ValueError, match=r"has more than 1,000 bytes; pyflink-on-spark.max-record"):
        list(limited.read(split))
    whole = form(chunk_size=100).with_most(5_000)
    assert sum(len(bundle.values) for bundle in whole.read(split)) == 102


@pytest.mark.parametrize("opened", ['"open', 'a,"', 'a,"\n","'])
def test_a_record_of_many_lines_has_a_limit(tmp_path, monkeypatch, opened):
    """A quote that is not closed takes the rest of the file with it."""
    monkeypatch.setattr("pyflink_on_spark._connectors.formats.csv_blocks._MOST_HELD", 1_000)
    path = tmp_path / "lines.csv"
    path.write_text("short\n" * 100 + opened + '\n","' * 2_000)
    form = CsvRecords(CsvDialect(), chunk_size=100).with_most(2_000)
    told = r"cannot read .*lines.csv: a record has more than 2,000 characters; pyflink-on-spark.max"
    with pytest.raises(CorruptRecordError, match=told):
        list(form.read(FileSplit(str(path), 0, None)))
