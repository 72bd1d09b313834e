"""Which changes each node makes, and whether updates carry what a row was before."""

from __future__ import annotations

import pytest

from pyflink_on_spark._sql.errors import TableError
from tests.sql.planner.plans import explained, physical

TOP = (
    "SELECT k, n FROM (SELECT k, {value} AS n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order})"
    " AS r FROM orders) WHERE r {range}"
)
COUNTS = "SELECT k, COUNT(*) AS n FROM orders GROUP BY k"


def modes(text, batch=False):
    """The kinds of changes of each node, from the sink on."""
    found = []
    for line in explained(text, batch):
        name = line.lstrip(" +-").split("(")[0]
        found.append((name, line.rsplit("changelogMode=[", 1)[1].rstrip("])")))
    return found


@pytest.mark.parametrize(
    ("query", "made"),
    [
        ("SELECT id FROM orders WHERE v > 1", "I"),
        (COUNTS, "I,UB,UA"),
        (f"SELECT n, COUNT(*) FROM ({COUNTS}) GROUP BY n", "I,UB,UA,D"),
        (f"SELECT * FROM ({COUNTS}) WHERE n > 2", "I,UB,UA"),
        ("SELECT * FROM upserts", "I,UB,UA,D"),
        (TOP.format(value="v", order="v", range="<= 2"), "I,UB,UA,D"),
        (TOP.format(value="v", order="p", range="= 1"), "I"),
        (TOP.format(value="v", order="p DESC", range="= 1"), "I,UB,UA"),
        (TOP.format(value="v", order="t", range="= 1"), "I"),
        (TOP.format(value="v", order="t DESC", range="= 1"), "I,UB,UA"),
        ("SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY t) FROM orders", "I"),
        ("SELECT o.k, w FROM orders o JOIN payments p ON o.id = p.id", "I"),
        ("SELECT o.k, w FROM orders o LEFT JOIN payments p ON o.id = p.id", "I,D"),
        ("SELECT k FROM orders WHERE id IN (SELECT id FROM payments)", "I"),
        ("SELECT k FROM orders WHERE NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = orders.id)",
         "I,D"),
        (("SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(t), INTERVAL '1' HOUR))"
         " GROUP BY k, window_start, window_end"), "I"),
        ("SELECT k FROM orders UNION SELECT k FROM payments", "I,UB,UA"),
    ],
)  # fmt: skip
def test_the_changes_of_a_query(query, made):
    assert modes(query)[1][1] == made


def test_batch_mode_has_inserts_only():
    query = f"SELECT n, COUNT(*) FROM ({COUNTS}) GROUP BY n"
    assert {made for _, made in modes(query, batch=True)} == {"I"}


@pytest.mark.parametrize(
    ("sink", "query", "made"),
    [
        # An upsert sink with the key of the query needs no UPDATE_BEFORE, nor does the aggregate.
        ("keyed", COUNTS, {"Sink": "I,UA", "GroupAggregate": "I,UA"}),
        # A filter has to know: the row that no longer passes is taken back.
        ("keyed", f"SELECT * FROM ({COUNTS}) WHERE n > 2", {"GroupAggregate": "I,UB,UA"}),
        # An aggregate over updates subtracts what a row was before.
        ("result", f"SELECT n, SUM(n) FROM ({COUNTS}) GROUP BY n", {"GroupAggregate": "I,UB,UA"}),
    ],
)
def test_who_needs_what_a_row_was_before(sink, query, made):
    deepest = dict(modes(query if sink == "result" else f"INSERT INTO {sink} {query}"))
    assert {name: deepest[name] for name in made} == made


def test_what_one_of_two_readers_needs_is_there_for_both():
    upserts, sums = physical(
        f"INSERT INTO keyed {COUNTS}",
        f"SELECT SUM(n) FROM ({COUNTS})",
    )
    shared = upserts.inputs[0].inputs[0]
    assert shared.name == "GroupAggregate"
    assert shared.emits_update_before
    assert sums.inputs[0].inputs[0].inputs[0] is shared


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"INSERT INTO inserts {COUNTS}",
         "doesn't support consuming update changes which is produced by node GroupAggregate"),
        ((f"SELECT n, ROW_NUMBER() OVER (PARTITION BY n ORDER BY p) FROM"
         f" (SELECT *, PROCTIME() AS p FROM ({COUNTS}))"),
         "doesn't support consuming update changes which is produced by node GroupAggregate"),
    ],
)  # fmt: skip
def test_changes_that_a_node_cannot_take(query, message):
    with pytest.raises(TableError, match=message):
        physical(query)
