"""Operators over rows that wait for event time: restarts, other parallelism, memory or disk."""

from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark.common import Configuration, Row, Types
from pyflink_on_spark.table import Schema, StreamTableEnvironment
from pyflink_on_spark.testing import StreamHarness
from tests.runtime.state_changes import taken_changes
from tests.table.conflicts import ConflictStrategy, resolved

pytestmark = pytest.mark.slow

ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(rt), INTERVAL '10' SECOND))"
TIMES = "window_start, window_end"
MATCH = (
    "SELECT * FROM a MATCH_RECOGNIZE ({} ORDER BY rt{} MEASURES FIRST(v) AS x, LAST(v) AS y, "
    "COUNT(*) AS n, MATCH_ROWTIME() AS t AFTER MATCH SKIP {} PATTERN ({}) {} DEFINE {})"
)
QUERIES = {
    "first row": (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY rt) AS rn FROM a) "
        "WHERE rn = 1"
    ),
    "last row": (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY rt DESC) AS rn "
        "FROM a) WHERE rn = 1"
    ),
    "order": "SELECT k, v FROM a ORDER BY rt",
    "over all rows": "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY rt) FROM a",
    "over some rows": (
        "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY rt ROWS BETWEEN 1 PRECEDING "
        "AND CURRENT ROW) FROM a"
    ),
    "over a time": (
        "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY rt RANGE BETWEEN INTERVAL '9' SECOND "
        "PRECEDING AND CURRENT ROW) FROM a"
    ),
    "tumbling windows": f"SELECT k, SUM(v) FROM {TUMBLE.format('a')} GROUP BY k, {TIMES}",
    "hopping windows": (
        "SELECT k, SUM(v), window_end FROM TABLE(HOP(TABLE a, DESCRIPTOR(rt), INTERVAL '5' SECOND, "
        f"INTERVAL '15' SECOND)) GROUP BY k, {TIMES}"
    ),
    "cumulating windows": (
        "SELECT k, SUM(v), window_end FROM TABLE(CUMULATE(TABLE a, DESCRIPTOR(rt), "
        f"INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY k, {TIMES}"
    ),
    "windows that cannot be sliced": (
        f"SELECT k, STDDEV_POP(DISTINCT v), LISTAGG(DISTINCT k) FROM {TUMBLE.format('a')} "
        f"GROUP BY k, {TIMES}"
    ),
    "sessions": (
        "SELECT k, SUM(v) FROM TABLE(SESSION(TABLE a PARTITION BY k, DESCRIPTOR(rt), "
        f"INTERVAL '4' SECOND)) GROUP BY k, {TIMES}"
    ),
    "sessions in a zone": (
        "SELECT k, SUM(v), window_start FROM TABLE(SESSION(TABLE a PARTITION BY k, "
        f"DESCRIPTOR(ltz), INTERVAL '4' SECOND)) GROUP BY k, {TIMES}"
    ),
    "first rows of windows": (
        "SELECT k, v, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, "
        f"window_end ORDER BY v DESC) AS rn FROM {TUMBLE.format('a')}) WHERE rn <= 1"
    ),
    "join of windows": (
        f"SELECT l.k, l.v, r.v FROM (SELECT * FROM {TUMBLE.format('a')}) l FULL JOIN "
        f"(SELECT * FROM {TUMBLE.format('b')}) r ON l.k = r.k AND "
        "l.window_start = r.window_start AND l.window_end = r.window_end"
    ),
    "join of times": (
        "SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.k = b.k AND "
        "b.rt BETWEEN a.rt - INTERVAL '5' SECOND AND a.rt + INTERVAL '3' SECOND"
    ),
    "matches": MATCH.format(
        "PARTITION BY k", "", "TO NEXT ROW", "A B*? C", "", "B AS B.v > 0, C AS C.v > A.v"
    ),
    "matches of all keys": MATCH.format(
        "", ", v DESC", "PAST LAST ROW", "A+ B", "", "A AS SUM(A.v) < 9"
    ),
    "matches in time": MATCH.format(
        "PARTITION BY k",
        "",
        "TO LAST B",
        "A B{1,3}? C",
        "WITHIN INTERVAL '12' SECOND",
        "C AS C.v > A.v + 2",
    ),
    "join with versions": (
        "SELECT a.k, a.v, c.v FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.rt ON a.k = c.k"
    ),
}
FIRSTS = {
    "first rows of a key": "SELECT k, v FROM a",
    "first groups of a key": "SELECT k, SUM(v) FROM a GROUP BY k, v",
}
"""Queries whose rows are written with ON CONFLICT DO NOTHING."""
QUERIES |= FIRSTS
STEPS = [
    (1, "x", 1, 1_000), (2, "x", 10, 500), (1, "y", 2, 3_000), (1, "x", 3, 2_000), 2_500,
    (2, "y", 20, 4_000), (1, "x", 4, 7_000), (1, "z", 5, 7_000), (2, "x", 30, 6_500), 8_000,
    (1, "y", 6, 9_000), 11_000, (1, "x", 7, 12_000), (1, "x", 8, 12_000), (2, "z", 40, 13_000),
    14_000, (1, "y", 9, 31_000), 33_000, (1, "x", 1, 34_000), 60_000,
]  # fmt: skip


