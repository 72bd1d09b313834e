"""The physical plans of queries: which nodes, over which columns, shared or not."""

from __future__ import annotations

import pytest

from tests.sql.planner.plans import explained, names, physical

WINDOWS = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(t), INTERVAL '1' HOUR))"
SCAN = ["WatermarkAssigner", "TableSourceScan"]
BOUNDARIES = "window_start, window_end"
PER_WINDOW = f"SELECT k, {BOUNDARIES}, COUNT(*) AS c FROM {WINDOWS} GROUP BY k, {BOUNDARIES}"


def line_of(node, text, batch=False):
    """The line of EXPLAIN for the first node of a name."""
    found = [line.lstrip(" +-") for line in explained(text, batch)]
    return next(line for line in found if line.startswith(f"{node}("))


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        ("SELECT id FROM orders WHERE v > 3", ["Calc", *SCAN]),
        # Two projections and two conditions are one Calc.
        ("SELECT w + 1 FROM (SELECT v * 2 AS w FROM orders WHERE v > 1) WHERE w < 9",
         ["Calc", *SCAN]),
        ("SELECT * FROM orders ORDER BY t", ["Sort", *SCAN, "Calc"]),
        ("SELECT k FROM orders LIMIT 3", ["Limit", "Calc", *SCAN]),
        ("SELECT k FROM orders ORDER BY v LIMIT 3", ["Calc", "SortLimit", "Calc", *SCAN]),
        (PER_WINDOW, ["Calc", "WindowAggregate", *SCAN]),
        (f"SELECT k, COUNT(*) FROM {WINDOWS} GROUP BY k",
         ["Calc", "GroupAggregate", "Calc", "WindowTableFunction", *SCAN]),
        # The windows of a session depend on the rows of the key.
        ((f"SELECT k, {BOUNDARIES} FROM TABLE(SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(t),"
         f" INTERVAL '1' HOUR)) GROUP BY k, {BOUNDARIES}"),
         ["WindowAggregate", "Calc", "WindowTableFunction", *SCAN]),
        ("SELECT SUM(v) OVER (PARTITION BY k ORDER BY p) FROM orders",
         ["Calc", "OverAggregate", "Calc", *SCAN, "Calc"]),
        ("SELECT COUNT(*) FROM upserts",
         ["GroupAggregate", "Calc", "ChangelogNormalize", "TableSourceScan"]),
    ],
)  # fmt: skip
def test_the_nodes_of_a_query(query, nodes):
    found = names(query)[1:]
    assert [name for name in found if name != "TableSourceScan"] == [
        name for name in nodes if name != "TableSourceScan"
    ]
    assert found.count("TableSourceScan") == nodes.count("TableSourceScan")


@pytest.mark.parametrize(
    ("condition", "join"),
    [
        ("o.id = p.id", "Join"),
        ("o.id = p.id AND o.t BETWEEN p.t - INTERVAL '1' HOUR AND p.t", "IntervalJoin"),
        ("o.id = p.id AND o.t > p.t", "Join"),
        ("o.t BETWEEN p.t - INTERVAL '1' HOUR AND p.t", "IntervalJoin"),
        ("o.id = p.id AND o.t = p.t", "IntervalJoin"),
    ],
)
def test_bounds_of_time_make_an_interval_join(condition, join):
    query = f"SELECT o.k FROM orders o JOIN payments p ON {condition}"
    assert join in names(query)


def test_equal_windows_on_both_sides_make_a_window_join():
    on = "a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end"
    query = f"SELECT a.k FROM ({PER_WINDOW}) a JOIN ({PER_WINDOW}) b ON {on}"
    assert "WindowJoin" in names(query)
    assert "WindowJoin" not in names(query, batch=True)
    without_end = query.replace(" AND a.window_end = b.window_end", "")
    assert "WindowJoin" not in names(without_end)


@pytest.mark.parametrize("word", ["IN", "NOT IN"])
def test_partners_in_equal_windows_are_looked_for_when_the_window_ends(word):
    on = "a.window_start = b.window_start AND a.window_end = b.window_end"
    partners = f"SELECT k FROM ({PER_WINDOW}) b WHERE {{}}"
    query = f"SELECT a.k FROM ({PER_WINDOW}) a WHERE k {word} ({partners})"
    assert "WindowJoin" in names(query.format(on))
    assert "WindowJoin" not in names(query.format(on), batch=True)
    assert "WindowJoin" not in names(query.format("a.window_start = b.window_start"))


