"""Converts the CSV file of some tide gauges to Parquet.

    python -m pyflink_on_spark examples/csv_to_parquet.py --output FOLDER [--input FILE] [--jar JAR]

Rows without a level are left out. PyFlink needs the jar of flink-sql-parquet for this; here it is
not needed.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from pyflink.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink.datastream.formats.parquet import ParquetBulkWriters
from pyflink.table import DataTypes

DEFAULT_INPUT = Path(__file__).resolve().parent / "data" / "tide_gauges.csv"

CSV = (
    CsvSchema.builder()
    .add_string_column("station")
    .add_string_column("measured")
    .add_number_column("level_cm", number_type=DataTypes.DOUBLE())
    .add_array_column("tags", ";", element_type=DataTypes.STRING())
    .set_use_header()
    .set_allow_comments()
    .set_null_value("")
    .build()
)
PARQUET = DataTypes.ROW(
    [
        DataTypes.FIELD("station", DataTypes.STRING()),
        DataTypes.FIELD("measured", DataTypes.TIMESTAMP(3)),
        DataTypes.FIELD("level_m", DataTypes.DECIMAL(5, 3)),
        DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.STRING())),
    ]
)
MEASUREMENT = Types.ROW_NAMED(
    ["station", "measured", "level_m", "tags"],
    [Types.STRING(), Types.SQL_TIMESTAMP(), Types.BIG_DEC(), Types.BASIC_ARRAY(Types.STRING())],
)


def to_metres(row):
    station, measured, level, tags = row
    moment = datetime.strptime(measured, "%Y-%m-%d %H:%M")  # noqa: DTZ007 - harbour time
    return Row(station, moment, round(Decimal(level) / 100, 3), list(tags or []))


def convert(input_path, output_path, jar=None):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    if jar is not None:
        env.add_jars(Path(jar).resolve().as_uri())
    csv = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(CSV), input_path).build()
    parquet = (
        FileSink.for_bulk_format(output_path, ParquetBulkWriters.for_row_type(PARQUET))
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .build()
    )
    (
        env.from_source(csv, WatermarkStrategy.no_watermarks(), "tide gauges")
        .filter(lambda row: row[2] is not None)
        .map(to_metres, output_type=MEASUREMENT)
        .sink_to(parquet)
    )
    env.execute("CSV to Parquet")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Converts the CSV file of some tide gauges.")
    parser.add_argument("--input", type=Path, default=DEFAULT_INPUT)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jar")
    arguments = parser.parse_args()
    convert(str(arguments.input.resolve()), str(arguments.output.resolve()), arguments.jar)
