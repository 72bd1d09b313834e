"""CSV and JSON of streams: all types, NULL and unusual texts; tables read the same messages."""

from __future__ import annotations

import datetime
import decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.tables.formats.format import find_format
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.common import Instant, Row, Types
from pyflink_on_spark.datastream.formats.csv import (
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
)
from pyflink_on_spark.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from tests.effort import share

TEXTS = st.text(
    st.one_of(st.sampled_from("\",;|\n\r\t\\' #a\x00é€𐍈\u2028\x85"), st.characters(codec="utf-8")),
    max_size=30,
)
NULL = "\\N"
BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
EPOCH = datetime.date(1970, 1, 1).toordinal()
SECONDS = st.integers(0, 86_399)


def whole(bits):
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def time_of(seconds):
    return (datetime.datetime.min + datetime.timedelta(seconds=seconds)).time()


NUMBERS = st.decimals(-(10**15), 10**15, places=4)
MOMENTS = st.datetimes(datetime.datetime(1000, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0, fold=0)
)
# A type of streams, one of tables or None, values, and what a table has of a value.
SHARED = [
    (Types.STRING(), logical.STRING, TEXTS, str),
    (Types.BOOLEAN(), logical.BOOLEAN, st.booleans(), bool),
    (Types.BYTE(), logical.TINYINT, whole(8), int),
    (Types.SHORT(), logical.SMALLINT, whole(16), int),
    (Types.INT(), logical.INT, whole(32), int),
    (Types.LONG(), logical.BIGINT, whole(64), int),
    (
        Types.FLOAT(),
        logical.FLOAT,
        st.floats(width=32, allow_nan=False, allow_infinity=False),
        float,
    ),
    (Types.DOUBLE(), logical.DOUBLE, st.floats(allow_nan=False, allow_infinity=False), float),
    (
        Types.BIG_DEC(),
        logical.decimal(38, 18),
        NUMBERS,
        lambda value: int(value.scaleb(18, decimal.Context(60))),
    ),
    (Types.SQL_DATE(), logical.DATE, st.dates(), lambda value: value.toordinal() - EPOCH),
    (BYTES, logical.varbinary(100), st.binary(max_size=20), bytes),
]
# JSON has times of whole seconds, as in Flink.
OWN = [
    (Types.BIG_INT(), st.integers(-(10**30), 10**30)),
    (Types.SQL_TIME(), SECONDS.map(time_of)),
    (Types.SQL_TIMESTAMP(), MOMENTS),
    (Types.INSTANT(), st.integers(-(10**10), 10**10).map(lambda second: Instant(second, 0))),
]
RUN = settings(max_examples=share(60), deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def tables(draw, columns):
    found = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=5))
    rows = draw(st.lists(st.tuples(*[st.none() | each[-1] for each in found]), max_size=6))
    return found, rows


def row_type(kinds):
    kinds = list(kinds)
    return Types.ROW_NAMED([f"c{i}" for i in range(len(kinds))], kinds)


def messages(as_csv, kind, rows):
    if as_csv:
        made = CsvRowSerializationSchema.Builder(kind).set_null_literal(NULL)
        made = made.set_line_delimiter("")
    else:
        made = JsonRowSerializationSchema.builder().with_type_info(kind)
    write = made.build()._serializer()
    found = [write(Row(*row)) for row in rows]
    return [each.encode() if isinstance(each, str) else bytes(each) for each in found]


def read(as_csv, kind, given_messages):
    if as_csv:
        made = CsvRowDeserializationSchema.Builder(kind).set_null_literal(NULL)
    else:
        made = JsonRowDeserializationSchema.builder().type_info(kind)
    parse = made.build()._deserializer()
    return [tuple(parse(each)) for each in given_messages]


def for_csv(rows):
    """Rows that CSV can tell from others: an empty message is no row, and NULL has a text."""
    rows = [tuple(None if value == NULL else value for value in row) for row in rows]
    return [row for row in rows if row not in [("",), (b"",)]]


@RUN
@given(table=tables([(kind, values) for kind, _, values, _ in SHARED] + OWN))
def test_csv(table):
    columns, rows = table
    kind, rows = row_type(kind for kind, _ in columns), for_csv(rows)
    assert repr(read(True, kind, messages(True, kind, rows))) == repr(rows)


def nested(inner):
    def array(found):
        kind, values = found
        return Types.OBJECT_ARRAY(kind), st.lists(st.none() | values, max_size=3)

    def mapping(found):
        kind, values = found
        return Types.MAP(Types.STRING(), kind), st.dictionaries(
            TEXTS, st.none() | values, max_size=3
        )

    def row(found):
        kind = row_type(each for each, _ in found)
        values = st.tuples(*[st.none() | each for _, each in found])
        return kind, values.map(lambda given_values: Row(*given_values))

    return st.one_of(
        inner.map(array), inner.map(mapping), st.lists(inner, min_size=1, max_size=3).map(row)
    )


ANY = st.recursive(
    st.sampled_from([(kind, values) for kind, _, values, _ in SHARED] + OWN), nested, max_leaves=4
)


@RUN
@given(data=st.data())
def test_json(data):
    columns = data.draw(st.lists(ANY, min_size=1, max_size=4))
    kind = row_type(kind for kind, _ in columns)
    rows = data.draw(st.lists(st.tuples(*[st.none() | each for _, each in columns]), max_size=5))
    found = read(False, kind, messages(False, kind, rows))
    assert list(map(plain, found)) == list(map(plain, rows))


def plain(value):
    """A value without the names of rows, and without zeros at the end of decimals."""
    if isinstance(value, (Row, tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return repr(value.normalize() if isinstance(value, decimal.Decimal) else value)


@pytest.mark.parametrize("identifier", ["csv", "json"])
@RUN
@given(table=tables([(*each[:2], each[3], each[2]) for each in SHARED]))
def test_tables_read_what_streams_write_and_the_other_way_round(identifier, table):
    columns, rows = table
    kind, rows, as_csv = row_type(each[0] for each in columns), for_csv(rows), identifier == "csv"
    options = {"format": identifier, **({"csv.null-literal": NULL} if as_csv else {})}
    form, own = find_format(TableOptions(options))
    names = tuple(f"c{i}" for i in range(len(columns)))
    schema = Schema(names, tuple(each[1] for each in columns))

    def inside(found):
        return [
            tuple(None if v is None else each[2](v) for each, v in zip(columns, row, strict=True))
            for row in found
        ]

    decode = form.decoder(schema, own, "UTC").load()
    assert repr(list(decode(iter(messages(as_csv, kind, rows))))) == repr(inside(rows))
    written = form.encoder(schema, own, "UTC").load()(iter(inside(rows)))
    texts = [each.encode() if isinstance(each, str) else each for each in written]
    assert repr(inside(read(as_csv, kind, texts))) == repr(inside(rows))