def harness(name, *, disk=False, track=False):
    query = QUERIES[name]

    def define(*streams):
        t_env = StreamTableEnvironment.create(streams[0].get_execution_environment())
        zone = "Asia/Kolkata" if "ltz" in query else "UTC"
        t_env.get_config().set("table.local-time-zone", zone)
        time = "ltz" if "ltz" in query else "rt"
        for table, stream in zip("ab", streams):
            schema = (
                Schema.new_builder()
                .column("k", "STRING NOT NULL")
                .column("v", "INT")
                .column_by_metadata("ltz", "TIMESTAMP_LTZ(3)", "rowtime")
                .column_by_expression("rt", "CAST(ltz AS TIMESTAMP(3))")
                .watermark(time, "SOURCE_WATERMARK()")
            )
            t_env.create_temporary_view(table, t_env.from_data_stream(stream, schema.build()))
        if " c " in query:
            t_env.execute_sql(
                "CREATE TEMPORARY VIEW c AS SELECT k, v, rt FROM (SELECT *, ROW_NUMBER() OVER "
                "(PARTITION BY k ORDER BY rt DESC) AS rn FROM b) WHERE rn = 1"
            )
        table = t_env.sql_query(query)
        if name in FIRSTS:
            return resolved(t_env, table, ConflictStrategy.NOTHING)
        return t_env.to_changelog_stream(table)

    settings = Configuration()
    if disk:
        settings.set_string("state.backend.type", "rocksdb")
    if track:
        settings.set_string("state.changelog.enabled", "true")
    inputs = 2 if any(each in query for each in (" b ", " c ", "TABLE b")) else 1
    types = [ROWS] * inputs
    return StreamHarness(define, inputs, input_types=types, configuration=settings), inputs


def take(running, step, inputs):
    """Takes a step: a row or a watermark."""
    if isinstance(step, int):
        running.push_watermark(step)
    elif step[0] <= inputs:
        into, key, value, time = step
        running.push(Row(key, value), time, into=into)


def results(running):
    return [(str(row.get_row_kind()), *row) for row in running.values()]


def run(name, cut=None, change=(), disk=False):
    """Return the results, with restarts after some steps."""
    running, inputs = harness(name, disk=disk)
    found = []
    running.open()
    for number, step in enumerate(STEPS):
        take(running, step, inputs)
        if number == cut:
            for parallelism in change:
                found += results(running)
                running = running.restart(parallelism=parallelism)
    found += results(running)
    running.close()
    return sorted(found, key=repr)


@pytest.mark.parametrize(
    ("change", "disk"),
    [
        pytest.param((1,), False, id="restart-memory"),
        pytest.param((1,), True, id="restart-disk", marks=pytest.mark.nightly),
        pytest.param((2, 1), False, id="two and one again-memory", marks=pytest.mark.nightly),
        pytest.param((2, 1), True, id="two and one again-disk"),
    ],
)
@pytest.mark.parametrize("name", QUERIES)
def test_a_restart_changes_nothing(name, change, disk):
    expected = run(name)
    assert expected
    for cut in range(0, len(STEPS), 2):
        assert run(name, cut, change, disk) == expected


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("name", QUERIES)
def test_a_checkpoint_of_changes_has_all_changes(name, disk):
    running, inputs = harness(name, disk=disk, track=True)
    with running:
        copies: dict[int, KeyedStateBackend] = {}
        for step in STEPS:
            take(running, step, inputs)
            states = [s for subtask in running._hosts.group for s in subtask.keyed_states()]
            for index, state in enumerate(states):
                copy = copies.setdefault(index, KeyedStateBackend(running.clock))
                copy.restore([pickle.loads(pickle.dumps(taken_changes(state)))])
                assert contents(copy) == contents(state)
        assert copies


def contents(state):
    """Returns all entries and timers."""
    groups = pickle.loads(pickle.dumps(state.snapshot()))
    entries = [entry for group in groups.values() for entry in group.entries]
    timers = [timer for group in groups.values() for timer in group.timers]
    return sorted(entries, key=repr), sorted(timers, key=repr)
