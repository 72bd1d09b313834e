"""The columns that identify a row of a query."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.binder.tables import has_one_row, unique_key
from tests.sql.planner.plans import session_of

RANKED = (
    "SELECT {columns} FROM (SELECT k, v, id, {function}() OVER (PARTITION BY {keys} ORDER BY t)"
    " AS r FROM orders) WHERE {condition}"
)


def key_of(query):
    node = session_of().bind_text(query)
    key = unique_key(node)
    return key if key is None else [node.schema.names[place] for place in sorted(key)]


def ranked(columns="k, v", function="ROW_NUMBER", keys="k", condition="r = 1"):
    return RANKED.format(columns=columns, function=function, keys=keys, condition=condition)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("SELECT * FROM upserts", ["k"]),
        ("SELECT v, k AS name FROM upserts WHERE v > 1", ["name"]),
        ("SELECT v FROM upserts", None),
        ("SELECT UPPER(k), v FROM upserts", None),
        ("SELECT * FROM orders", None),
        ("SELECT COUNT(*), k, v FROM orders GROUP BY v, k", ["k", "v"]),
        ("SELECT COUNT(*) FROM orders GROUP BY v, k", None),
        ("SELECT COUNT(*) FROM orders", None),
        ("SELECT DISTINCT k, v FROM orders", ["k", "v"]),
        ("SELECT k FROM orders UNION ALL SELECT k FROM payments", None),
        (ranked(), ["k"]),
        (ranked(condition="r <= 1 AND v > 3"), ["k"]),
        (ranked(keys="k, id", columns="id, k, v"), ["id", "k"]),
        (ranked(columns="v"), None),
        (ranked(condition="r = 2"), None),
        (ranked(condition="r <= 2"), None),
        (ranked(condition="v = 1"), None),
        (ranked(function="RANK"), None),
        (ranked(function="DENSE_RANK"), None),
        (ranked(keys="k, UPPER(k)"), None),
    ],
)
def test_the_key_of_a_query(query, key):
    assert key_of(query) == key


@pytest.mark.parametrize(
    ("query", "one"),
    [
        ("SELECT COUNT(*) + 1 FROM orders", True),
        ("SELECT COUNT(*) FROM orders GROUP BY k", False),
        ("SELECT k FROM orders", False),
    ],
)
def test_a_query_with_one_row(query, one):
    assert has_one_row(session_of().bind_text(query)) is one
