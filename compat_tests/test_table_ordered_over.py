"""Functions with OVER in the order of a column that is no time, in streams."""

from __future__ import annotations

import pytest
from pyflink.common import Row, RowKind, Types
from pyflink.table import StreamTableEnvironment

from compat_tests.tables import changes, last

NUMBERS = (
    "(VALUES (1,'a',5),(2,'a',3),(3,'b',9),(4,'a',5),(5,'a',4),(6,'b',1),(7,'a',3)) AS t(i,k,v)"
)
AVERAGED = "(VALUES (1,'a',4,4),(2,'a',6,5),(3,'a',8,9),(4,'a',5,4),(5,'a',3,100)) AS t(i,k,v,x)"
ROWS = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
BY_V = "PARTITION BY k ORDER BY v"
KINDS = {
    "+I": RowKind.INSERT,
    "-U": RowKind.UPDATE_BEFORE,
    "+U": RowKind.UPDATE_AFTER,
    "-D": RowKind.DELETE,
}


def shown(t_env, function, window, source):
    """Returns the changes as text: the kind, the number of the row, and the function's value."""
    text = f"SELECT i, {function} OVER ({window}) FROM {source}"
    return " ".join(f"{kind}{i}={value}" for kind, i, value in changes(t_env.sql_query(text)))


@pytest.mark.parametrize(
    ("function", "window", "expected"),
    [
        (
            "SUM(v)",
            f"{BY_V} {ROWS}",
            ("+I1=5 +I2=3 -U1=5 +U1=8 +I3=9 +I4=13 +I5=7 -U1=8 +U1=12 -U4=13 +U4=17 +I6=1 -U3=9 "
            "+U3=10 +I7=6 -U5=7 +U5=10 -U1=12 +U1=15 -U4=17 +U4=20"),
        ),
        (
            "SUM(v)",
            BY_V,
            ("+I1=5 +I2=3 -U1=5 +U1=8 +I3=9 -U1=8 +U1=13 +I4=13 +I5=7 -U1=13 +U1=17 -U4=13 +U4=17 "
            "+I6=1 -U3=9 +U3=10 -U2=3 +U2=6 +I7=6 -U5=7 +U5=10 -U1=17 +U1=20 -U4=17 +U4=20"),
        ),
        (
            "ROW_NUMBER()",
            BY_V,
            ("+I1=1 +I2=1 -U1=1 +U1=2 +I3=1 +I4=3 +I5=2 -U1=2 +U1=3 -U4=3 +U4=4 +I6=1 -U3=1 +U3=2 "
            "+I7=2 -U5=2 +U5=3 -U1=3 +U1=4 -U4=4 +U4=5"),
        ),
        (
            "MIN(v)",
            f"{BY_V} {ROWS}",
            "+I1=5 +I2=3 -U1=5 +U1=3 +I3=9 +I4=3 +I5=3 +I6=1 -U3=9 +U3=1 +I7=3",
        ),
        ("MAX(v)", "ORDER BY v", "+I1=5 +I2=3 +I3=9 +I4=5 +I5=4 +I6=1 +I7=3"),
        (
            "SUM(v)",
            f"ORDER BY k {ROWS}",
            ("+I1=5 +I2=8 +I3=17 +I4=13 -U3=17 +U3=22 +I5=17 -U3=22 +U3=26 +I6=27 +I7=20 -U3=26 "
            "+U3=29 -U6=27 +U6=30"),
        ),
        (
            "SUM(v)",
            f"PARTITION BY k ORDER BY -v {ROWS}",
            "+I1=5 +I2=8 +I3=9 +I4=10 -U2=8 +U2=13 +I5=14 -U2=13 +U2=17 +I6=10 +I7=20",
        ),
    ],
)  # fmt: skip
def test_a_row_changes_those_that_follow(t_env, function, window, expected):
    assert shown(t_env, function, window, NUMBERS) == expected


@pytest.mark.parametrize("rows", ["", ROWS])
def test_what_follows_an_accumulator_that_stays_stays(t_env, rows):
    """The average of some rows stays as it is, but what they are averaged from does not."""
    assert shown(t_env, "AVG(x)", f"{BY_V} {rows}", AVERAGED) == (
        "+I1=4 +I2=4 +I3=6 +I4=4 -U2=4 +U2=4 -U3=6 +U3=5 +I5=100 -U1=4 +U1=52 -U4=4 +U4=36 -U2=4 "
        "+U2=28 -U3=5 +U3=24"
    )


def changing(env, *rows):
    """Returns an environment with a table `t` of changes: the kind, a number, and a value."""
    t_env = StreamTableEnvironment.create(env)
    elements = []
    for kind, number, value in rows:
        row = Row(number, "a", value)
        row.set_row_kind(KINDS[kind])
        elements.append(row)
    types = Types.ROW_NAMED(["i", "k", "v"], [Types.INT(), Types.STRING(), Types.INT()])
    stream = env.from_collection(elements, types)
    t_env.create_temporary_view("t", t_env.from_changelog_stream(stream))
    return t_env


MANY = [("+I", 1, 5), ("+I", 2, 5), ("+I", 3, 5), ("+I", 4, 7), ("-D", 2, 5), ("-U", 1, 5),
        ("+U", 1, 6), ("-D", 3, 5), ("+I", 5, 6), ("-D", 1, 6)]  # fmt: skip
TWINS = [("+I", 1, 5), ("+I", 1, 5), ("+I", 2, 5), ("-D", 1, 5), ("-D", 9, 5), ("-D", 2, 5),
         ("-D", 1, 5), ("-D", 1, 5), ("+I", 7, 1)]  # fmt: skip
NULLS = [("+I", 1, 5), ("+I", 2, None), ("+I", 3, 2), ("+I", 4, None)]


