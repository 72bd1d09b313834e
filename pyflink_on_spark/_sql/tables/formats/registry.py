"""Finds formats by the option ``format``."""

from __future__ import annotations

import importlib

from pyflink_on_spark._sql.errors import ValidationError, did_you_mean
from pyflink_on_spark._sql.plan.options import Option, TableOptions, text
from pyflink_on_spark._sql.tables.formats.format import Format

_PACKAGE = "pyflink_on_spark._sql.tables.formats"

FORMATS: dict[str, str] = {
    "avro": "avro:AvroFormat",
    "avro-confluent": "avro_confluent:ConfluentAvroFormat",
    "canal-json": "changelog_json:CanalJson",
    "csv": "csv:CsvFormat",
    "debezium-avro-confluent": "avro_confluent:DebeziumAvroFormat",
    "debezium-json": "changelog_json:DebeziumJson",
    "json": "json:JsonFormat",
    "maxwell-json": "changelog_json:MaxwellJson",
    "ogg-json": "changelog_json:OggJson",
    "orc": "columnar:OrcFormat",
    "parquet": "columnar:ParquetFormat",
    "protobuf": "protobuf:ProtobufFormat",
    "raw": "raw:RawFormat",
}
"""The module below this package, and the format in it, for each identifier."""


def find_format(options: TableOptions, key: str = "format") -> tuple[Format, TableOptions]:
    """Return the format that an option names, and the options of that format.

    Args:
        options: the table's.
        key: the option, ``value.format`` for example.

    Raises:
        ValidationError: the option is missing, or there is no such format.
    """
    identifier = options[Option(key, text, required=True)]
    found = FORMATS.get(identifier)
    if found is None:
        raise ValidationError(
            f"Could not find any factory for identifier '{identifier}'"
            f"{did_you_mean(identifier, FORMATS) or '.'} "
            "Available factory identifiers are:\n\n" + "\n".join(sorted(FORMATS))
        )
    module, _, name = found.partition(":")
    loaded: Format = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)()
    prefix = key.removesuffix("format")
    return loaded, options.under(f"{prefix}{identifier}.")
