"""Functions of tables that are written in Python."""

from __future__ import annotations

import asyncio
import datetime
from collections import Counter

import numpy
import pytest
from pyflink.table import (
    AggregateFunction,
    AsyncScalarFunction,
    DataTypes,
    EnvironmentSettings,
    MapView,
    Row,
    ScalarFunction,
    TableAggregateFunction,
    TableEnvironment,
)
from pyflink.table.expressions import call, col, lit
from pyflink.table.udf import udaf, udf, udtaf, udtf
from pyflink.table.window import Tumble

from compat_tests.tables import changes, query, rows

BIGINT, STRING, INT, DOUBLE = (
    DataTypes.BIGINT(), DataTypes.STRING(), DataTypes.INT(), DataTypes.DOUBLE(),
)  # fmt: skip
ROW = DataTypes.ROW([DataTypes.FIELD("x", STRING), DataTypes.FIELD("y", INT)])
SUMS = DataTypes.ROW([DataTypes.FIELD("a", BIGINT), DataTypes.FIELD("b", BIGINT)])


@pytest.fixture
def t(t_env):
    table = t_env.from_elements(
        [("a", 1), ("b", 2), ("a", 3)],
        DataTypes.ROW([DataTypes.FIELD("k", STRING), DataTypes.FIELD("v", INT)]),
    )
    t_env.create_temporary_view("t", table)
    return table


def last(table):
    kept = Counter()
    for kind, *row in changes(table):
        kept[tuple(row)] += 1 if kind[0] == "+" else -1
    return sorted(kept.elements(), key=repr)


@udf(result_type=BIGINT)
def add(one, two):
    return one + two


class Times(ScalarFunction):
    def __init__(self):
        self.factor = None

    def open(self, function_context):
        self.factor = 10

    def eval(self, value):
        return None if value is None else value * self.factor


@udtf(result_types=[STRING, INT])
def repeated(text, count):
    for number in range(count):
        yield text, number


@udtf(result_types=INT)
def numbers(count):
    return range(count)


@udtf(result_types=[STRING, INT])
def doubled(row):
    yield row.k, row.v
    yield row.k + row.k, row.v * 2


