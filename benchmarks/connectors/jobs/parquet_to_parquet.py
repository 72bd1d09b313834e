"""Reads a Parquet file of a number and a text, adds one to the number, and writes Parquet."""

from __future__ import annotations

from benchmarks.connectors.command import main

_AT_ONCE = 4096


def flink(env, options):
    from pyflink.common import Configuration, Row, Types, WatermarkStrategy
    from pyflink.datastream.connectors.file_system import FileSink, FileSource
    from pyflink.datastream.formats.parquet import (
        ParquetBulkWriters,
        ParquetColumnarRowInputFormat,
    )
    from pyflink.table import DataTypes

    fields = [
        DataTypes.FIELD("number", DataTypes.BIGINT()),
        DataTypes.FIELD("text", DataTypes.STRING()),
    ]
    kind = DataTypes.ROW(fields)
    read = ParquetColumnarRowInputFormat(row_type=kind, batch_size=_AT_ONCE)
    source = FileSource.for_bulk_file_format(read, options.input).build()
    write = ParquetBulkWriters.for_row_type(kind, Configuration())
    sink = FileSink.for_bulk_format(options.output, write).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "rows")
    pair = Types.ROW_NAMED(["number", "text"], [Types.LONG(), Types.STRING()])
    stream.map(lambda row: Row(number=row[0] + 1, text=row[1]), pair).sink_to(sink)


def loop(options):
    """Add in Python, as the job does, row by row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = pq.ParquetFile(options.input)
    with pq.ParquetWriter(options.output, source.schema_arrow) as writer:
        for batch in source.iter_batches(_AT_ONCE):
            rows = [{"number": row["number"] + 1, "text": row["text"]} for row in batch.to_pylist()]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, source.schema_arrow))


def arrow(options):
    """Add in Arrow, where no row is a Python object."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    source = pq.ParquetFile(options.input)
    with pq.ParquetWriter(options.output, source.schema_arrow) as writer:
        for batch in source.iter_batches():
            writer.write_batch(batch.set_column(0, "number", pc.add(batch.column(0), 1)))


if __name__ == "__main__":
    main(flink=flink, loop=loop, arrow=arrow)
