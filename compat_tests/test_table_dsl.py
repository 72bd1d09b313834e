"""The methods of tables with expressions."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter

import pytest
from pyflink.table import DataTypes, EnvironmentSettings, Row, TableEnvironment
from pyflink.table.expression import TimeIntervalUnit
from pyflink.table.expressions import (
    array,
    call,
    call_sql,
    coalesce,
    col,
    concat,
    concat_ws,
    date_format,
    if_then_else,
    json_string,
    lit,
    map_,
    null_of,
    range_,
    row,
    to_timestamp,
    with_columns,
    without_columns,
)  # fmt: skip

from compat_tests.tables import changes, rows


def table_of(t_env, values, **columns):
    fields = [DataTypes.FIELD(name, kind) for name, kind in columns.items()]
    return t_env.from_elements(values, DataTypes.ROW(fields))


@pytest.fixture
def t(t_env):
    values = [("a", 1), ("b", 2), ("a", 3)]
    return table_of(t_env, values, k=DataTypes.STRING(), v=DataTypes.INT())


@pytest.fixture
def r(t_env):
    values = [("a", "ann"), ("c", "cid")]
    return table_of(t_env, values, rk=DataTypes.STRING(), name=DataTypes.STRING())


def last(table):
    kept = Counter()
    for kind, *values in changes(table):
        kept[tuple(values)] += 1 if kind[0] == "+" else -1
    return sorted(kept.elements(), key=repr)


def names(table):
    return table.get_schema().get_field_names()


def test_groups(t):
    grouped = t.group_by(col("k")).select(
        col("k"), col("v").sum, col("v").count.alias("c"), col("v").max, col("v").min, col("v").avg
    )
    assert last(grouped) == [("a", 4, 2, 3, 1, 2), ("b", 2, 1, 2, 2, 2)]
    odd = t.group_by((col("v") % 2).alias("m")).select(col("m"), col("v").sum.alias("s"))
    assert last(odd) == [(0, 2), (1, 4)]
    assert last(odd.filter(col("s") > 2)) == [(1, 4)]
    assert last(t.select(col("v").sum, col("k").count.distinct)) == [(6, 2)]
    assert last(t.select(col("k")).distinct()) == [("a",), ("b",)]


def test_joins(t, r):
    joined = t.join(r).where(col("k") == col("rk")).select(col("v"), col("name"))
    assert last(joined) == [(1, "ann"), (3, "ann")]
    on = col("k") == col("rk")
    chosen = (col("v"), col("name"))
    assert last(t.left_outer_join(r, on).select(*chosen)) == [(1, "ann"), (2, None), (3, "ann")]
    assert last(t.right_outer_join(r, on).select(*chosen)) == [
        (1, "ann"), (3, "ann"), (None, "cid"),
    ]  # fmt: skip
    assert last(t.full_outer_join(r, on).select(*chosen)) == [
        (1, "ann"), (2, None), (3, "ann"), (None, "cid"),
    ]  # fmt: skip


def test_order_and_limit(t):
    assert last(t.order_by(col("v").desc).fetch(2)) == [("a", 3), ("b", 2)]
    assert rows(t.limit(2)) == [("a", 1), ("b", 2)]


def test_null_is_the_largest_value_of_an_order(t_env):
    """In SQL it is the smallest."""
    table = table_of(t_env, [(2,), (None,), (1,)], v=DataTypes.INT())
    assert last(table.order_by(col("v")).fetch(2)) == [(1,), (2,)]
    assert last(table.order_by(col("v").asc).fetch(2)) == [(1,), (2,)]
    assert last(table.order_by(col("v").desc).fetch(2)) == [(2,), (None,)]
    t_env.create_temporary_view("t", table)
    in_sql = "SELECT v FROM t ORDER BY v {} LIMIT 2"
    assert last(t_env.sql_query(in_sql.format("ASC"))) == [(1,), (None,)]
    assert last(t_env.sql_query(in_sql.format("DESC"))) == [(1,), (2,)]


@pytest.mark.parametrize("name", ["union", "minus", "intersect"])
def test_set_operations_need_bounded_tables(t, name):
    with pytest.raises(Exception, match="two unbounded tables is currently not supported"):
        getattr(t, name)(t)


def test_set_operations():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    left = t_env.from_elements([("a",), ("b",), ("a",)], ["k"])
    right = t_env.from_elements([("a",), ("c",)], ["k"])
    assert last(left.union(right)) == [("a",), ("b",), ("c",)]
    assert last(left.minus(right)) == [("b",)]
    assert last(left.minus_all(right)) == [("a",), ("b",)]
    assert last(left.intersect(right)) == [("a",)]
    assert last(left.intersect_all(right)) == [("a",)]


def test_columns(t):
    added = t.add_columns((col("v") + 1).alias("w"), col("k").upper_case)
    assert (names(added), rows(added)[0]) == (["k", "v", "w", "_c3"], ("a", 1, 2, "A"))
    assert rows(t.add_or_replace_columns((col("v") + 1).alias("v")))[0] == ("a", 2)
    assert names(t.rename_columns(col("v").alias("z"))) == ["k", "z"]
    assert names(t.drop_columns(col("v"))) == ["k"]
    assert names(t.alias("x")) == ["x", "v"]
    assert rows(t.select(with_columns(range_(1, 2))))[0] == ("a", 1)
    assert rows(t.select(without_columns(col("k"))))[0] == (1,)
    assert rows(t.select(col("*"), (col("v") + 1).alias("w")))[0] == ("a", 1, 2)


def test_texts(t):
    k = col("k")
    table = t.select(
        k.upper_case, k.concat("x"), k.substring(1, 1), k.char_length, k.like("a%"),
        k.replace("a", "z"), k.lpad(3, "_"), k.repeat(2), k.trim(), k.position("cab"), k.md5,
        concat("q", k), concat_ws("-", k, "z"), call_sql("UPPER(k) || 'q'"), call("UPPER", k),
    ).limit(1)  # fmt: skip
    assert rows(table) == [
        ("A", "ax", "a", 1, True, "z", "__a", "aa", "a", 2, "0cc175b9c0f1b6a831c399e269772661",
         "qa", "a-z", "Aq", "A"),
    ]  # fmt: skip


def test_numbers_and_conditions(t):
    v = col("v")
    table = t.select(
        v.abs, v.sqrt, v**2, v.round(0), -v, v % 2, v / 2,
        (v > 1).then("big", "small"), if_then_else(v == 1, 1, 0), v.in_(1, 3), v.between(2, 3),
        coalesce(null_of(DataTypes.INT()), v), v.is_null, ~(v > 1), (v > 1) & (col("k") == "a"),
    )  # fmt: skip
    assert rows(table)[2] == (
        3, 1.7320508075688772, 9.0, 3, -3, 1, 1, "big", 0, True, True, 3, False, False, True,
    )  # fmt: skip


def test_times(t):
    ts = to_timestamp("2024-01-02 03:04:05")
    table = t.select(
        ts.extract(TimeIntervalUnit.SECOND), ts.floor(TimeIntervalUnit.MINUTE),
        ts + lit(1).hours, date_format(ts, "HH:mm"), ts.cast(DataTypes.DATE()),
    ).limit(1)  # fmt: skip
    assert rows(table) == [
        (5, datetime.datetime(2024, 1, 2, 3, 4), datetime.datetime(2024, 1, 2, 4, 4, 5),  # noqa: DTZ001
         "03:04", datetime.date(2024, 1, 2)),
    ]  # fmt: skip


def test_collections_and_json(t):
    table = t.select(
        array(1, 2).cardinality, array(1, col("v")).at(2), map_("a", 1).at("a"),
        array(3, 1).array_contains(3), lit('{"a": 1}').json_value("$.a", DataTypes.INT()),
        lit('{"a": 1}').json_exists("$.a"), json_string(col("v")),
    ).limit(1)  # fmt: skip
    assert rows(table) == [(2, 1, 1, True, 1, True, "1")]


def test_pandas(t_env, t):
    pandas = pytest.importorskip("pandas")
    frame = t.to_pandas()
    assert frame.to_dict("list") == {"k": ["a", "b", "a"], "v": [1, 2, 3]}
    assert str(frame["v"].dtype) == "int32"
    sums = t.group_by(col("k")).select(col("k"), col("v").sum.alias("s")).to_pandas()
    assert sums.sort_values("k").to_dict("list") == {"k": ["a", "b"], "s": [4, 2]}
    given = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1.5, 2.5]})
    table = t_env.from_pandas(given)
    assert (names(table), rows(table)) == (["a", "b", "c"], [(1, "x", 1.5), (2, None, 2.5)])


def test_types_of_pandas(t_env):
    moment = "TIMESTAMP '2026-01-01 10:00:00'"
    kinds = ["TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)"]
    listed = [f"CAST({moment} AS {kind}), CAST(NULL AS {kind})" for kind in kinds]
    t_env.get_config().set("table.local-time-zone", "UTC")
    frame = t_env.sql_query(f"SELECT {', '.join(listed)}").to_pandas()
    units = [unit for unit in ("s", "ms", "us", "ns") for _ in range(2)]
    assert list(map(str, frame.dtypes)) == [
        *(f"datetime64[{unit}]" for unit in units), *["datetime64[ms, UTC]"] * 2
    ]  # fmt: skip
    assert [str(value) for value in frame.iloc[0]] == [
        *("2026-01-01 10:00:00", "NaT") * 4, "2026-01-01 10:00:00+00:00", "NaT"
    ]  # fmt: skip
    empty = t_env.sql_query("SELECT x FROM (VALUES (1)) AS v(x) WHERE x > 1").to_pandas()
    assert (list(empty.columns), str(empty["x"].dtype), len(empty)) == (["x"], "object", 0)


@pytest.mark.pyflink_bug("names the zone beside the time in UTC")
def test_points_in_time_in_other_zones_are_the_same_in_pandas(t_env):
    t_env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    frame = t_env.sql_query("SELECT TO_TIMESTAMP_LTZ(1700000000123, 3) AS a").to_pandas()
    assert str(frame["a"].dtype) == "datetime64[ms, Asia/Tokyo]"
    assert str(frame["a"][0]) == "2023-11-15 07:13:20.123000+09:00"


MOMENT = datetime.datetime(2026, 1, 1, 10, 0, 0, 123000)  # noqa: DTZ001 - a TIMESTAMP has no zone


@pytest.mark.parametrize(
    ("values", "dtype", "kind", "found"),
    [
        ([MOMENT], "datetime64[s]", "TIMESTAMP(0)", MOMENT.replace(microsecond=0)),
        ([MOMENT], "datetime64[ms]", "TIMESTAMP(3)", MOMENT),
        ([MOMENT], "datetime64[ns]", "TIMESTAMP(9)", MOMENT),
        ([MOMENT], object, "TIMESTAMP(6)", MOMENT),
        ([b"abc"], object, "BYTES", b"abc"),
        ([MOMENT.date()], object, "DATE", MOMENT.date()),
        ([decimal.Decimal("1.5"), decimal.Decimal("10.25")], object, "DECIMAL(4, 2)",
         decimal.Decimal("1.50")),
        ([["a"]], object, "ARRAY<STRING>", ["a"]),
        ([[[1, 2], [3]]], object, "ARRAY<ARRAY<BIGINT>>", [[1, 2], [3]]),
        ([True, None], object, "BOOLEAN", True),
        ([1, None], object, "BIGINT", 1),
    ],
)  # fmt: skip
def test_tables_of_pandas(t_env, values, dtype, kind, found):
    pandas = pytest.importorskip("pandas")
    table = t_env.from_pandas(pandas.DataFrame({"c": pandas.Series(values, dtype=dtype)}))
    assert f"c: {kind}\n" in str(table.get_schema())
    assert rows(table)[0] == (found,)


A_ROW = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])
A_MAP = DataTypes.MAP(DataTypes.STRING(False), DataTypes.ARRAY(DataTypes.INT()))


@pytest.mark.parametrize(
    ("value", "kind", "found"), [({"a": 1, "b": "x"}, None, Row(1, "x")), ({"a": 1}, A_ROW, Row(1))]
)
def test_rows_of_pandas(t_env, value, kind, found):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"c": [value, None]})
    table = t_env.from_pandas(frame, None if kind is None else [kind])
    assert rows(table) == [(found,), (None,)]


@pytest.mark.pyflink_bug("takes no map, and no row inside of an array")
@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ([{"a": 1}], DataTypes.ARRAY(A_ROW), [Row(1)]),
        ({"a": [1, None]}, A_MAP, {"a": [1, None]}),
        ([("a", [1]), ("b", None)], A_MAP, {"a": [1], "b": None}),
    ],
)
def test_nested_values_of_pandas(t_env, value, kind, found):
    pandas = pytest.importorskip("pandas")
    table = t_env.from_pandas(pandas.DataFrame({"c": [value, None]}), [kind])
    assert rows(table) == [(found,), (None,)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, 2.5], DataTypes.INT()),
        ([1, 200], DataTypes.TINYINT()),
        ([1], DataTypes.STRING()),
        ([decimal.Decimal("1.55")], DataTypes.DECIMAL(5, 1)),
        ([[1, 200]], DataTypes.ARRAY(DataTypes.TINYINT())),
        ([MOMENT], DataTypes.TIMESTAMP(0)),
    ],
    ids=str,
)
def test_values_of_pandas_that_have_another_type(t_env, values, kind):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(RuntimeError, match=r"Exception thrown when converting pandas.Series"):
        t_env.from_pandas(pandas.DataFrame({"c": values}), [kind])


def test_arrays_of_numpy_become_lists_of_numbers(t_env):
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    table = t_env.from_pandas(pandas.DataFrame({"c": [numpy.array([1, 2], "int32")]}))
    [(found,)] = rows(table)
    assert (found, {type(item) for item in found}) == ([1, 2], {int})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.select(col("nope")), r"Cannot resolve field \[nope\]"),
        (lambda t: t.group_by(col("k")).select(col("v")), r"Cannot resolve field \[v\]"),
        (lambda t: t.select(col("k"), col("k")), "Ambiguous column name: k"),
        (lambda t: t.filter(col("v")), "requires a boolean expression"),
    ],
    ids=["unknown", "not grouped", "twice", "no condition"],
)
def test_what_is_wrong(t, make, message):
    with pytest.raises(Exception, match=message):
        make(t)


def test_to_pandas_of_nested_columns(t_env):
    fields = [
        DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT())),
        DataTypes.FIELD("b", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())])),
    ]
    frame = t_env.from_elements([([1, 2], (3,)), (None, None)], DataTypes.ROW(fields)).to_pandas()
    array = frame["a"][0]
    assert (type(array).__name__, str(array.dtype), array.tolist()) == ("ndarray", "int32", [1, 2])
    assert list(frame["b"]) == [{"x": 3}, None]
    assert frame["a"][1] is None


def test_to_pandas_of_maps(t_env):
    some, nothing = "MAP['k', 1, 'l', CAST(NULL AS INT)]", "CAST(NULL AS MAP<STRING NOT NULL, INT>)"
    frame = t_env.sql_query(f"SELECT {some} AS m, {nothing} AS n").to_pandas()
    assert list(frame["m"]) == [[("k", 1), ("l", None)]]
    assert list(frame["n"]) == [None]


def test_names_of_fields_and_conversions(t_env, t):
    kind = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", A_ROW)])
    r, v, big = col("r"), col("v"), DataTypes.BIGINT()
    fields = [DataTypes.FIELD("v", DataTypes.INT()), DataTypes.FIELD("r", kind)]
    table = t_env.from_elements([(1, Row(2, Row(3)))], DataTypes.ROW(fields))
    named = table.select(
        r.get("a"), r.get(0), r.get(1).get("a"), v.cast(big), v.alias("q").cast(big)
    )
    assert names(named) == ["r$a", "r$_0", "r$_1$a", "v-BIGINT", "q-BIGINT"]
    assert rows(named) == [(2, 2, 3, 1, 1)]
    unnamed = table.select(v.try_cast(big), v.cast(big).cast(big.not_null()), (v + 1).cast(big))
    assert names(unnamed) == ["_c0", "_c1", "_c2"]
    assert names(table.add_columns(r.get("a"))) == ["v", "r", "r$a"]
    assert names(table.select(r.get("b").flatten)) == ["r$b$a"]
    sums = table.select(v.sum.cast(big), v.max + 1, v.min)
    assert (names(sums), rows(sums)[-1]) == (["EXPR$0-BIGINT", "_c1", "EXPR$2"], (1, 2, 1))
    groups = table.group_by(v).select(v, v.cast(big), v.max.cast(big), v.min)
    assert names(groups) == ["v", "v-BIGINT", "EXPR$0-BIGINT", "EXPR$1"]


def test_names_of_expressions_that_are_sql(t_env):
    table = t_env.from_elements([(1, 2)], ["a", "b"])
    some = ["a", "a + 1", "CAST(a AS STRING)", "UPPER('x')"]
    assert names(table.select(*map(call_sql, some))) == ["_c0", "_c1", "_c2", "_c3"]
    assert names(table.select(call_sql("a").alias("q"), call_sql("a") + 1)) == ["q", "_c1"]
    assert names(table.add_columns(call_sql("a"))) == ["a", "b", "_c2"]
    assert names(table.select(call_sql("COUNT(1)"))) == ["_c0"]


def test_fields_of_rows_of_the_table_api(t_env):
    table = t_env.from_elements([(1,)], ["a"])
    made = row(col("a"), "x")
    assert "`f0` BIGINT, `f1` CHAR(1)" in str(table.select(made).get_schema())
    selected = table.select(made.get("f0"), made.get(1), row(1, 2).get("f1"))
    assert rows(selected) == [(1, "x", 2)]
    assert rows(t_env.sql_query("SELECT r.`EXPR$0` FROM (SELECT ROW(1, 2) AS r)")) == [(1,)]