class Mean(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_value(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else None

    def get_result_type(self):
        return DOUBLE

    def get_accumulator_type(self):
        return SUMS


class CountAndSum(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, row):
        accumulator[0] += 1
        accumulator[1] += row.v

    def get_value(self, accumulator):
        return Row(accumulator[0], accumulator[1])

    def get_result_type(self):
        return SUMS

    def get_accumulator_type(self):
        return SUMS


def test_scalar_functions(t_env, t):
    upper = udf(lambda text: text.upper(), result_type=STRING)
    times = udf(Times(), result_type="INT")
    assert rows(t.select(add(col("v"), 1), upper(col("k")), times(col("v")))) == [
        (2, "A", 10), (3, "B", 20), (4, "A", 30),
    ]  # fmt: skip
    assert rows(t.filter(add(col("v"), 0) > 1).select(col("k"))) == [("b",), ("a",)]
    t_env.create_temporary_function("add", add)
    t_env.create_temporary_system_function("times", times)
    assert query(t_env, "SELECT add(v, 2), TIMES(v) FROM t WHERE add(v, v) > 2") == [
        (4, 20), (5, 30),
    ]  # fmt: skip
    assert rows(t.select(call("add", col("v"), col("v"))))[0] == (2,)
    with pytest.raises(Exception, match="add"):
        t_env.create_temporary_function("add", add)
    assert t_env.drop_temporary_function("add")
    assert not t_env.drop_temporary_function("add")


def test_types_of_arguments(t_env):
    shown = udf(lambda *args: str([type(a).__name__ for a in args]), result_type=STRING)
    t_env.create_temporary_function("shown", shown)
    text = (
        "SELECT shown(1, 1.5, CAST(1 AS DOUBLE), 'x', TRUE, DATE '2024-01-02', "
        "TIMESTAMP '2024-01-02 03:04:05', ARRAY[1], MAP['a', 1], CAST(NULL AS INT))"
    )
    expected = [
        "int",
        "Decimal",
        "float",
        "str",
        "bool",
        "date",
        "datetime",
        "list",
        "dict",
        "NoneType",
    ]
    assert query(t_env, text) == [(str(expected),)]


def test_functions_of_series(t):
    total = udf(lambda one, two: one + two, result_type=INT, func_type="pandas")
    assert rows(t.select(total(col("v"), col("v")), col("k"))) == [(2, "a"), (4, "b"), (6, "a")]
    assert rows(t.filter(total(col("v"), col("v")) > 2).select(col("v"))) == [(2,), (3,)]


def test_functions_of_rows(t):
    changed = udf(lambda row: Row(row[0] + "!", row[1] * 2), result_type=ROW)
    assert rows(t.map(changed))[0] == ("a!", 2)
    assert t.map(changed).alias("p", "q").get_schema().get_field_names() == ["p", "q"]
    of_columns = udf(lambda k, v: Row(k + "?", v + 1), result_type=ROW)
    assert rows(t.map(of_columns(col("k"), col("v"))))[0] == ("a?", 2)
    assert rows(t.flat_map(doubled))[:2] == [("a", 1), ("aa", 2)]
    assert t.flat_map(doubled).get_schema().get_field_names() == ["f0", "f1"]
    assert len(rows(t.flat_map(repeated(col("k"), col("v"))))) == 6


def test_table_functions(t_env, t):
    joined = t.join_lateral(repeated(col("k"), col("v")).alias("s", "i"))
    assert rows(joined.select(col("k"), col("i"))) == [
        ("a", 0), ("b", 0), ("b", 1), ("a", 0), ("a", 1), ("a", 2),
    ]  # fmt: skip
    joined = t.left_outer_join_lateral(numbers(col("v") - 1).alias("n"))
    assert rows(joined.select(col("v"), col("n"))) == [(1, None), (2, 0), (3, 0), (3, 1)]
    t_env.create_temporary_function("repeated", repeated)
    text = "SELECT v, s, i FROM t, LATERAL TABLE(repeated(k, v)) AS x (s, i) WHERE v < 3"
    assert query(t_env, text) == [(1, "a", 0), (2, "b", 0), (2, "b", 1)]
    text = (
        "SELECT v, s FROM t LEFT JOIN LATERAL TABLE(repeated(k, v - 1)) AS x (s, i) ON TRUE "
        "WHERE v < 3"
    )
    assert query(t_env, text) == [(1, None), (2, "b")]


def test_aggregate_functions(t_env, t):
    mean = udaf(Mean())
    assert last(t.group_by(col("k")).select(col("k"), mean(col("v"), 1))) == [
        ("a", 2.0),
        ("b", 2.0),
    ]
    t_env.create_temporary_function("mean", mean)
    assert last(t_env.sql_query("SELECT k, mean(v, v) FROM t GROUP BY k")) == [
        ("a", 2.5), ("b", 2.0),
    ]  # fmt: skip
    sums = udaf(CountAndSum()).alias("a", "b")
    grouped = t.group_by(col("k")).aggregate(sums).select(col("k"), col("a"), col("b"))
    assert last(grouped) == [("a", 2, 4), ("b", 1, 2)]


@pytest.mark.whole("a bundle ends with a piece")
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("1", [("+I", "a", 1.0), ("+I", "b", 2.0), ("-U", "a", 1.0), ("+U", "a", 2.0)]),
        ("2", [("+I", "a", 1.0), ("+I", "b", 2.0), ("-U", "a", 1.0), ("+U", "a", 2.0)]),
        ("1000", [("+I", "a", 2.0), ("+I", "b", 2.0)]),
    ],
)
def test_a_group_changes_once_in_each_bundle(t_env, t, size, expected):
    t_env.get_config().set("python.fn-execution.bundle.size", size)
    mean = udaf(Mean())
    assert changes(t.group_by(col("k")).select(col("k"), mean(col("v"), 1))) == expected


@pytest.mark.whole("a bundle ends with a piece")
def test_groups_of_changing_rows(t_env, t):
    t_env.get_config().set("python.fn-execution.bundle.size", "1000")
    table = t_env.sql_query(
        "SELECT k, SUM(v) AS v FROM (SELECT MAX(v) AS v, k FROM t GROUP BY k) GROUP BY k"
    )
    mean = udaf(Mean())
    found = changes(table.group_by(col("v")).select(col("v"), mean(col("v"), 1)))
    assert sorted(found) == [("+I", 2, 2.0), ("+I", 3, 3.0)]


