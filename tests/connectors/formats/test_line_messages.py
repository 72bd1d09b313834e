"""Messages of files with a message a line do not depend on where files are cut."""

from __future__ import annotations

import gzip

import pytest

from pyflink_on_spark._connectors.formats.file_format import FileSplit, LineMessages

CONTENT = b"a\rb\r\n\r\n\xffc\r\r\n\nd\xc3\xa9\ne\r"
EXPECTED = [b"a\rb", b"", b"\xffc\r", b"", "dé".encode(), b"e"]


def messages(bundles):
    found = [value for bundle in bundles for value in bundle.values]
    return [value.encode() if type(value) is str else value for value in found]


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 1000])
def test_chunks_and_splits(tmp_path, chunk_size):
    path = tmp_path / "a"
    path.write_bytes(CONTENT)
    source = LineMessages(chunk_size)
    assert messages(source.read(FileSplit(str(path)))) == EXPECTED
    for at in range(1, len(CONTENT)):
        parts = FileSplit(str(path), 0, at), FileSplit(str(path), at, len(CONTENT))
        found = [message for part in parts for message in messages(source.read(part))]
        assert found == EXPECTED


@pytest.mark.parametrize("chunk_size", [1, 5, 1000])
def test_a_restart_resumes(tmp_path, chunk_size):
    path = tmp_path / "a"
    path.write_bytes(CONTENT)
    split, source = FileSplit(str(path)), LineMessages(chunk_size)
    before = []
    for bundle, position in source.resume(split, None):
        before += messages([bundle])
        assert before + messages(rest for rest, _ in source.resume(split, position)) == EXPECTED


def test_compressed_files(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(CONTENT))
    assert messages(LineMessages(3).read(FileSplit(str(path)))) == EXPECTED