def test_the_rank_of_a_window_is_known_when_the_window_ends():
    rank = "ROW_NUMBER() OVER (PARTITION BY {} ORDER BY v DESC) AS r"
    query = f"SELECT * FROM (SELECT k, v, {rank} FROM {WINDOWS}) WHERE r <= 3"
    assert "WindowRank" in names(query.format(BOUNDARIES))
    assert "WindowRank" not in names(query.format("window_start"))


# -- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("SELECT id FROM orders", "id, t"),  # the time, for the watermark
        ("SELECT MAX(v) FROM upserts", "k, v"),
        ("SELECT o.k FROM orders o JOIN upserts u ON o.k = u.k", "k, t"),
        ("SELECT id FROM orders WHERE v IN (SELECT v FROM upserts)", "id, v, t"),
        (f"SELECT k, COUNT(*) FROM {WINDOWS} GROUP BY k, {BOUNDARIES}", "k, t"),
        (("SELECT k FROM (SELECT k, id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r"
         " FROM orders) WHERE r = 1"), "k, v, t"),
    ],
)  # fmt: skip
def test_only_used_columns_are_read(query, read):
    assert f"fields=[{read}]" in line_of("TableSourceScan", query)


def test_a_key_that_is_computed_is_computed_once():
    query = "SELECT v + 1, SUM(v + 1), COUNT(v + 1) FROM orders GROUP BY v + 1"
    assert line_of("GroupAggregate", query) == (
        "GroupAggregate(groupBy=[$f0], select=[$f0, SUM($f0) AS EXPR$0, COUNT($f0) AS EXPR$1],"
        " changelogMode=[I,UB,UA])"
    )


# -- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("SELECT k FROM orders LIMIT 3", "Limit(offset=[0], fetch=[3], changelogMode=[I])"),
        ("SELECT k FROM orders OFFSET 2 ROWS FETCH NEXT 4 ROWS ONLY",
         "Limit(offset=[2], fetch=[4], changelogMode=[I])"),
        (("SELECT k, window_end, SUM(v) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(t),"
         " INTERVAL '1' HOUR)) GROUP BY k, window_start, window_end"),
         ("WindowAggregate(window=[TUMBLE(size=[3600000 ms])], groupBy=[k],"
         " select=[k, SUM(v) AS EXPR$0], changelogMode=[I])")),
    ],
)  # fmt: skip
def test_the_line_of_a_node(query, line):
    assert line_of(line.split("(")[0], query) == line


def test_a_bounded_sort_shows_what_is_left():
    query = "SELECT k FROM orders ORDER BY t OFFSET 2 ROWS"
    assert line_of("Sort", query, batch=True).startswith("Sort(orderBy=[$1 ASC], offset=[2]")


# -- shared nodes --------------------------------------------------------------------------------


def shared(*texts):
    """The names of nodes that both plans have in common."""
    first, second = ({*walked(node)} for node in physical(*texts))
    return {node.name for node in first & second}


def walked(node):
    yield node
    for source in node.inputs:
        yield from walked(source)


def test_what_two_sinks_read_is_computed_once():
    query = "SELECT k, COUNT(*) FROM orders WHERE v > 1 GROUP BY k"
    assert shared(f"INSERT INTO keyed {query}", f"INSERT INTO plain {query}") == {
        "Calc", "GroupAggregate", "WatermarkAssigner", "TableSourceScan",
    }  # fmt: skip


def test_conditions_matter():
    first, second = "INSERT INTO keyed {}", "INSERT INTO plain {}"
    query = "SELECT k, COUNT(*) FROM orders WHERE v > {} GROUP BY k"
    assert "GroupAggregate" in shared(*(text.format(query.format(1)) for text in (first, second)))
    other = shared(first.format(query.format(1)), second.format(query.format(2)))
    assert other == {"WatermarkAssigner", "TableSourceScan"}


def test_what_gives_another_result_each_time_is_not_shared():
    query = "SELECT k, CAST(RAND() * 10 AS BIGINT) FROM orders"
    assert "Calc" not in shared(f"INSERT INTO plain {query}", f"INSERT INTO inserts {query}")