def test_all_columns_of_an_aggregate(t):
    def named(table):
        return table.get_schema().get_field_names()

    def sums():  # PyFlink's function keeps the names of an alias
        return udaf(CountAndSum())

    everything = t.group_by(col("k")).aggregate(sums()).select(col("*"))
    assert named(everything) == ["k", "TMP_0$a", "TMP_0$b"]
    assert last(everything) == [("a", 2, 4), ("b", 1, 2)]
    groups = t.group_by(col("k").alias("key")).aggregate(sums().alias("p", "q"))
    assert named(groups.select(col("*"), col("q").alias("r"))) == ["key", "p", "q", "r"]
    assert named(t.aggregate(sums()).select(col("*"))) == ["TMP_0$a", "TMP_0$b"]
    by_sum = t.group_by(col("v") + 1).aggregate(sums()(col("v")))
    assert named(by_sum.select(col("*")))[0] == "plus(v, 1)"
    assert named(t.group_by(col("k")).aggregate(col("v").sum).select(col("*"))) == ["k", "TMP_0"]


def test_iterators_over_a_map_view_remove_entries(t_env):
    class Kept(AggregateFunction):
        def create_accumulator(self):
            return Row(MapView())

        def accumulate(self, accumulator, key):
            view = accumulator[0]
            view[key] = len(key)
            for entries, gone in ((view.keys, "b"), (view.values, 2), (view.items, ("c", 1))):
                iterator = iter(entries())
                for entry in iterator:
                    if entry == gone:
                        iterator.remove()

        def get_value(self, accumulator):
            return ",".join(sorted(accumulator[0].keys()))

        def get_accumulator_type(self):
            return DataTypes.ROW([DataTypes.FIELD("f0", DataTypes.MAP_VIEW(STRING, BIGINT))])

        def get_result_type(self):
            return STRING

    table = t_env.from_elements([("a",), ("b",), ("cc",), ("c",), ("d",)], ["k"])
    assert last(table.select(udaf(Kept())(col("k")))) == [("a,d",)]


def test_aggregate_functions_over_windows(t_env, tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("a,1,2024-01-01 00:00:01.000\na,4,2024-01-01 00:00:03.000\n")
    t_env.execute_sql(
        "CREATE TABLE w (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    window = Tumble.over(lit(10).seconds).on(col("ts")).alias("x")
    grouped = t_env.from_path("w").window(window).group_by(col("x"), col("k"))
    mean, largest = udaf(Mean()), udaf(lambda s: s.max(), result_type=INT, func_type="pandas")
    start = datetime.datetime(2024, 1, 1)  # noqa: DTZ001
    assert rows(grouped.select(col("x").start, mean(col("v"), 1))) == [(start, 2.5)]
    assert rows(grouped.select(col("x").start, largest(col("v")))) == [(start, 4)]


def test_a_function_that_fails(t):
    failing = udf(lambda value: 1 // (value - 2), result_type=INT)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        rows(t.select(failing(col("v"))))


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (INT, "text", "integer|no INT"),
        (INT, 3000000000, "too large|too much for INT"),
        (DataTypes.STRING(), 5, "'int' object has no attribute 'encode'|5, which is no STRING"),
    ],
)
def test_a_function_that_returns_something_else(t, kind, value, error):
    wrong = udf(lambda _: value, result_type=kind)
    with pytest.raises(Exception, match=error):
        rows(t.select(wrong(col("v"))))


def test_results_that_are_numbers_of_another_kind(t_env):
    numbers = t_env.from_elements([(1,)], ["v"])
    returned = {numpy.int64(3): BIGINT, numpy.float32(2.5): INT, 1.7: INT, True: BIGINT}
    functions = [udf(lambda _, it=it: it, result_type=kind) for it, kind in returned.items()]
    functions.append(udf(lambda _: 1, result_type=DataTypes.BOOLEAN()))
    (found,) = rows(numbers.select(*(function(col("v")) for function in functions)))
    assert repr(found) == "(3, 2, 1, 1, True)"


class TwoLargest(TableAggregateFunction):
    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, value):
        found = sorted([*(n for n in accumulator if n is not None), value], reverse=True)
        accumulator[:] = [*found, None, None][:2]

    def emit_value(self, accumulator):
        for rank, value in enumerate(accumulator, 1):
            if value is not None:
                yield Row(value, rank)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(BIGINT)

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("n", BIGINT), DataTypes.FIELD("r", BIGINT)])


