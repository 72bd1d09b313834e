"""A changed message becomes a row, nothing, or a ValueError; never another error, and soon."""

from __future__ import annotations

import json
import time

import pytest

from pyflink_on_spark._sql.parser.statements import parse_type
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.tables.formats.format import find_format
from pyflink_on_spark.common import Row, SimpleStringSchema, Types
from pyflink_on_spark.datastream.formats.avro import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
)
from pyflink_on_spark.datastream.formats.csv import CsvRowDeserializationSchema
from pyflink_on_spark.datastream.formats.json import JsonRowDeserializationSchema
from tests.hostile.changes import changed

_SECONDS = 5.0
_COLUMNS = [Types.STRING(), Types.LONG(), Types.DOUBLE(), Types.OBJECT_ARRAY(Types.INT())]
_ROW = Types.ROW_NAMED(["a", "b", "c", "d"], _COLUMNS)
_FIELDS = {
    "text": "STRING",
    "whole": "BIGINT",
    "half": "DOUBLE",
    "exact": "DECIMAL(10, 2)",
    "day": "DATE",
    "at": "TIMESTAMP(3)",
    "yes": "BOOLEAN",
    "many": "ARRAY<INT>",
    "inner": "ROW<x INT, y STRING>",
}
_VALUES = {
    "text": "a\xe9\u20ac",
    "whole": -(2**40),
    "half": 1.5e-7,
    "exact": 12.25,
    "day": "2024-02-29",
    "at": "2024-02-29 12:34:56.789",
    "yes": True,
    "many": [1, 2, 3],
    "inner": {"x": 1, "y": "z"},
}
_JSON = json.dumps(_VALUES).encode()
_CSV = b'"a b",-1099511627776,1.5e-7,12.25,2024-02-29,2024-02-29 12:34:56.789,true,1;2;3,1;z'
_AVRO_SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "a", "type": "string"},
            {"name": "b", "type": ["null", "long"]},
            {"name": "c", "type": {"type": "array", "items": "double"}},
            {"name": "d", "type": {"type": "map", "values": "bytes"}},
        ],
    }
)


def _envelope(**parts):
    return json.dumps(parts).encode()


_TABLES = {
    "json": _JSON,
    "csv": _CSV,
    "raw": b"\x00\x01\x02\x03\x04\x05\x06\x07",
    "avro": None,
    "debezium-json": _envelope(before=_VALUES, after=_VALUES, op="u"),
    "canal-json": _envelope(data=[_VALUES], old=[{"whole": 1}], type="UPDATE"),
    "maxwell-json": _envelope(data=_VALUES, old={"whole": 1}, type="update"),
    "ogg-json": _envelope(before=_VALUES, after=_VALUES, op_type="U"),
}


def table_format(identifier, **options):
    """Return the functions that read and write messages of a format."""
    fields = {"whole": "BIGINT"} if identifier == "raw" else _FIELDS
    schema = Schema(tuple(fields), tuple(map(parse_type, fields.values())))
    keys = {f"{identifier}.{key}": value for key, value in options.items()}
    found, own = find_format(TableOptions({"format": identifier, **keys}))
    return found.decoder(schema, own, "UTC").load(), found.encoder(schema, own, "UTC").load()


def check(decode, message, seeds, *, lenient=False):
    """Decode changed messages; return how many were refused."""
    refused = 0
    for seed, content in changed(message, seeds):
        begun = time.monotonic()
        try:
            decode(content)
        except ValueError as error:
            if lenient or not str(error):
                raise AssertionError(f"seed {seed}: {content!r}") from error
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {content!r}") from error
        assert time.monotonic() - begun < _SECONDS, (seed, content)
    return refused


@pytest.mark.parametrize("identifier", _TABLES)
def test_messages_of_tables(identifier, hostile_seeds):
    read, write = table_format(identifier)
    message = _TABLES[identifier]
    if message is None:
        row = next(table_format("json")[0](iter([_JSON])))
        message = next(write(iter([row])))
    assert list(read(iter([message])))
    assert check(lambda content: list(read(iter([content]))), message, hostile_seeds)


@pytest.mark.parametrize(
    "identifier", ["json", "csv", "debezium-json", "canal-json", "maxwell-json", "ogg-json"]
)
def test_messages_that_may_be_skipped(identifier, hostile_seeds):
    read, _ = table_format(identifier, **{"ignore-parse-errors": "true"})
    message = _TABLES[identifier]
    assert list(read(iter([message])))
    check(lambda content: list(read(iter([content]))), message, hostile_seeds, lenient=True)


def _streams():
    avro = AvroRowSerializationSchema(avro_schema_string=_AVRO_SCHEMA)._serializer()
    record = Row(a="text", b=2**40, c=[0.5, 1.5], d={"k": b"v"})
    text = b'{"a": "x\\u20ac", "b": -7, "c": 0.5, "d": [1, 2]}'
    return {
        "json": (JsonRowDeserializationSchema.builder().type_info(_ROW).build(), text),
        "csv": (CsvRowDeserializationSchema.Builder(_ROW).build(), b'"x y",-7,0.5,1;2'),
        "avro": (AvroRowDeserializationSchema(avro_schema_string=_AVRO_SCHEMA), avro(record)),
        "text": (SimpleStringSchema(), "x\u20acy".encode()),
    }


@pytest.mark.parametrize("name", ["json", "csv", "avro", "text"])
def test_messages_of_streams(name, hostile_seeds):
    schema, message = _streams()[name]
    decode = schema._deserializer()
    assert decode(message) is not None
    assert bool(check(decode, message, hostile_seeds)) is (name != "text")


@pytest.mark.parametrize("identifier", ["json", "debezium-json", "canal-json"])
@pytest.mark.parametrize("deep", ["[", '{"a":', '{"inner":'])
def test_deeply_nested_messages(identifier, deep):
    read, _ = table_format(identifier)
    with pytest.raises(ValueError, match="nested too deeply"):
        list(read(iter([deep.encode() * 200_000])))


@pytest.mark.parametrize("identifier", ["csv", "json"])
@pytest.mark.parametrize("broken", [b'"open', b"\xff", b'{"text": "open'])
def test_a_broken_message_leaves_others_alone(identifier, broken):
    good = _TABLES[identifier]
    read, _ = table_format(identifier, **{"ignore-parse-errors": "true"})
    rows = [row for row in read(iter([good, broken, good, good])) if row[1] is not None]
    assert rows == list(read(iter([good]))) * 3
