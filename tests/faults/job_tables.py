"""The queries of the soak's job; plain PyFlink."""

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.table import StreamTableEnvironment

AHEAD, MOST = 17, 3
QUERIES = {
    "totals": "SELECT k, COUNT(*) AS c, SUM(n) AS s FROM events GROUP BY k",
    "pairs": f"""
        SELECT a.n, b.n AS m FROM events AS a
        JOIN (SELECT n FROM events WHERE MOD(n, 2) = 0) AS b ON a.n = b.n + {AHEAD}
    """,
    "newest": f"""
        SELECT k, n FROM (
            SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS place FROM events
        ) WHERE place <= {MOST}
    """,
}
_KINDS = {"INSERT": "+", "UPDATE_AFTER": "+", "UPDATE_BEFORE": "-", "DELETE": "-"}


def line_of_change(row):
    """Return a change as a line: its sign and the row's values."""
    return _KINDS[row.get_row_kind().name] + ",".join(map(str, row))


def changes(env, events):
    """Return the changes of the queries as streams of lines, by name."""
    t_env = StreamTableEnvironment.create(env)
    names, kinds = ["n", "k", "t"], [Types.LONG(), Types.LONG(), Types.LONG()]
    rows = events.map(lambda event: Row(*event), Types.ROW_NAMED(names, kinds)).uid("rows")
    t_env.create_temporary_view("events", t_env.from_data_stream(rows))
    return {
        name: t_env.to_changelog_stream(t_env.sql_query(query)).map(line_of_change, Types.STRING())
        for name, query in QUERIES.items()
    }
