"""Rows of joined tables that come later than the watermark of their time."""

from __future__ import annotations

import pytest
from pyflink.table.expressions import col, lit

from compat_tests.late_rows import create_sides
from compat_tests.tables import changes

pytestmark = [pytest.mark.one_attempt("a restart sets the watermark back"), pytest.mark.timed]


@pytest.fixture
def sides(paced_env, t_env):
    """A function that runs a query over the rows of two views, `l` and `r`, one after the other."""

    def run(query, rows):
        create_sides(paced_env, t_env, rows)
        found = changes(query(t_env) if callable(query) else t_env.sql_query(query))
        assert {kind for kind, *_ in found} <= {"+I"}
        return sorted((tuple(row) for _, *row in found), key=str)

    return run


PAIRS = [
    ("l", "a", 1, 101000), ("r", "a", 2, 101000), ("r", "a", 3, 105000), ("l", "a", 4, 104000),
    ("l", "a", 5, 103999), ("r", "a", 6, 103000), ("r", "a", 7, 102999), ("l", "a", 8, 106000),
    ("l", "a", 9, 120000), ("r", "a", 10, 119000), ("r", "a", 11, 118999), ("l", "a", 13, 106000),
    ("l", "a", 14, 104500), ("r", "b", 15, 119000), ("l", "b", 16, 118999), ("l", "b", 17, 119500),
    ("r", "a", 20, 140000), ("l", "a", 21, 139000), ("l", "a", 22, 120500),
]  # fmt: skip


INTERVALS = {
    (1, 1): [
        (1, 2), (21, 20), (4, 3), (8, 3), (9, 10), (13, None), (14, None), (16, None), (17, None),
        (22, None), (5, None), (None, 11), (None, 15), (None, 6), (None, 7),
    ],
    (0, 8): [
        (1, 2), (1, 3), (1, 6), (1, 7), (21, 20), (4, 3), (5, 3), (13, None), (14, None),
        (16, None), (17, None), (22, None), (8, None), (9, None), (None, 10), (None, 11),
        (None, 15),
    ],
}  # fmt: skip
"""The pairs of outer joins: how many seconds before and after a row its partners are at most."""
KINDS = {"JOIN": (), "LEFT JOIN": (1,), "RIGHT JOIN": (0,), "FULL JOIN": (0, 1)}
"""The columns that may be NULL, by the kinds of joins."""


def of_kind(kind, rows):
    """Returns the rows of an outer join, in order, that a join of another kind has as well."""
    missing = {column for column in (0, 1) if column not in KINDS[kind]}
    return sorted((row for row in rows if all(row[i] is not None for i in missing)), key=str)


def all_kinds(sides, query, rows):
    """Returns the rows of a join of each kind; the query has `{}` for its name and the word."""
    texts = (query.format(f"'{kind}'", kind) for kind in KINDS)
    found = {kind: [] for kind in KINDS}
    for kind, *row in sides(" UNION ALL ".join(texts), rows):
        found[kind].append(tuple(row))
    return found


@pytest.mark.parametrize("bounds", INTERVALS)
def test_intervals(sides, bounds):
    before, after = bounds
    times = f"l.ts - INTERVAL '{before}' SECOND AND l.ts + INTERVAL '{after}' SECOND"
    query = f"SELECT {{}}, l.v, r.v FROM l {{}} r ON l.k = r.k AND r.ts BETWEEN {times}"
    assert all_kinds(sides, query, PAIRS) == {
        kind: of_kind(kind, INTERVALS[bounds]) for kind in KINDS
    }


def test_intervals_without_their_bounds(sides):
    times = "r.ts > l.ts - INTERVAL '1' SECOND AND r.ts < l.ts + INTERVAL '1' SECOND"
    query = f"SELECT l.v, r.v FROM l JOIN r ON l.k = r.k AND {times}"
    assert sides(query, PAIRS) == [(1, 2)]


def test_intervals_of_the_table_api(sides):
    def query(t_env):
        left = t_env.from_path("l").select(col("k").alias("x"), col("v").alias("y"), col("ts"))
        left = left.rename_columns(col("ts").alias("t"))
        early, late = col("t") - lit(1).seconds, col("t") + lit(1).seconds
        near = (col("x") == col("k")) & (col("ts") >= early) & (col("ts") <= late)
        return left.join(t_env.from_path("r"), near).select(col("y"), col("v"))

    assert sides(query, PAIRS) == of_kind("JOIN", INTERVALS[1, 1])


VERSIONS = [
    ("r", "a", 1, 101000), ("l", "a", 2, 101500), ("r", "a", 3, 102000), ("l", "a", 4, 101000),
    ("l", "a", 6, 102000), ("l", "a", 7, 102001), ("r", "a", 8, 101700), ("l", "a", 9, 101800),
    ("r", "b", 10, 100500), ("l", "b", 11, 100499), ("l", "b", 12, 100600), ("l", "c", 13, 100100),
    ("l", "a", 14, 105000), ("r", "a", 15, 104000), ("l", "a", 16, 104500), ("l", "a", 17, 103000),
    ("r", "a", 18, 109000), ("l", "a", 19, 108999), ("l", "a", 20, 109000), ("l", "a", 21, 104100),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "alone"), [("JOIN", []), ("LEFT JOIN", [4, 9, 11, 13, 19, 21])])