def test_table_aggregate_functions(t):
    largest = udtaf(TwoLargest())
    table = t.group_by(col("k")).flat_aggregate(largest(col("v")).alias("n", "r"))
    assert last(table.select(col("k"), col("n"), col("r"))) == [
        ("a", 1, 2), ("a", 3, 1), ("b", 2, 1),
    ]  # fmt: skip
    assert last(t.flat_aggregate(largest(col("v")).alias("n", "r")).select(col("n"))) == [
        (2,), (3,),
    ]  # fmt: skip


def test_floats_of_32_bits(t_env):
    fields = [DataTypes.FIELD("k", INT), DataTypes.FIELD("f", DataTypes.FLOAT())]
    rows_ = [(1, 30.2), (1, 53.1), (1, 3.1), (1, None)]
    t_env.create_temporary_view("floats", t_env.from_elements(rows_, DataTypes.ROW(fields)))
    kinds = udf(lambda k, f: (f * 0) + 32, result_type=DataTypes.FLOAT(), func_type="pandas")
    tenth = udf(lambda f: 0.1 if f else None, result_type=DataTypes.FLOAT())
    t_env.create_temporary_function("kinds", kinds)
    t_env.create_temporary_function("tenth", tenth)
    text = "SELECT CAST(tenth(f) AS STRING), kinds(k, f) FROM floats"
    assert sorted(query(t_env, text), key=repr) == [
        ("0.1", 32.0), ("0.1", 32.0), ("0.1", 32.0), (None, None),
    ]  # fmt: skip


def test_means_of_floats_of_32_bits():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    fields = [DataTypes.FIELD("f", DataTypes.FLOAT())]
    values = [(30.2,), (53.1,), (3.1,), (None,)]
    t_env.create_temporary_view("floats", t_env.from_elements(values, DataTypes.ROW(fields)))
    mean = udaf(lambda f: f.mean(), result_type=DataTypes.FLOAT(), func_type="pandas")
    t_env.create_temporary_function("mean_of", mean)
    assert query(t_env, "SELECT CAST(mean_of(f) AS STRING) FROM floats") == [("28.800001",)]


@udf(result_type=DataTypes.STRING())
async def shouted(text):
    await asyncio.sleep(0.001)
    return "NOTHING" if text is None else text.upper()


class Sum(AsyncScalarFunction):
    def open(self, function_context):
        self.start = int(function_context.get_job_parameter("no such parameter", "100"))

    async def eval(self, one, two):
        return self.start + one + two


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("LOWER(shouted(s)) || 'c'", "abc"),
        ("shouted(CAST(NULL AS STRING))", "NOTHING"),
        ("shouted(shouted(s))", "AB"),
        ("total(i, 1) * 2", 206),
        ("CASE WHEN i = 2 THEN shouted(s) ELSE 'no' END", "AB"),
    ],
)
def test_asynchronous_functions(t_env, expression, expected):
    """Of one row: with more, PyFlink 2.3 mixes up what calls in flight are for."""
    t_env.create_temporary_function("shouted", shouted)
    t_env.create_temporary_function("total", udf(Sum(), result_type=DataTypes.BIGINT()))
    text = f"SELECT {expression} FROM (VALUES (2, 'ab')) AS t(i, s)"
    assert query(t_env, text) == [(expected,)]


def test_asynchronous_functions_in_batch_mode():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.create_temporary_function("shouted", shouted)
    assert query(t_env, "SELECT shouted(s) FROM (VALUES ('ab')) AS t(s)") == [("AB",)]


def test_asynchronous_functions_of_expressions(t_env):
    table = t_env.sql_query("SELECT i, s FROM (VALUES (2, 'ab')) AS t(i, s)")
    assert rows(table.select(shouted(col("s")), col("i"))) == [("AB", 2)]
    assert rows(table.filter(shouted(col("s")) == "AB")) == [(2, "ab")]
    with pytest.raises(Exception, match="Only a scalar function can be used in the map operator"):
        table.map(shouted(col("s")))


def test_asynchronous_functions_in_joins(t_env):
    t_env.create_temporary_function("shouted", shouted)
    text = """
        SELECT i, s FROM (VALUES (2)) AS a(i)
        {} JOIN (VALUES (2, 'ab')) AS b(j, s) ON i = j AND shouted(s) = {}
    """
    assert query(t_env, text.format("", "'AB'")) == [(2, "ab")]
    assert query(t_env, text.format("", "'ab'")) == []


def test_no_asynchronous_function_of_series():
    with pytest.raises(ValueError, match="Async scalar functions do not support pandas func_type"):

        @udf(result_type=DataTypes.STRING(), func_type="pandas")
        async def nothing(texts):
            return texts
