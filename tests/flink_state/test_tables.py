"""Queries that ran half on real PyFlink, and continue here from its savepoint."""

from __future__ import annotations

from collections import Counter

import pytest

from pyflink_on_spark._job.moving_in import moved_in
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from tests.flink_state.samples import (
    all_results,
    continued,
    first_results,
    home,
    recorded,
    unpacked,
)

BY_ORDER = ("regrouped", "sum of sums", "sums of lines", "joined sums")
"""Queries whose changes depend on the order in which rows of several keys come."""
REFUSED = ("types", "kept types", "joined types")
"""Queries that have another layout in Flink: constants are no keys, columns in another order, and
no columns that only another use of a view needs."""


def rows_in_the_end(lines):
    """Fold changes: the rows of each query that are there when all have come."""
    rows = Counter()
    for line in lines:
        name, _, row = line.partition(" Row(")
        name, _, kind = name.rpartition(" ")
        rows[name, row] += 1 if kind in ("INSERT", "UPDATE_AFTER") else -1
    return {key: count for key, count in rows.items() if count}


def exact(lines):
    return Counter(line for line in lines if not line.startswith(BY_ORDER))


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("name", ["tables", "tables-4096"])
def test_both_halves_give_what_flink_gives_without_a_stop(local_engine, name, parallelism):
    lines = first_results(name) + continued(name, local_engine, parallelism=parallelism)
    assert exact(lines) == exact(all_results("tables"))
    assert rows_in_the_end(lines) == rows_in_the_end(all_results("tables"))


@pytest.mark.parametrize("parallelism", [1, 3])
def test_types_windows_and_joins(local_engine, parallelism):
    options = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    second = continued("more-tables", local_engine, parallelism=parallelism, options=options)
    kinds = tuple(f"{name} {kind}" for name in REFUSED for kind in ("INSERT", "UPDATE"))
    ours = [x for x in first_results("more-tables") + second if not x.startswith(kinds)]
    flinks = [line for line in all_results("more_tables") if not line.startswith(kinds)]
    assert exact(ours) == exact(flinks)
    assert rows_in_the_end(ours) == rows_in_the_end(flinks)


def test_rows_keep_their_age(local_engine):
    second = continued("aging-tables", local_engine, parallelism=3)
    assert Counter(first_results("aging-tables") + second) == Counter(all_results("aging_tables"))


def moved(name, **queries):
    """Convert a savepoint for a job with other queries."""
    with home() as path:
        job = recorded(name, path, queries=queries or None)
        return moved_in(job, unpacked(name, path / "given"), folder(str(path / "ours")))


def test_every_operator_is_taken_over():
    found = moved("tables")
    assert found.refused == []
    taken = [name.partition(":")[2] for name in found.taken]
    kinds = {
        "lines[TableSourceScan]", "GroupAggregate", "Deduplicate", "Rank", "Join",
        "WindowAggregate",
    }  # fmt: skip
    assert kinds == set(taken)


def test_another_layout_is_refused():
    reasons = moved("more-tables").refused
    found = sorted(reason.partition("[")[0].rpartition("'")[2] for reason in reasons)
    assert found == ["Deduplicate", "GroupAggregate", "Join"]
    assert all("is it the same query?" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("name", "query", "reason"),
    [
        ("grouped", "SELECT k, SUM(n) FROM lines GROUP BY k",
            "its state 'accState' is a value of row of a table(BIGINT, INT, INT, INT, "),
        ("grouped", "SELECT n, COUNT(*) FROM lines GROUP BY n",
            "its keys are row of a table(STRING), and those of the job are row of a table(INT)"),
        ("grouped", "SELECT k, n FROM lines",
            "the savepoint has 3 of the kind GroupAggregate, and the job has 2 that can take over"),
        ("grouped", "SELECT k, LISTAGG(k) FROM lines GROUP BY k",
            "the accumulators of LISTAGG have another form here"),
        ("top", ("k, t, n FROM (\n            SELECT *", "k, n FROM (\n            SELECT *"),
            "its state 'data-state-with-append' is a map of row of a table(INT) and list("),
        ("last rows", ("DESC", "ASC"),
            "its state 'deduplicate-state' is a value of row of a table(STRING, BIGINT, INT, "),
        ("joined", ("b.n - 3", "b.n"),
            "its rows have other keys than those that the job computes"),
        ("left joined", ("LEFT", ""),
            "and the job keeps row of a table(STRING, INT): is it the same query?"),
        ("windows", ("TUMBLE(TABLE lines, DESCRIPTOR(w),",
            "CUMULATE(TABLE lines, DESCRIPTOR(w), INTERVAL '1' SECOND,"),
            "cumulating windows keep the rows of their slices in another place here"),
    ],
)  # fmt: skip
def test_another_query_is_refused(name, query, reason):
    found = moved("tables", **{name: query})
    assert any(reason in why for why in found.refused), found.refused