def test_versions(sides, kind, alone):
    query = f"SELECT l.v, x.v FROM l {kind} latest FOR SYSTEM_TIME AS OF l.ts AS x ON l.k = x.k"
    found = [(2, 1), (6, 3), (7, 3), (12, 10), (14, 3), (16, 15), (17, 3), (20, 18)]
    assert sides(query, VERSIONS) == sorted([*found, *((v, None) for v in alone)], key=str)


WINDOWS = {
    "TUMBLE": "INTERVAL '5' SECOND",
    "HOP": "INTERVAL '2' SECOND, INTERVAL '4' SECOND",
    "CUMULATE": "INTERVAL '2' SECOND, INTERVAL '6' SECOND",
}
IN_WINDOWS = [
    ("l", "a", 1, 101000), ("r", "a", 2, 102000), ("l", "a", 3, 104999), ("r", "a", 4, 101000),
    ("l", "b", 6, 104999), ("r", "b", 7, 105000), ("l", "b", 8, 104999), ("l", "b", 9, 105000),
    ("r", "e", 10, 104999), ("r", "e", 11, 106000), ("l", "a", 12, 120000), ("r", "a", 13, 109999),
    ("r", "a", 14, 120000), ("l", "c", 15, 117000), ("l", "d", 16, 124998), ("r", "d", 17, 119999),
    ("r", "d", 18, 125000), ("l", "d", 19, 119998), ("l", "d", 20, 124999),
]  # fmt: skip


def windows(kind, side):
    return f"(SELECT * FROM TABLE({kind}(TABLE {side}, DESCRIPTOR(ts), {WINDOWS[kind]})))"


SAME = "l.window_start = r.window_start AND l.window_end = r.window_end"
PARTNERS = {
    "TUMBLE": [(1, 2), (12, 14), (16, None), (3, 2), (9, 7), (None, 11), (None, 18)],
    "HOP": [
        (1, 2), (1, None), (12, 14), (12, 14), (16, 18), (16, 18), (20, 18), (20, 18), (3, 2),
        (3, None), (6, 7), (6, 7), (8, 7), (8, 7), (9, 7), (9, 7), (None, 10), (None, 10),
        (None, 11), (None, 11),
    ],
    "CUMULATE": [
        (1, None), (12, 14), (12, 14), (12, 14), (16, 18), (20, 18), (3, 2), (3, 2), (6, 7),
        (6, 7), (8, 7), (8, 7), (9, 7), (9, 7), (None, 10), (None, 10), (None, 11), (None, 2),
    ],
}  # fmt: skip


@pytest.mark.parametrize("window", WINDOWS)
def test_joined_windows(sides, window):
    left, right = windows(window, "l"), windows(window, "r")
    query = f"SELECT {{}}, l.v, r.v FROM {left} AS l {{}} {right} AS r ON l.k = r.k AND {SAME}"
    assert all_kinds(sides, query, IN_WINDOWS) == {
        kind: of_kind(kind, PARTNERS[window]) for kind in KINDS
    }


@pytest.mark.parametrize(
    "condition",
    [
        "l.k {} IN (SELECT k FROM {} AS r WHERE {})",
        "{} EXISTS (SELECT * FROM {} AS r WHERE l.k = r.k AND {})",
    ],
    ids=["in", "exists"],
)
def test_partners_in_windows(sides, condition):
    """They are looked for when the window ends, so that no row is taken back, and none is late."""
    left, right = windows("TUMBLE", "l"), windows("TUMBLE", "r")
    having, lacking = (condition.format(word, right, SAME) for word in ("", "NOT"))
    found = sides(
        f"SELECT v, 'partner' FROM {left} AS l WHERE {having} UNION ALL "
        f"SELECT v, CAST(NULL AS STRING) FROM {left} AS l WHERE {lacking}",
        IN_WINDOWS,
    )
    joined = of_kind("LEFT JOIN", PARTNERS["TUMBLE"])
    assert found == [(v, None if partner is None else "partner") for v, partner in joined]


def test_windows_of_rows_with_partners_in_windows(sides):
    left, right = windows("TUMBLE", "l"), windows("TUMBLE", "r")
    query = (
        "SELECT COUNT(*), SUM(v) FROM (SELECT v, window_start, window_end "
        f"FROM {left} AS l WHERE k IN (SELECT k FROM {right} AS r WHERE {SAME})) "
        "GROUP BY window_start, window_end"
    )
    assert sides(query, IN_WINDOWS) == [(1, 12), (1, 9), (2, 4)]
