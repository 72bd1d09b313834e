"""Parts of files that would fill the memory after decompression are refused by their size."""

from __future__ import annotations

import contextlib
import io

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from pyflink_on_spark._connectors.formats.avro import AvroFileInput
from pyflink_on_spark._connectors.formats.compression import TooLargeError, check_avro_blocks
from pyflink_on_spark._connectors.formats.file_format import CorruptRecordError, FileSplit
from pyflink_on_spark._connectors.formats.orc import orc_batches
from pyflink_on_spark._connectors.formats.parquet import batches
from pyflink_on_spark.common import Types

RECORD = {"type": "record", "name": "r", "fields": [{"name": "s", "type": "string"}]}
TEXTS = pa.table({"s": ["x" * 100_000] * 20, "n": range(20)})
REFUSED = r"has more than 1,000,000 bytes after decompression; pyflink-on-spark.max-record-size"
SCHEMA = pa.schema([("s", pa.string())])


def avro(tmp_path, codec, sizes):
    """Return the path of a file with a record, which is a block, for each size."""
    path = tmp_path / "file.avro"
    content = io.BytesIO()
    try:
        fastavro.writer(
            content, RECORD, ({"s": "x" * n} for n in sizes), codec=codec, sync_interval=1
        )
    except ValueError as error:
        pytest.skip(str(error))
    path.write_bytes(content.getvalue())
    return path


def read(path, most):
    form = AvroFileInput(RECORD, Types.PICKLED_BYTE_ARRAY()).with_most(most)
    return [len(record["s"]) for part in form.read(FileSplit(str(path))) for record in part.values]


@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz", "snappy", "zstandard", "lz4"])
def test_a_compressed_block_of_avro_has_a_limit(tmp_path, codec):
    path = avro(tmp_path, codec, [10, 2_000_000, 20])
    with pytest.raises(CorruptRecordError, match=f"cannot read {path} .*block 1 {REFUSED}"):
        read(path, 1_000_000)
    assert read(path, 3_000_000) == [10, 2_000_000, 20]


def test_small_blocks_are_not_decompressed_twice(tmp_path, monkeypatch):
    path = avro(tmp_path, "deflate", [10] * 50)
    monkeypatch.setattr(
        "pyflink_on_spark._connectors.formats.compression._check_block",
        lambda *_: pytest.fail("a block that cannot be too large"),
    )
    assert read(path, 1_000_000) == [10] * 50


@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz", "snappy", "zstandard", "lz4"])
def test_damaged_blocks_are_left_to_the_reader(tmp_path, codec):
    content = bytearray(avro(tmp_path, codec, [50] * 3).read_bytes())
    begin = content.index(b"avro.schema") + 150
    for at in range(begin, len(content)):
        damaged = bytes(content[:at]) + bytes([content[at] ^ 0xFF]) + bytes(content[at + 1 :])
        for part in (damaged, damaged[: at + 1]):
            file = io.BytesIO(part)
            file.seek(begin)
            with contextlib.suppress(TooLargeError):
                check_avro_blocks(file, codec, 100)


def test_a_column_of_parquet_has_a_limit(tmp_path):
    path = str(tmp_path / "file.parquet")
    pq.write_table(TEXTS, path, use_dictionary=False)
    with pytest.raises(TooLargeError, match=f"column 's' of row group 0 {REFUSED}"):
        list(batches(path, SCHEMA, 10, most=1_000_000))
    others = pa.schema([("n", pa.int64())])
    assert sum(b.num_rows for b in batches(path, others, 10, most=1_000_000)) == 20
    assert sum(b.num_rows for b in batches(path, SCHEMA, 10, most=3_000_000)) == 20


def test_a_compressed_block_of_orc_has_a_limit(tmp_path):
    path = str(tmp_path / "file.orc")
    orc.write_table(TEXTS, path, compression="zlib", compression_block_size=2**21)
    with pytest.raises(TooLargeError, match=f"a compressed block {REFUSED}"):
        list(orc_batches(path, SCHEMA, most=1_000_000))
    assert sum(b.num_rows for b in orc_batches(path, SCHEMA, most=2**21)) == 20
