"""State of all operators over rows: time to live, restarts, other parallelism, memory or disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark.common import Configuration, Row, RowKind, Types
from pyflink_on_spark.table import ChangelogMode, DataTypes, Schema, StreamTableEnvironment
from pyflink_on_spark.table.expressions import col
from pyflink_on_spark.table.udf import TableAggregateFunction, udtaf
from pyflink_on_spark.testing import StreamHarness
from tests.runtime.state_changes import taken_changes

pytestmark = pytest.mark.slow

TTL = 10_000
ROWS = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
KINDS = {
    "+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE,
}  # fmt: skip


class Smallest(TableAggregateFunction):
    def create_accumulator(self):
        return [None]

    def accumulate(self, accumulator, value):
        if accumulator[0] is None or value < accumulator[0]:
            accumulator[0] = value

    def emit_value(self, accumulator):
        yield Row(accumulator[0])

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.INT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("s", DataTypes.INT())])


@dataclass
class Case:
    """The changes of a query for a row: with remembered earlier rows, and after they expired.

    Args:
        query: SQL over the tables a and b, or a function of the table environment.
        rows: what comes first: input, kind, and columns.
        probe: what comes then.
        remembered: the changes of the probe.
        forgotten: those after the time to live.
        upsert: whether the inputs are upsert streams with the key k.
        key: the primary key by which the result is materialized, if it is.
    """

    query: Any
    rows: list[tuple[Any, ...]]
    probe: tuple[Any, ...]
    remembered: list[tuple[Any, ...]]
    forgotten: list[tuple[Any, ...]]
    upsert: bool = False
    inputs: int = 1
    key: str | None = None


def smallest(t_env):
    function = udtaf(Smallest())
    table = t_env.from_path("a").group_by(col("k"))
    return table.flat_aggregate(function(col("v")).alias("s")).select(col("k"), col("s"))


RANKED = "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM {}"
ARRIVAL = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p {}) AS rn "
    "FROM (SELECT *, PROCTIME() AS p FROM a)) WHERE rn = 1"
)
JOIN = "SELECT a.k, a.v, b.v FROM a {} JOIN b ON a.k = b.k"
FIRST = [(1, "+I", "x", 5)]
CASES = {
    "group aggregate": Case(
        "SELECT k, SUM(v) FROM a GROUP BY k",
        FIRST, (1, "+I", "x", 2),
        [("-U", "x", 5), ("+U", "x", 7)], [("+I", "x", 2)],
    ),
    "distinct": Case(
        "SELECT DISTINCT k FROM a", FIRST, (1, "+I", "x", 2), [], [("+I", "x")],
    ),
    "flat aggregate": Case(
        smallest, FIRST, (1, "+I", "x", 2),
        [("-D", "x", 5), ("+I", "x", 2)], [("+I", "x", 2)],
    ),
    "join": Case(
        JOIN.format(""), FIRST, (2, "+I", "x", 2), [("+I", "x", 5, 2)], [], inputs=2,
    ),
    "left join": Case(
        JOIN.format("LEFT"), FIRST, (2, "+I", "x", 2),
        [("-D", "x", 5, None), ("+I", "x", 5, 2)], [], inputs=2,
    ),
    "full join": Case(
        "SELECT a.v, b.v FROM a FULL JOIN b ON a.k = b.k",
        [(2, "+I", "x", 5), (1, "+I", "x", 6)], (1, "-D", "x", 6),
        [("-D", 6, 5), ("+I", None, 5)], [("-D", 6, None)], inputs=2, upsert=None,
    ),
    "semi join": Case(
        "SELECT k, v FROM a WHERE k IN (SELECT k FROM b)",
        FIRST, (2, "+I", "x", 2), [("+I", "x", 5)], [], inputs=2,
    ),
    "anti join": Case(
        "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.k = a.k)",
        [(2, "+I", "x", 2)], (1, "+I", "x", 5), [], [("+I", "x", 5)], inputs=2,
    ),
    "first rows": Case(
        f"SELECT k, v FROM ({RANKED.format('a')}) WHERE rn <= 1",
        FIRST, (1, "+I", "x", 7), [], [("+I", "x", 7)],
    ),
    "ranks": Case(
        f"SELECT * FROM ({RANKED.format('a')}) WHERE rn <= 2",
        FIRST, (1, "+I", "x", 7), [("+I", "x", 7, 2)], [("+I", "x", 7, 1)],
    ),
    "as many first rows as a column says": Case(
        f"SELECT k, v FROM ({RANKED.format('a')}) WHERE rn <= v",
        [(1, "+I", "x", 1)], (1, "+I", "x", 2), [], [("+I", "x", 2)],
    ),
    "first rows of groups": Case(
        f"SELECT k, v FROM ({RANKED.format('(SELECT k, SUM(v) AS v FROM a GROUP BY k, v)')}) "
        "WHERE rn <= 1",
        FIRST, (1, "+I", "x", 7), [], [("+I", "x", 7)],
    ),
    "limit": Case(
        "SELECT k, v FROM a LIMIT 1", FIRST, (1, "+I", "x", 7), [], [("+I", "x", 7)],
    ),
    "first row": Case(
        ARRIVAL.format("ASC"), FIRST, (1, "+I", "x", 7), [], [("+I", "x", 7)],
    ),
    "last row": Case(
        ARRIVAL.format("DESC"), FIRST, (1, "+I", "x", 7),
        [("-U", "x", 5), ("+U", "x", 7)], [("+I", "x", 7)],
    ),
    "normalize": Case(
        "SELECT k, v FROM a", FIRST, (1, "+U", "x", 7),
        [("-U", "x", 5), ("+U", "x", 7)], [("+I", "x", 7)], upsert=True,
    ),
    "over any order": Case(
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) FROM a",
        FIRST, (1, "+I", "x", 7), [("+I", "x", 12)], [("+I", "x", 7)],
    ),
    "over arrivals": Case(
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY p) "
        "FROM (SELECT *, PROCTIME() AS p FROM a)",
        FIRST, (1, "+I", "x", 7), [("+I", "x", 12)], [("+I", "x", 7)],
    ),
    "upserts of groups": Case(
        "SELECT k, v FROM a", FIRST, (1, "+I", "x", 2),
        [("+U", "x", 2)], [("+I", "x", 2)], key="k",
    ),
    "upserts of changes": Case(
        "SELECT k, v FROM a", [*FIRST, (1, "+I", "x", 6)], (1, "-D", "x", 6),
        [("+U", "x", 5)], [], upsert=None, key="k",
    ),
}  # fmt: skip


def harness(case, *, ttl=TTL, disk=False, track=False):
    """Returns a harness around a query."""

    def define(*streams):
        t_env = StreamTableEnvironment.create(streams[0].get_execution_environment())
        t_env.get_config().set("table.exec.state.ttl", f"{ttl} ms")
        for name, stream in zip("ab", streams):
            schema = Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT")
            if case.upsert is False:
                t_env.create_temporary_view(name, stream)
                continue
            mode = ChangelogMode.all()
            if case.upsert:
                schema, mode = schema.primary_key("k"), ChangelogMode.upsert()
            table = t_env.from_changelog_stream(stream, schema.build(), mode)
            t_env.create_temporary_view(name, table)
        query = case.query
        table = t_env.sql_query(query) if isinstance(query, str) else query(t_env)
        if case.key is None:
            return t_env.to_changelog_stream(table)
        t_env.get_config().set("table.exec.sink.upsert-materialize", "FORCE")
        taken = Schema.new_builder().column("k", "STRING NOT NULL").column("v", "INT")
        keyed = taken.primary_key(case.key).build()
        return t_env.to_changelog_stream(table, keyed, ChangelogMode.upsert())

    settings = Configuration()
    if disk:
        settings.set_string("state.backend.type", "rocksdb")
    if track:
        settings.set_string("state.changelog.enabled", "true")
    types = [ROWS] * case.inputs
    return StreamHarness(define, case.inputs, input_types=types, configuration=settings)


def push(running, row):
    """Returns the changes that a row makes."""
    into, kind, *values = row
    before = len(running.values())
    element = Row(*values)
    element.set_row_kind(KINDS[kind])
    running.push(element, into=into)
    return [(str(row.get_row_kind()), *row) for row in running.values()[before:]]


CHANGES = {
    "no restart": lambda running: running,
    "restart": lambda running: running.restart(),
    "twice as many": lambda running: running.restart(parallelism=2),
    "as many again": lambda running: running.restart(parallelism=3).restart(parallelism=1),
}


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", CASES)
def test_state_lives_as_long_as_it_may(name, change, disk):
    case = CASES[name]
    for at, expected in [(TTL - 1, case.remembered), (TTL, case.forgotten)]:
        with harness(case, disk=disk) as running:
            for row in case.rows:
                push(running, row)
            running = CHANGES[change](running)
            running.set_processing_time(at)
            assert push(running, case.probe) == expected
            running.close()


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_left_of_keys_that_nobody_asks_for(name, disk):
    case = CASES[name]
    with harness(case, disk=disk) as running:
        for key in map(str, range(50)):
            for into, kind, _, *values in case.rows:
                push(running, (into, kind, key, *values))
        running = running.restart()
        assert running.state_entries() > 0
        for tick in range(60):
            running.set_processing_time(tick * TTL // 20)
        assert running.state_entries() == 0
        running.close()


@pytest.mark.parametrize("name", CASES)
def test_without_a_time_to_live_everything_is_kept(name):
    case = CASES[name]
    with harness(case, ttl=0) as running:
        for row in case.rows:
            push(running, row)
        running.set_processing_time(10**12)
        assert push(running, case.probe) == case.remembered


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("ttl", [0, TTL])
@pytest.mark.parametrize("name", CASES)
def test_a_checkpoint_of_changes_has_all_changes(name, ttl, disk):
    case = CASES[name]
    with harness(case, ttl=ttl, disk=disk, track=True) as running:
        rows = [*case.rows, case.probe, *case.rows, (case.probe[0], "+I", "y", 1), case.probe]
        copies: dict[int, KeyedStateBackend] = {}
        for number, row in enumerate(rows):
            running.set_processing_time(number * TTL // 4)
            push(running, row)
            for index, state in enumerate(keyed_states(running)):
                copy = copies.setdefault(index, KeyedStateBackend(running.clock))
                copy.restore([copied(taken_changes(state))])
                assert contents(copy) == contents(state)
        assert copies


def keyed_states(running):
    """Returns the keyed state of each operator."""
    return [state for subtask in running._hosts.group for state in subtask.keyed_states()]


def copied(changes):
    """Returns changes as another process reads them."""
    import pickle

    return pickle.loads(pickle.dumps(changes))


def contents(state):
    """Returns all entries and timers."""
    groups = copied(state.snapshot())
    entries = [entry for group in groups.values() for entry in group.entries]
    timers = [timer for group in groups.values() for timer in group.timers]
    return sorted(entries, key=repr), sorted(timers, key=repr)
