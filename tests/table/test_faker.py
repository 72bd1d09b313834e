"""The connector faker: expressions of Datafaker, made by the package Faker."""

from __future__ import annotations

import datetime
import random
import re

import pytest

from pyflink_on_spark._sql.tables.connectors import faker_rows
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment
from pyflink_on_spark.testing import local_engine

pytest.importorskip("faker")


@pytest.fixture(autouse=True)
def in_process():
    with local_engine():
        yield


def made(columns, options, rows=20):
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    listed = ", ".join(f"'fields.{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'faker', "
        f"'number-of-rows' = '{rows}', {listed})"
    )
    with t_env.execute_sql("SELECT * FROM t").collect() as results:
        return [tuple(row) for row in results]


def test_values_of_all_types():
    columns = (
        "name STRING, mail STRING, age INT, price DOUBLE, paid BOOLEAN, kind STRING, code STRING, "
        "moment TIMESTAMP(3), born DATE, pair STRING, cost DECIMAL(6, 2)"
    )
    found = made(
        columns,
        {
            "name.expression": "#{Name.fullName}",
            "mail.expression": "#{internet.emailAddress}",
            "age.expression": "#{number.numberBetween ''18'',''20''}",
            "price.expression": "#{number.randomDouble ''2'',''1'',''5''}",
            "paid.expression": "#{bool.bool}",
            "kind.expression": "#{Options.option ''a'',''b'',''c''}",
            "code.expression": "#{regexify ''(x|y){2}[0-9]{3}''}",
            "moment.expression": "#{date.past ''15'',''SECONDS''}",
            "born.expression": "#{date.birthday ''18'',''20''}",
            "pair.expression": "<#{name.first_name}> #{numerify ''##''}",
            "cost.expression": "#{number.numberBetween ''1'',''9''}.25",
        },
    )
    assert len(found) == 20
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    for name, mail, age, price, paid, kind, code, moment, born, pair, cost in found:
        assert name
        assert "@" in mail
        assert age in {18, 19}
        assert 1 <= price <= 5
        assert isinstance(paid, bool)
        assert kind in "abc"
        assert re.fullmatch(r"[xy]{2}\d{3}", code)
        assert now - datetime.timedelta(minutes=20) < moment <= now
        assert 18 * 365 - 1 <= (now.date() - born).days <= 20 * 365 + 1
        assert re.fullmatch(r"<\w+> \d\d", pair)
        assert cost % 1 == cost.__class__("0.25")


def test_nested_values_and_null():
    found = made(
        "a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, n INT",
        {
            "a.expression": "#{number.randomDigit}",
            "a.length": "3",
            "m.key.expression": "#{regexify ''[a-z]{8}''}",
            "m.value.expression": "7",
            "m.length": "2",
            "r.x.expression": "1",
            "r.y.expression": "z",
            "n.expression": "5",
            "n.null-rate": "1",
        },
        rows=2,
    )
    for array, mapping, row, nothing in found:
        assert len(array) == 3
        assert list(mapping.values()) == [7, 7]
        assert (tuple(row), nothing) == ((1, "z"), None)


def test_methods_of_faker():
    faker, seed = faker_rows._faker(), random.Random(1)
    names = [*faker_rows._OTHER_NAMES, *faker_rows._SAME_NAMES]
    assert all(faker_rows._writer(name, [])(seed, faker, [], 0) for name in names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"b.expression": "1"}, "No expression found for a"),
        ({"a.expression": "#{GameOfThrones.character}"}, "GameOfThrones.character} with 0 arg"),
        ({"a.expression": "#{number.numberBetween ''1''}"}, "with 1 arguments"),
        ({"a.expression": "#{name.name"}, "cannot be read"),
        ({"a.expression": "1", "a.size": "2"}, r"Unsupported options:\s+fields.a.size"),
    ],
)
def test_what_is_wrong(options, message):
    with pytest.raises(Exception, match=message):
        made("a STRING", options)
