"""print(): the text of each kind of value, and the prefixes."""

# ruff: noqa: DTZ001 - local times are what is tested

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from pyflink.common import Row, RowKind, Types

T = Types


def several(env, run_printed, values, type_info=None):
    """The texts of several values of one type, in one job."""
    env.from_collection([0]).flat_map(lambda _: values, type_info).print()
    return run_printed(env)


def test_untyped_values_are_python_s_text(env, run_printed):
    values = [
        ("a", 1), None, Row(1, "x"), Row(a=1, b="x"), 1e16, "text", 7, True, [1, "a"], {"k": (1,)},
    ]  # fmt: skip
    assert several(env, run_printed, values) == [
        "('a', 1)",
        "None",
        "<Row(1, 'x')>",
        "Row(a=1, b='x')",
        "1e+16",
        "text",
        "7",
        "True",
        "[1, 'a']",
        "{'k': (1,)}",
    ]


def test_untyped_bytes_cannot_be_printed(env):
    env.from_collection([b"x"]).map(lambda v: v).print()
    with pytest.raises(Exception, match=r"\S"):
        env.execute()


def test_rows(env, run_printed):
    type_info = T.ROW_NAMED(
        ["a", "b", "c", "d", "e", "f", "g"],
        [
            T.INT(),
            T.STRING(),
            T.BOOLEAN(),
            T.SQL_DATE(),
            T.LIST(T.STRING()),
            T.ROW([T.FLOAT()]),
            T.TUPLE([T.STRING(), T.BOOLEAN()]),
        ],
    )
    day = datetime.date(2024, 2, 29)
    values = [
        Row(1, "a", True, day, ["a", "b"], Row(1.0), ("t", True)),
        Row(None, None, None, None, None, None, None),
    ]
    assert several(env, run_printed, values, type_info) == [
        "+I[1,a,True,2024-02-29,['a', 'b'],<Row(1.0)>,('t', True)]",
        "+I[None,None,None,None,None,None,None]",
    ]


def test_row_kinds(env, run_printed):
    def of_kind(kind):
        row = Row(1)
        row.set_row_kind(kind)
        return row

    values = [of_kind(kind) for kind in RowKind]
    assert several(env, run_printed, values, T.ROW([T.INT()])) == [
        "+I[1]",
        "-U[1]",
        "+U[1]",
        "-D[1]",
    ]


def test_rows_from_a_source(env, run_printed):
    env.from_collection([(1, "a")], T.ROW([T.INT(), T.STRING()])).print()
    assert run_printed(env) == ["+I[1,a]"]


@pytest.mark.parametrize(
    ("type_info", "values", "texts"),
    [
        (
            T.TUPLE([T.STRING(), T.INT(), T.BOOLEAN(), T.DOUBLE()]),
            [("a", 1, True, 1.0)],
            ["(a,1,true,1.0)"],
        ),
        (
            T.TUPLE([T.ROW([T.INT(), T.STRING()]), T.LIST(T.STRING())]),
            [(Row(1, "s"), ["a", "b"])],
            ["(+I[1, s],[a, b])"],
        ),
        (T.LIST(T.STRING()), [["a", "b"], []], ["[a, b]", "[]"]),
        (T.MAP(T.STRING(), T.INT()), [{"k": 1}, {}], ["{k=1}", "{}"]),
        (T.SQL_DATE(), [datetime.date(2024, 2, 29)], ["2024-02-29"]),
        (T.SQL_TIME(), [datetime.time(7, 5, 9)], ["07:05:09"]),
        (
            T.SQL_TIMESTAMP(),
            [datetime.datetime(2024, 2, 29, 7, 5, 9, 120000), datetime.datetime(1999, 1, 1)],
            ["2024-02-29 07:05:09.12", "1999-01-01 00:00:00.0"],
        ),
        (T.BIG_DEC(), [Decimal("1.50"), Decimal(100)], ["1.50", "100"]),
        (T.STRING(), ["a b", "", "ä€"], ["a b", "", "ä€"]),
        (T.BOOLEAN(), [True, False], ["true", "false"]),
        (T.LONG(), [2**63 - 1, -5], ["9223372036854775807", "-5"]),
        (
            T.DOUBLE(),
            [1e7, 9999999.0, 1e-4, 0.001, float("inf"), float("nan"), -0.0, 5e-324, 100, 1.5e300],
            ["1.0E7", "9999999.0", "1.0E-4", "0.001", "Infinity", "NaN", "-0.0", "4.9E-324",
             "100.0", "1.5E300"],
        ),
        (T.FLOAT(), [1 / 3, 0.1, 16777217.0, 1e10], ["0.33333334", "0.1", "1.6777216E7", "1.0E10"]),
    ],
    ids=lambda value: str(value) if not isinstance(value, list) else "",
)  # fmt: skip
def test_java_s_text_of_typed_values(env, run_printed, type_info, values, texts):
    assert several(env, run_printed, values, type_info) == texts


def test_identifier(env, run_printed):
    env.from_collection([1], T.INT()).print("id")
    assert run_printed(env) == ["id> 1"]


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.one_attempt("the first subtask is the next one again after a restart")
def test_subtask_prefix(env, run_printed):
    stream = env.from_collection([5, 5], T.INT()).rebalance().map(lambda v: v, T.INT())
    stream.print()
    assert sorted(run_printed(env)) == ["1> 5", "2> 5"]


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.one_attempt("the first subtask is the next one again after a restart")
def test_identifier_and_subtask(env, run_printed):
    stream = env.from_collection([5, 5], T.INT()).rebalance().map(lambda v: v, T.INT())
    stream.print("id")
    assert sorted(run_printed(env)) == ["id:1> 5", "id:2> 5"]


@pytest.mark.one_attempt("each attempt has rounds of its own")
def test_prefix_follows_the_sink_s_parallelism(env, run_printed):
    stream = env.from_collection([5, 5], T.INT()).map(lambda v: v, T.INT())
    stream.print("one")
    stream.rebalance().print("two").set_parallelism(2)
    assert sorted(run_printed(env)) == ["one> 5", "one> 5", "two:1> 5", "two:2> 5"]


def test_a_keyed_stream_loses_the_identifier(env, run_printed):
    env.from_collection([1], T.INT()).key_by(lambda v: v).print("id")
    assert run_printed(env) == ["1"]


def test_none_in_a_typed_stream_has_no_text(env):
    env.from_collection(["a"], T.STRING()).map(lambda _: None, T.STRING()).print()
    with pytest.raises(Exception, match=r"NullPointerException|NullValueError"):
        env.execute()


def test_order_and_many_lines(env, run_printed):
    env.from_collection(list(range(100)), T.INT()).map(lambda v: v + 1, T.INT()).print()
    assert run_printed(env) == [str(i + 1) for i in range(100)]
