"""`table.exec.state.ttl`: keys that nothing has changed for so long are forgotten."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Row, Types
from pyflink_on_spark.table import StreamTableEnvironment
from pyflink_on_spark.testing import StreamHarness

TTL = 10_000
ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])


def harness(query, inputs, ttl=TTL, snapshot=None):
    """Returns a harness around a query over the tables a, b and so on."""

    def define(*streams):
        t_env = StreamTableEnvironment.create(streams[0].get_execution_environment())
        t_env.get_config().set("table.exec.state.ttl", f"{ttl} ms")
        for name, stream in zip("ab", streams):
            t_env.create_temporary_view(name, stream)
        return t_env.to_changelog_stream(t_env.sql_query(query))

    return StreamHarness(define, inputs, input_types=[ROWS] * inputs, snapshot=snapshot)


def push(running, values, at, into=1):
    """Returns the changes that a row makes at some time."""
    running.set_processing_time(at)
    running.output()
    before = len(running.values())
    running.push(Row(*values), into=into)
    return [(str(row.get_row_kind()), *row) for row in running.values()[before:]]


OVER = (
    "SELECT k, {} OVER (PARTITION BY k ORDER BY p ROWS BETWEEN {} PRECEDING AND CURRENT ROW) AS s "
    "FROM (SELECT k, v, PROCTIME() AS p FROM a)"
)
JOIN = "SELECT a.k, a.v AS v1, b.v AS v2 FROM a {} JOIN b ON a.k = b.k"


def test_a_joined_row_is_there_until_its_time_is_over():
    with harness(JOIN.format(""), 2) as running:
        assert push(running, ("x", 1), at=0) == []
        assert push(running, ("x", 2), at=TTL - 1, into=2) == [("+I", "x", 1, 2)]
        # The left side is forgotten, the right side is not.
        assert push(running, ("x", 3), at=TTL + 1, into=2) == []
        assert push(running, ("x", 4), at=TTL + 2) == [("+I", "x", 4, 2), ("+I", "x", 4, 3)]


def test_rows_that_come_later_are_kept_and_others_go():
    with harness(JOIN.format(""), 2) as running:
        push(running, ("x", 1), at=0)
        push(running, ("y", 1), at=0)
        push(running, ("x", 2), at=6_000)
        assert push(running, ("y", 9), at=TTL, into=2) == []
        assert push(running, ("x", 9), at=TTL + 5_999, into=2) == [("+I", "x", 2, 9)]
        assert push(running, ("x", 8), at=TTL + 6_000, into=2) == []


def test_an_outer_join_forgets_that_a_row_had_no_partner():
    with harness(JOIN.format("LEFT"), 2) as running:
        assert push(running, ("x", 1), at=0) == [("+I", "x", 1, None)]
        assert push(running, ("x", 2), at=TTL, into=2) == []
        assert push(running, ("x", 3), at=TTL + 1) == [("+I", "x", 3, 2)]


@pytest.mark.parametrize(
    ("query", "first", "second", "restarted"),
    [
        (
            OVER.format("SUM(v)", "UNBOUNDED"),
            [("+I", "x", 1)], [("+I", "x", 3)], [("+I", "x", 4)],
        ),
        (
            OVER.format("COUNT(*)", 5),
            [("+I", "x", 1)], [("+I", "x", 2)], [("+I", "x", 1)],
        ),
        (
            "SELECT k, SUM(v) AS s FROM a GROUP BY k",
            [("+I", "x", 1)], [("-U", "x", 1), ("+U", "x", 3)], [("+I", "x", 4)],
        ),
    ],
)  # fmt: skip
def test_functions_over_rows_and_groups_begin_again(query, first, second, restarted):
    with harness(query, 1) as running:
        assert push(running, ("x", 1), at=0) == first
        assert push(running, ("x", 2), at=9_000) == second
        assert push(running, ("x", 4), at=9_000 + TTL) == restarted


def test_without_a_time_nothing_is_forgotten():
    with harness(JOIN.format(""), 2, ttl=0) as running:
        push(running, ("x", 1), at=0)
        assert push(running, ("x", 2), at=10**12, into=2) == [("+I", "x", 1, 2)]


def test_what_a_checkpoint_brings_back_is_as_old_as_it_was():
    with harness(JOIN.format(""), 2) as running:
        push(running, ("x", 1), at=0)
        running.set_processing_time(TTL // 2)
        snapshot = running.snapshot()
    with harness(JOIN.format(""), 2, snapshot=snapshot) as running:
        assert push(running, ("x", 2), at=TTL - 1, into=2) == [("+I", "x", 1, 2)]
        assert push(running, ("x", 3), at=TTL, into=2) == []
