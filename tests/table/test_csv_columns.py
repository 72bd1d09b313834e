"""Lines of CSV are read by columns where they can be, with the results of reading each line."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.tables.formats.csv import CsvDecoder, CsvDialect, column_rows
from pyflink_on_spark._sql.types import logical

TYPES = (logical.INT, logical.STRING, logical.timestamp(3), logical.DOUBLE, logical.DATE)
SCHEMA = Schema(tuple("abcde"), TYPES)
PLAIN = CsvDialect()
USUAL = [
    "1,x,2024-01-01 00:00:00.123,1.5,2024-02-29",
    "-7,,1969-12-31 23:59:59.9876,-1.25,2024-01-01",
    " 3,é,2024-01-01 00:00:00,1e300,1970-01-01",
    "3,é,2024-01-01 00:00:00.1,-0.0,1970-01-01",
]
UNUSUAL = {
    "quotes": ['1,"x,y",2024-01-01 00:00:00.123,1.5,2024-02-29'],
    "a line break in quotes": ['1,"x\ny",2024-01-01 00:00:00.123,1.5,2024-02-29'],
    "a quote inside": ['1,x"y,2024-01-01 00:00:00.123,1.5,2024-02-29'],
    "no number": ["1,x,2024-01-01 00:00:00.123,NaN,2024-02-29"],
    "blanks": ["\x001,x,2024-01-01 00:00:00.123,\x001.5,2024-02-29"],
    "digits of other languages": ["\u0661,x,2024-01-01 00:00:00.123,1.5,2024-02-29"],
    "a timestamp with blanks": ["1,x, 2024-01-01 01:00:00 ,1.5,2024-02-29"],
    "midnight": ["1,x,2024-01-01 24:00:00,1.5,2024-02-29"],
}
WRONG = {
    "too few fields": "1,x,2024-01-01 00:00:00.123,1.5",
    "fields that others lack": "1,x,2024-01-01 00:00:00.123,1.5,2024-02-29,more",
    "no number": "one,x,2024-01-01 00:00:00.123,1.5,2024-02-29",
    "a number that is too large": "2147483648,x,2024-01-01 00:00:00.123,1.5,2024-02-29",
    "an empty line": "",
    "an underscore": "1_0,x,2024-01-01 00:00:00.123,1.5,2024-02-29",
    "an underscore in a fraction": "1,x,2024-01-01 00:00:00.123,1_0.5,2024-02-29",
    "no number for Java": "1,x,2024-01-01 00:00:00.123,inf,2024-02-29",
    "no timestamp": "1,x,2024-01-01T00:00:00.123,1.5,2024-02-29",
    "a fraction of letters": "1,x,2024-01-01 00:00:00.a,1.5,2024-02-29",
}


def reading(lines, dialect=PLAIN, kept=None, schema=SCHEMA):
    decode = CsvDecoder(schema, dialect, kept).load()
    return list(decode(iter(lines)))


def one_by_one(lines, dialect=PLAIN, kept=None, schema=SCHEMA):
    return list(CsvDecoder(schema, dialect, kept)._one_by_one()(iter(lines)))


def by_columns(lines, dialect=PLAIN, kept=(0, 1, 2, 3, 4)):
    return list(column_rows(TYPES, kept, dialect)(list(lines)))


def shown(rows):
    return list(map(repr, rows))


@pytest.mark.parametrize("kept", [(0, 1, 2, 3, 4), (2,), (3, 0), ()])
def test_usual_lines(kept):
    found = by_columns(USUAL, kept=kept)
    assert len(found) == len(USUAL)
    assert shown(found) == shown(one_by_one(USUAL, kept=kept)) == shown(reading(USUAL, kept=kept))
    messages = [line.encode() for line in USUAL]
    assert shown(by_columns(messages, kept=kept)) == shown(found)


def test_fractions_are_cut():
    ((time,),) = by_columns(["1,x,1969-12-31 23:59:59.9876,0,1970-01-01"], kept=(2,))
    assert time == -13_000


@pytest.mark.parametrize("lines", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_lines(lines):
    lines = [USUAL[0], *lines, USUAL[1]]
    with pytest.raises(ValueError, match=r"."):
        by_columns(lines)
    assert shown(reading(lines)) == shown(one_by_one(lines))
    assert len(reading(lines)) >= 2


@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG)
def test_wrong_lines(line):
    before = []
    rows = CsvDecoder(SCHEMA, PLAIN).load()(iter([*USUAL, line]))
    with pytest.raises(ValueError, match="Failed to deserialize CSV row"):
        before.extend(rows)
    assert len(before) == len(USUAL)
    lenient = CsvDialect(lenient=True)
    assert shown(reading([line], lenient)) == shown(one_by_one([line], lenient))


def test_null_literals():
    dialect = CsvDialect(null="n")
    lines = ["n,n,n,n,n", USUAL[0]]
    assert by_columns(lines, dialect) == one_by_one(lines, dialect)
    assert by_columns(lines, dialect)[0] == (None,) * 5


@pytest.mark.parametrize(
    "dialect",
    [
        CsvDialect(delimiter=";"),
        CsvDialect(quote=None),
        CsvDialect(escape="\\"),
        CsvDialect(comments=True),
    ],
)
def test_dialects(dialect):
    lines = [line.replace(",", dialect.delimiter) for line in ('1,"x",', "2,y,", "3,\\,,", "#,#,")]
    lines = [f"{line[:-1]}{dialect.delimiter}z" for line in lines]
    schema = Schema(tuple("abc"), (logical.STRING,) * 3)
    lenient = CsvDialect(**{**vars(dialect), "lenient": True})
    assert reading(lines, lenient, schema=schema) == one_by_one(lines, lenient, schema=schema)


def test_a_column_that_nobody_reads_may_be_wrong():
    line = "1,x,no time,1.5,2024-02-29"
    assert reading([line], kept=(0, 3)) == [(1, 1.5)]
    assert reading([line, f'2,"x",{line[4:]}'], kept=(0, 3)) == [(1, 1.5), (2, 1.5)]


def test_single_columns():
    schema = Schema(("a",), (logical.STRING,))
    assert reading(["x", "", "y"], schema=schema) == [("x",), ("",), ("y",)]
