"""Formats of tables read back all that they write: all types, NULL and unusual texts."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._sql.plan.nodes import INSERT, Schema
from pyflink_on_spark._sql.plan.options import TableOptions
from pyflink_on_spark._sql.tables.formats.format import find_format
from pyflink_on_spark._sql.types import logical
from tests.effort import share

pytestmark = pytest.mark.slow

CHANGELOGS = ("debezium-json", "canal-json", "maxwell-json", "ogg-json")
NULL = "\\N"
FIRST_DAY = datetime.date(1, 1, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
LAST_DAY = datetime.date(9999, 12, 31).toordinal() - datetime.date(1970, 1, 1).toordinal()
DAY = 86_400_000_000
TEXTS = st.text(
    st.one_of(st.sampled_from("\",;|\n\r\t\\' #a\x00é€𐍈\u2028\x85"), st.characters(codec="utf-8")),
    max_size=30,
)


def moments(kind, digits, nanos):
    unit = 10 ** (6 - min(digits, 6))
    values = st.integers(FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1)
    if nanos:  # rounding down leaves a second of room
        values = st.integers(-(2**63) // 1000 + 1_000_000, 2**63 // 1000 - 1)
    return st.tuples(st.just(kind(digits)), st.just(values.map(lambda v: v // unit * unit)))


def decimals(precision, scale):
    most = 10**precision - 1
    return st.tuples(st.just(logical.decimal(precision, scale)), st.just(st.integers(-most, most)))


def whole(kind, bits):
    return st.tuples(st.just(kind), st.just(st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)))


def fixed(kind, values):
    return st.tuples(st.just(kind), st.just(values))


SINGLES = st.floats(width=32, allow_nan=False)
MILLIS = st.integers(0, 86_399_999).map(lambda v: v * 1000)


def simple(digits=9, *, time=True, zones=True, nanos=False):
    """Makes types that are not nested, with values.

    Args:
        digits: the highest precision of timestamps.
        time: whether TIME is among them.
        zones: whether TIMESTAMP_LTZ is among them.
        nanos: whether timestamps have to fit into 64 bits of nanoseconds, as in Arrow's ORC.
    """
    return st.one_of(
        whole(logical.TINYINT, 8), whole(logical.SMALLINT, 16), whole(logical.INT, 32),
        whole(logical.BIGINT, 64),
        fixed(logical.BOOLEAN, st.booleans()),
        fixed(logical.FLOAT, SINGLES),
        fixed(logical.DOUBLE, st.floats(allow_nan=False)),
        st.integers(1, 38).flatmap(lambda p: st.integers(0, p).flatmap(lambda s: decimals(p, s))),
        fixed(logical.STRING, TEXTS),
        fixed(logical.varbinary(100), st.binary(max_size=20)),
        fixed(logical.DATE, st.integers(FIRST_DAY, LAST_DAY)),
        *([fixed(logical.time(3), MILLIS)] if time else ()),
        st.integers(0, digits).flatmap(lambda found: moments(logical.timestamp, found, nanos)),
        *([st.integers(0, digits).flatmap(
            lambda found: moments(logical.timestamp_ltz, found, nanos)
        )] if zones else ()),
    )  # fmt: skip


def nested(inner):
    def array(found):
        kind, values = found
        return logical.array(kind), st.lists(st.none() | values, max_size=4).map(tuple)

    def row(found):
        names = tuple(f"f{i}" for i in range(len(found)))
        values = st.tuples(*[st.none() | values for _, values in found])
        return logical.row(names, tuple(kind for kind, _ in found)), values

    def mapping(found):
        kind, values = found
        return logical.mapping(logical.STRING, kind), st.dictionaries(
            TEXTS, st.none() | values, max_size=3
        )

    return st.one_of(
        inner.map(array), st.lists(inner, min_size=1, max_size=3).map(row), inner.map(mapping)
    )


def any_type(**limits):
    return st.recursive(simple(**limits), nested, max_leaves=4)


@st.composite
def tables(draw, columns):
    found = draw(st.lists(columns, min_size=1, max_size=5))
    schema = Schema(tuple(f"c{i}" for i in range(len(found))), tuple(kind for kind, _ in found))
    values = [st.none() | each for _, each in found]
    return schema, draw(st.lists(st.tuples(*values), max_size=8))


def read_back(folder, identifier, schema, rows, **options):
    """Writes rows to a file as the sink does, and reads them as the source does."""
    path = folder / "file"
    keys = {f"{identifier}.{key.replace('_', '-')}": value for key, value in options.items()}
    form, own = find_format(TableOptions({"format": identifier, **keys}))
    bulk = form.file_output(schema, own, "UTC")
    with open(path, "wb") as file:
        if bulk is None:
            given_rows = [(INSERT, row) for row in rows] if identifier in CHANGELOGS else rows
            file.writelines(
                (message.encode() if type(message) is str else message) + b"\n"
                for message in form.encoder(schema, own, "UTC").load()(iter(given_rows))
            )
        else:
            writer, convert = bulk.open(file), bulk.converter()
            writer.write([convert(row) for row in rows])
            writer.finish()
    split = FileSplit(str(path))
    records = form.file_input(schema, own, "UTC")
    if records is not None:
        return [row for bundle in records.read(split) for row in bundle.values]
    decode = form.decoder(schema, own, "UTC").load()
    found = []
    for bundle in form.file_messages(own).read(split):
        found += decode(iter(bundle.values))
    return [row for _, row in found] if identifier in CHANGELOGS else found


RUN = settings(
    max_examples=share(40),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@RUN
@given(table=tables(simple()))
def test_csv(folder, table):
    schema, rows = table
    rows = [tuple(None if value == NULL else value for value in row) for row in rows]
    assert repr(read_back(folder, "csv", schema, rows, null_literal=NULL)) == repr(rows)


@pytest.mark.parametrize("identifier", ["json", *CHANGELOGS])
@RUN
@given(data=st.data())
def test_json(folder, identifier, data):
    schema, rows = data.draw(tables(any_type()))
    assert repr(read_back(folder, identifier, schema, rows)) == repr(rows)


LIMITS = {
    "parquet": {},
    "orc": {"time": False, "nanos": True},
    "avro": {"digits": 3, "zones": False},
}


@pytest.mark.parametrize("identifier", LIMITS)
@RUN
@given(data=st.data())
def test_files(folder, identifier, data):
    schema, rows = data.draw(tables(any_type(**LIMITS[identifier])))
    assert repr(read_back(folder, identifier, schema, rows)) == repr(rows)
