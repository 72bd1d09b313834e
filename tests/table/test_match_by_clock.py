"""MATCH_RECOGNIZE in the order of processing time: the clock, restarts, other parallelism."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration, Row, Types
from pyflink_on_spark.table import Schema, StreamTableEnvironment
from pyflink_on_spark.testing import StreamHarness

pytestmark = pytest.mark.slow

ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
MATCH = (
    "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY p{} MEASURES A.v AS x, C.v AS y "
    "{} PATTERN (A B*? C) {} DEFINE C AS C.v > A.v)"
)
STEPS = [0, ("x", 9), ("y", 1), 400, ("x", 3), ("x", 5), ("y", 4), 900, ("x", 1), 1_100, ("y", 7),
         2_500, ("x", 2), ("y", 8), ("y", 9), 6_000]  # fmt: skip


def harness(order, after, within, disk):
    def define(stream):
        t_env = StreamTableEnvironment.create(stream.get_execution_environment())
        schema = (
            Schema.new_builder()
            .column("k", "STRING")
            .column("v", "INT")
            .column_by_expression("p", "PROCTIME()")
        )
        t_env.create_temporary_view("a", t_env.from_data_stream(stream, schema.build()))
        return t_env.to_data_stream(t_env.sql_query(MATCH.format(order, after, within)))

    settings = Configuration()
    if disk:
        settings.set_string("state.backend.type", "rocksdb")
    return StreamHarness(define, input_types=[ROWS], configuration=settings)


def run(order, after, within, cut=None, change=(), disk=False):
    """Return the results, each with the time of the clock, and the size of the remaining state."""
    running = harness(order, after, within, disk)
    found, seen = [], 0
    running.open()
    for number, step in enumerate(STEPS):
        if isinstance(step, int):
            now = step
            running.set_processing_time(step)
        else:
            running.push(Row(*step))
        found += [(now, *row) for row in running.values()[seen:]]
        seen = len(running.values())
        if number == cut:
            for parallelism in change:
                running, seen = running.restart(parallelism=parallelism), 0
    left = running.state_entries()
    running.close()
    return found, left


ONE_SECOND = "WITHIN INTERVAL '1' SECOND"
CASES = {
    "any time": (
        ("", "AFTER MATCH SKIP PAST LAST ROW", ""),
        [(400, "y", 1, 4), (2_500, "y", 7, 8)],
    ),
    "one second": (
        ("", "AFTER MATCH SKIP TO NEXT ROW", ONE_SECOND),
        [(400, "y", 1, 4), (1_100, "x", 3, 5), (1_100, "y", 4, 7), (2_500, "y", 8, 9)],
    ),
    "order of one millisecond": (
        (", v DESC", "AFTER MATCH SKIP TO NEXT ROW", ONE_SECOND),
        [(900, "y", 1, 4), (2_500, "y", 4, 7)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_matches_come_when_the_clock_allows(name):
    query, expected = CASES[name]
    found, left = run(*query)
    assert found == expected
    assert (left > 0) is (name == "any time")


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("change", [(1,), (2, 1)], ids=["restart", "two and one again"])
@pytest.mark.parametrize("name", CASES)
def test_a_restart_changes_nothing(name, change, disk):
    query, _ = CASES[name]
    found, left = run(*query)
    for cut in range(len(STEPS)):
        again, left_again = run(*query, cut, change, disk)
        assert (sorted(again), left_again) == (sorted(found), left)
