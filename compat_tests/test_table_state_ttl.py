"""`table.exec.state.ttl`: which operators forget what, and when, by processing time."""

from __future__ import annotations

import time

import pytest
from pyflink.common import Configuration, Row, Types

from compat_tests.tables import changes

pytestmark = pytest.mark.timed

TTL_MS = 1500
LATER = 2.0
SOON = 1.0
ROWS = Types.ROW_NAMED(["side", "k", "v"], [Types.STRING(), Types.STRING(), Types.INT()])


def pause(element):
    """Waits as long as the first field says before a row, and between all rows."""
    time.sleep(0.1 + element[0])
    return Row(*element[1:])


@pytest.fixture
def found(env, t_env):
    configuration = Configuration()
    configuration.set_string("python.fn-execution.bundle.size", "1")
    env.configure(configuration)
    t_env.get_config().set("python.fn-execution.bundle.size", "1")

    def run(query, *rows, ttl=TTL_MS):
        """Returns the changes of a query over rows: a pause (s), a table, and two columns."""
        t_env.get_config().set("table.exec.state.ttl", f"{ttl} ms")
        stream = env.from_collection(list(rows)).map(pause, ROWS)
        t_env.create_temporary_view("s", stream)
        t_env.execute_sql("CREATE TEMPORARY VIEW a AS SELECT k, v FROM s WHERE side = 'a'")
        t_env.execute_sql("CREATE TEMPORARY VIEW b AS SELECT k, v FROM s WHERE side = 'b'")
        return changes(t_env.sql_query(query))

    return run


RANKED = "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM a"
ARRIVAL = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p {}) AS rn "
    "FROM (SELECT *, PROCTIME() AS p FROM a)) WHERE rn = 1"
)


def test_a_group_begins_again(found):
    rows = (0, "a", "x", 1), (0, "a", "x", 2), (LATER, "a", "x", 4)
    assert found("SELECT k, SUM(v) FROM a GROUP BY k", *rows) == [
        ("+I", "x", 1), ("-U", "x", 1), ("+U", "x", 3), ("+I", "x", 4),
    ]  # fmt: skip


def test_rows_of_a_join_expire_one_by_one(found):
    rows = (0, "a", "x", 1), (SOON, "a", "x", 2), (SOON, "b", "x", 9)
    assert found("SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k", *rows) == [("+I", "x", 2, 9)]


def test_partners_prolong_the_life_of_an_outer_row(found):
    rows = (0, "a", "x", 1), (SOON, "b", "x", 2), (SOON, "b", "x", 3)
    assert found("SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.k = b.k", *rows) == [
        ("+I", "x", 1, None), ("-D", "x", 1, None), ("+I", "x", 1, 2), ("+I", "x", 1, 3),
    ]  # fmt: skip


def test_partners_do_not_prolong_the_life_of_an_inner_row(found):
    rows = (0, "a", "x", 1), (SOON, "b", "x", 2), (SOON, "b", "x", 3)
    query = "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k"
    assert found(query, *rows) == [("+I", "x", 1, 2)]


def test_a_semi_join_forgets(found):
    rows = (0, "b", "x", 1), (0, "a", "x", 2), (LATER, "a", "x", 3)
    query = "SELECT k, v FROM a WHERE k IN (SELECT k FROM b)"
    assert found(query, *rows) == [("+I", "x", 2)]


def test_the_first_rows_are_forgotten_without_a_change(found):
    rows = (0, "a", "x", 5), (0, "a", "x", 7), (LATER, "a", "x", 9)
    assert found(f"SELECT k, v FROM ({RANKED}) WHERE rn <= 1", *rows) == [
        ("+I", "x", 5), ("+I", "x", 9),
    ]  # fmt: skip


def test_ranks_begin_again(found):
    rows = (0, "a", "x", 5), (0, "a", "x", 7), (LATER, "a", "x", 9)
    assert found(f"SELECT * FROM ({RANKED}) WHERE rn <= 2", *rows) == [
        ("+I", "x", 5, 1), ("+I", "x", 7, 2), ("+I", "x", 9, 1),
    ]  # fmt: skip


def test_the_first_row_is_forgotten(found):
    rows = (0, "a", "x", 5), (SOON, "a", "x", 7), (SOON, "a", "x", 9)
    assert found(ARRIVAL.format("ASC"), *rows) == [("+I", "x", 5), ("+I", "x", 9)]


def test_the_last_row_is_forgotten(found):
    rows = (0, "a", "x", 5), (SOON, "a", "x", 7), (SOON, "a", "x", 9), (LATER, "a", "x", 10)
    assert found(ARRIVAL.format("DESC"), *rows) == [
        ("+I", "x", 5), ("-U", "x", 5), ("+U", "x", 7), ("-U", "x", 7), ("+U", "x", 9),
        ("+I", "x", 10),
    ]  # fmt: skip


@pytest.mark.parametrize("ttl", [0, TTL_MS])
def test_an_equal_last_row(found, ttl):
    rows = (0, "a", "x", 5), (0, "a", "x", 5)
    query = "SELECT k, v FROM ({}) ".format(ARRIVAL.format("DESC"))
    again = [("-U", "x", 5), ("+U", "x", 5)] if ttl else []
    assert found(query, *rows, ttl=ttl) == [("+I", "x", 5), *again]


def test_a_limit_begins_again(found):
    rows = (0, "a", "x", 5), (0, "a", "x", 6), (LATER, "a", "x", 7)
    assert found("SELECT k, v FROM a LIMIT 1", *rows) == [("+I", "x", 5), ("+I", "x", 7)]


def test_a_sum_over_arrivals_begins_again(found):
    rows = (0, "a", "x", 5), (0, "a", "x", 6), (2 * LATER, "a", "x", 7)
    query = (
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY p) FROM (SELECT *, PROCTIME() AS p FROM a)"
    )
    assert found(query, *rows) == [("+I", "x", 5), ("+I", "x", 11), ("+I", "x", 7)]


def test_a_sum_in_any_order_begins_again(found):
    rows = (0, "a", "x", 5), (0, "a", "x", 6), (LATER, "a", "x", 7)
    query = "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) FROM a"
    assert found(query, *rows) == [("+I", "x", 5), ("+I", "x", 11), ("+I", "x", 7)]
