"""Reads a CSV file of a number and a text, adds one to the number, and writes CSV."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.connectors.command import main


def flink(env, options):
    from pyflink.common import Row, Types, WatermarkStrategy
    from pyflink.datastream.connectors.file_system import FileSink, FileSource
    from pyflink.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
    from pyflink.table import DataTypes

    schema = (
        CsvSchema.builder()
        .add_number_column("number", number_type=DataTypes.BIGINT())
        .add_string_column("text")
        .build()
    )
    read = CsvReaderFormat.for_schema(schema)
    source = FileSource.for_record_stream_format(read, options.input).build()
    sink = FileSink.for_bulk_format(options.output, CsvBulkWriters.for_schema(schema)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "rows")
    pair = Types.ROW_NAMED(["number", "text"], [Types.LONG(), Types.STRING()])
    stream.map(lambda row: Row(number=row[0] + 1, text=row[1]), pair).sink_to(sink)


def loop(options):
    """Add in Python, as the job does, row by row."""
    with (
        Path(options.input).open(newline="") as source,
        Path(options.output).open("w", newline="") as target,
    ):
        write = csv.writer(target, lineterminator="\n").writerow
        for number, text in csv.reader(source):
            write((int(number) + 1, text))


def arrow(options):
    """Add in Arrow, where no row is a Python object."""
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    names = arrow_csv.ReadOptions(column_names=["number", "text"])
    write = arrow_csv.WriteOptions(include_header=False)
    writer = None
    for batch in arrow_csv.open_csv(options.input, names):
        added = batch.set_column(0, "number", pc.add(batch.column(0), 1))
        writer = writer or arrow_csv.CSVWriter(options.output, added.schema, write_options=write)
        writer.write(added)
    if writer is not None:
        writer.close()


if __name__ == "__main__":
    main(flink=flink, loop=loop, arrow=arrow)
