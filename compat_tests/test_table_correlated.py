"""Queries inside of others that use columns from around them: statements and what they give."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyflink.table import EnvironmentSettings, TableEnvironment

from compat_tests.tables import csv_table, last, listed_statements, query

STATEMENTS = listed_statements(Path(__file__).parent / "correlated_statements.txt")


@pytest.fixture(scope="module", params=["streaming", "batch"])
def tables(request, tmp_path_factory):
    settings = EnvironmentSettings.in_streaming_mode()
    if request.param == "batch":
        settings = EnvironmentSettings.in_batch_mode()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("parallelism.default", "1")
    folder = tmp_path_factory.mktemp("tables")
    rows = "1,a,10\n2,b,20\n3,a,30\n4,b,\n5,a,10\n6,,60\n"
    csv_table(t_env, folder, "t", "id INT, k STRING, v INT", rows)
    csv_table(t_env, folder, "o", "k STRING, n INT", "a,1\na,2\nc,3\n")
    more = "a,1,10\na,2,20\na,2,30\nb,,5\nc,3,20\n,1,60\n"
    csv_table(t_env, folder, "p", "k STRING, n INT, w INT", more)
    return t_env


@pytest.mark.parametrize(("statement", "expected"), STATEMENTS)
def test_statement(tables, statement, expected):
    assert [str(row) for row in last(tables, statement)] == expected


@pytest.fixture
def t(env, tmp_path):
    from pyflink.table import StreamTableEnvironment

    t_env = StreamTableEnvironment.create(env)
    csv_table(t_env, tmp_path, "p", "k STRING, n INT, w INT", "a,1,10\na,2,20\na,2,30\nc,3,20\n")
    return t_env


def test_the_first_rows_of_each_key(t):
    text = (
        "SELECT k, n, w FROM (SELECT DISTINCT k FROM p) AS s, "
        "LATERAL (SELECT n, w FROM p WHERE p.k = s.k ORDER BY w {})"
    )
    assert last(t, text.format("LIMIT 2")) == [("a", 1, 10), ("a", 2, 20), ("c", 3, 20)]
    assert last(t, text.format("DESC LIMIT 1")) == [("a", 2, 30), ("c", 3, 20)]


REFUSED = {
    "LATERAL (SELECT n FROM p WHERE p.k = x.k ORDER BY w LIMIT 1) AS y":
        "unexpected correlate variable",
    "LATERAL (SELECT n FROM p WHERE p.k = x.k UNION ALL SELECT 1) AS y":
        "unexpected correlate variable",
    "LATERAL (SELECT x.n + 1 AS m) AS y": "unexpected correlate variable",
    "LATERAL (SELECT MAX(n) + x.n AS m FROM p WHERE p.k = x.k) AS y": "is not being grouped",
}  # fmt: skip


@pytest.mark.parametrize(("joined", "message"), REFUSED.items())
def test_what_is_refused(t, joined, message):
    with pytest.raises(Exception, match=message):
        query(t, f"SELECT * FROM p AS x, {joined}")