@pytest.mark.parametrize(
    ("rows", "window", "expected"),
    [
        (
            MANY,
            f"{BY_V} {ROWS}",
            (
                "+I1=1 +I2=3 +I3=6 +I4=10 -D2=3 -U3=6 +U3=4 -U4=10 +U4=8 -D1=1 -U3=4 +U3=3 -U4=8 "
                "+U4=7 +U1=4 -U4=7 +U4=8 -D3=3 -U1=4 +U1=1 -U4=8 +U4=5 +I5=6 -U4=5 +U4=10 -D1=1 "
                "-U5=6 +U5=5 -U4=10 +U4=9"
            ),
        ),
        (
            MANY,
            BY_V,
            (
                "+I1=1 -U1=1 +U1=3 +I2=3 -U1=3 +U1=6 -U2=3 +U2=6 +I3=6 +I4=10 -U1=6 +U1=4 -D2=6 "
                "-U3=6 +U3=4 -U4=10 +U4=8 -D1=4 -U3=4 +U3=3 -U4=8 +U4=7 +U1=4 -U4=7 +U4=8 -D3=3 "
                "-U1=4 +U1=1 -U4=8 +U4=5 -U1=1 +U1=6 +I5=6 -U4=5 +U4=10 -D1=6 -U5=6 +U5=5 -U4=10 "
                "+U4=9"
            ),
        ),
        (
            TWINS,
            f"{BY_V} {ROWS}",
            "+I1=1 +I1=2 +I2=4 -D1=1 -U1=2 +U1=1 -U2=4 +U2=3 -D2=3 -D1=1 +I7=7",
        ),
        (
            NULLS,
            f"{BY_V} {ROWS}",
            "+I1=1 +I2=2 -U1=1 +U1=3 +I3=5 -U1=3 +U1=6 +I4=6 -U3=5 +U3=9 -U1=6 +U1=10",
        ),
        (
            NULLS,
            BY_V,
            "+I1=1 +I2=2 -U1=1 +U1=3 +I3=5 -U1=3 +U1=6 -U2=2 +U2=6 +I4=6 -U3=5 +U3=9 -U1=6 +U1=10",
        ),
        (
            NULLS,
            f"{BY_V} NULLS LAST",
            "+I1=1 +I2=3 +I3=3 -U1=1 +U1=4 -U2=3 +U2=6 -U2=6 +U2=10 +I4=10",
        ),
    ],
)
def test_rows_that_go(env, rows, window, expected):
    env.set_parallelism(1)
    assert shown(changing(env, *rows), "SUM(i)", window, "t") == expected


def test_what_reads_the_changes(t_env):
    summed = f"SELECT i, k, v, SUM(v) OVER ({BY_V}) AS s FROM {NUMBERS}"
    assert last(t_env, f"SELECT k, SUM(s) FROM ({summed}) GROUP BY k") == [("a", 62), ("b", 11)]
    found = changes(t_env.sql_query(f"SELECT i, s FROM ({summed}) WHERE s > 12"))
    assert " ".join(f"{kind}{i}={s}" for kind, i, s in found) == (
        "+U1=13 +I4=13 -U1=13 +U1=17 -U4=13 +U4=17 -U1=17 +U1=20 -U4=17 +U4=20"
    )


def test_over_the_results_of_over(t_env):
    summed = f"SELECT i, k, v, SUM(v) OVER ({BY_V}) AS s FROM {NUMBERS}"
    text = f"SELECT i, s, SUM(v) OVER (PARTITION BY s ORDER BY i) FROM ({summed})"
    assert last(t_env, text) == [
        (1, 20, 5), (2, 6, 3), (3, 10, 9), (4, 20, 10), (5, 10, 13), (6, 1, 1), (7, 6, 6),
    ]  # fmt: skip


def test_several_functions(t_env):
    text = f"""
        SELECT i, SUM(v) OVER w, COUNT(*) OVER w, MAX(i) OVER w, FIRST_VALUE(i) OVER w
        FROM {NUMBERS} WINDOW w AS ({BY_V})
    """
    assert last(t_env, text) == [
        (1, 20, 5, 7, 2), (2, 6, 2, 7, 2), (3, 10, 2, 6, 6), (4, 20, 5, 7, 2), (5, 10, 3, 7, 2),
        (6, 1, 1, 6, 6), (7, 6, 2, 7, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "window", "message"),
    [
        ("SUM(v)", f"{BY_V} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "Non-time attribute sort"),
        ("SUM(v)", f"{BY_V} RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", "Non-time attribute sort"),
        ("SUM(v)", f"{BY_V} DESC", "can only be ordered in ASCENDING mode"),
        ("SUM(v)", f"{BY_V}, i", "can only be ordered by a single time column"),
        ("SUM(v)", "PARTITION BY k", "can only be ordered by a single time column"),
        ("SUM(v)", "PARTITION BY k ORDER BY 1", "can only be ordered by a single time column"),
        (
            "SUM(v)",
            f"{BY_V} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            "FOLLOWING windows are not supported yet",
        ),
        ("LEAD(v)", BY_V, "LEAD Function is not supported in stream mode"),
        ("LAG(v)", BY_V, "LAG|BinaryRawValueData"),
    ],
)
def test_what_there_is_not(t_env, function, window, message):
    with pytest.raises(Exception, match=message):
        shown(t_env, function, window, NUMBERS)


def test_functions_of_one_select_have_one_window(t_env):
    text = f"SELECT SUM(v) OVER ({BY_V}), SUM(v) OVER (PARTITION BY k ORDER BY i) FROM {NUMBERS}"
    with pytest.raises(Exception, match="All aggregates must be computed on the same window"):
        changes(t_env.sql_query(text))
