"""A changed file gives rows or an error that names the file; never another error, and soon."""

from __future__ import annotations

import bz2
import gzip
import time

import pytest

from pyflink_on_spark._connectors.formats.file_format import FileSplit, TextLines
from pyflink_on_spark._sql.parser.statements import parse_type
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.tables.formats.format import find_format
from tests.hostile.changes import changed

_SECONDS = 5.0
_FIELDS = {"text": "STRING", "whole": "BIGINT", "half": "DOUBLE", "many": "ARRAY<INT>"}
_SCHEMA = Schema(tuple(_FIELDS), tuple(map(parse_type, _FIELDS.values())))
_ROWS = [(f"text {n}", n * 10**9, n / 7, (n, n + 1)) for n in range(300)]


def check(read, path, seeds):
    """Read a file after changes; return how many of them were noticed."""
    content, refused = path.read_bytes(), 0
    assert read(path)
    for seed, other in changed(content, seeds):
        path.write_bytes(other)
        begun = time.monotonic()
        try:
            read(path)
        except (OSError, ValueError) as error:
            if path.name not in str(error):
                raise AssertionError(f"seed {seed}: no name of the file") from error
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        assert time.monotonic() - begun < _SECONDS, seed
    return refused


@pytest.mark.parametrize("identifier", ["avro", "parquet", "orc"])
def test_files_of_tables(identifier, tmp_path, hostile_seeds):
    found, own = find_format(TableOptions({"format": identifier}))
    output = found.file_output(_SCHEMA, own, "UTC")
    path = tmp_path / f"part.{identifier}"
    with path.open("wb") as file:
        writer = output.open(file)
        writer.write(list(map(output.converter(), _ROWS)))
        writer.finish()
    rows = found.file_input(_SCHEMA, own, "UTC")
    assert check(lambda path: list(rows.read(FileSplit(str(path)))), path, hostile_seeds)


@pytest.mark.parametrize("name", ["lines.txt.gz", "lines.txt.bz2"])
def test_compressed_lines(name, tmp_path, hostile_seeds):
    path = tmp_path / name
    compress = gzip.compress if name.endswith("gz") else bz2.compress
    path.write_bytes(compress(b"a line of text\n" * 500))
    lines = TextLines("UTF-8")
    assert check(lambda path: list(lines.read(FileSplit(str(path)))), path, hostile_seeds)
