"""Rows as elements of streams: which timestamps they have, and what operators before find."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.runtime.rows import ToRecords
from pyflink_on_spark._sql.types import logical
from tests.runtime.harness import Harness

SCHEMA = Schema(("n", "r"), (logical.BIGINT, logical.timestamp_ltz(3)))


def records(**settings):
    return Harness(ToRecords(SCHEMA, False, ("n", "r"), **settings))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"rowtime": 1}, [7, 8]),
        ({"rowtime": None}, [None, None]),
        ({"rowtime": None, "keeps_timestamps": True}, [1, 2]),
    ],
)
def test_timestamps(settings, expected):
    harness = records(**settings)
    assert len(harness.feed((1, 7_000), (2, 8_000), at=[1, 2])) == 2
    assert harness.timestamps == expected


@pytest.mark.parametrize("rowtime", [None, 1])
def test_operators_before_find_the_timestamp_as_it_was(rowtime):
    harness = records(rowtime=rowtime)
    cursor, found = harness.cursor, []

    def two_results():
        cursor.timestamp = 5
        for number in (1, 2):
            found.append(cursor.timestamp)
            yield number, 9_000

    list(harness.operator.process(two_results()))
    assert found == [5, 5]
