"""The values that Python functions get and give, and those that a program collects."""

from __future__ import annotations

import datetime
import decimal

import pytest
from pyflink.common import Row
from pyflink.table import AggregateFunction, DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udaf, udf, udtf

from compat_tests.tables import query, rows

STRING = DataTypes.STRING()
FLOAT = DataTypes.FLOAT()
POINT = "TO_TIMESTAMP_LTZ(1577836800123, 3)"
ZONES = ["UTC", "Asia/Shanghai", "America/New_York"]


@udf(result_type=STRING)
def described(value):
    return f"{type(value).__name__} {value.isoformat()} {value.tzinfo}"


@udf(result_type=STRING)
def shown(value):
    return repr(value)


@udf(result_type=DataTypes.TIMESTAMP_LTZ(3))
def same(value):
    return value


@udtf(result_types=[STRING])
def listed(value):
    yield value.isoformat()


class Latest(AggregateFunction):
    def create_accumulator(self):
        return [None]

    def accumulate(self, accumulator, value):
        accumulator[0] = value.isoformat()

    def get_value(self, accumulator):
        return accumulator[0]

    def get_result_type(self):
        return STRING

    def get_accumulator_type(self):
        return DataTypes.ARRAY(STRING)


@pytest.mark.parametrize("zone", ZONES)
def test_a_point_in_time_is_a_datetime_with_the_sessions_zone(t_env, zone):
    t_env.get_config().set_local_timezone(zone)
    for name, function in {"described": described, "same": same, "listed": listed}.items():
        t_env.create_temporary_system_function(name, function)
    t_env.create_temporary_system_function("latest", udaf(Latest()))
    offset = {"UTC": "+00:00", "Asia/Shanghai": "+08:00", "America/New_York": "-05:00"}[zone]
    text = f"2020-01-01T00:00:00.123000{offset}"
    assert query(t_env, f"SELECT described({POINT})") == [(f"datetime {text} {zone}",)]
    found = query(t_env, f"SELECT CAST(same({POINT}) AS STRING), CAST({POINT} AS STRING)")
    assert found[0][0] == found[0][1]
    source = f"(VALUES ({POINT})) AS t (x)"
    assert query(t_env, f"SELECT y FROM {source}, LATERAL TABLE(listed(x)) AS u (y)") == [(text,)]
    assert query(t_env, f"SELECT latest(x) FROM {source}") == [(text,)]


def test_points_in_time_inside_other_values(t_env):
    @udf(result_type=STRING)
    def kinds(array, row, mapped):
        return " ".join(type(each).__name__ for each in (array[0], row[0], mapped["a"]))

    t_env.create_temporary_system_function("kinds", kinds)
    call = f"kinds(ARRAY[{POINT}], ROW({POINT}, 1), MAP['a', {POINT}])"
    assert query(t_env, f"SELECT {call}") == [("datetime datetime datetime",)]


@pytest.mark.parametrize(
    "given",
    [
        datetime.datetime(2020, 1, 1, 5),  # noqa: DTZ001
        datetime.datetime(2020, 1, 1, 5, tzinfo=datetime.UTC),
        datetime.datetime(2020, 1, 1, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ],
)
def test_the_zone_of_a_result_is_passed_over(t_env, given):
    t_env.get_config().set_local_timezone("UTC")
    for name, kind in {"f1": DataTypes.TIMESTAMP_LTZ(3), "f2": DataTypes.TIMESTAMP(3)}.items():
        t_env.create_temporary_system_function(name, udf(lambda _: given, result_type=kind))
    text = "2020-01-01 05:00:00.000"
    found = query(t_env, "SELECT CAST(f1(1) AS STRING), CAST(f2(1) AS STRING)")
    assert found == [(text, text)]


def test_collected_floats_are_what_their_text_says(t_env):
    tenth = udf(lambda _: 1.1, result_type=FLOAT)
    t_env.create_temporary_system_function("tenth", tenth)
    f = "CAST(1.1 AS FLOAT)"
    found = query(t_env, f"SELECT {f}, ARRAY[{f}], ROW({f}), MAP['a', {f}], tenth(1), {f} * 2")
    assert found == [(1.1, [1.1], Row(1.1), {"a": 1.1}, 1.1, 2.2)]
    assert query(t_env, "SELECT CAST(tenth(1) AS DOUBLE)") == [(1.100000023841858,)]
    sums = f"SELECT SUM(x), AVG(x) FROM (VALUES ({f}), (CAST(2.2 AS FLOAT))) AS t (x)"
    assert query(t_env, sums)[-1] == (3.3000002, 1.6500001)


def test_floats_of_a_program_have_32_bits_in_functions(t_env):
    t_env.create_temporary_system_function("shown", shown)
    kind = DataTypes.ROW(
        [DataTypes.FIELD("a", FLOAT), DataTypes.FIELD("b", DataTypes.ARRAY(FLOAT))]
    )
    table = t_env.from_elements([(1.1, [2.2])], kind)
    t_env.create_temporary_view("t", table)
    found = query(t_env, "SELECT a, b, shown(a), shown(b), CAST(a AS DOUBLE) FROM t")
    exact = 1.100000023841858
    assert found == [(1.1, [2.2], "1.100000023841858", "[2.200000047683716]", exact)]


@udf(result_type=STRING, func_type="pandas")
def series(values):
    import pandas as pd

    if isinstance(values, pd.DataFrame):
        kinds = ", ".join(f"{name} {kind}" for name, kind in values.dtypes.items())
        return pd.Series([f"frame {kinds}"] * len(values))
    first = type(values.iloc[0]).__name__
    return pd.Series([f"{values.dtype} {first}"] * len(values))


COLUMNS = {
    "TINYINT": (1, "int8 int8"),
    "BIGINT": (1, "int64 int64"),
    "FLOAT": (1.0, "float32 float32"),
    "BOOLEAN": (True, "bool bool"),
    "DATE": (datetime.date(2020, 1, 2), "object date"),
    "TIME": (datetime.time(1, 2, 3), "object time"),
    "TIMESTAMP(3)": (datetime.datetime(2020, 1, 1), "datetime64[ms] Timestamp"),  # noqa: DTZ001
    "DECIMAL(10, 2)": (decimal.Decimal("1.50"), "object Decimal"),
    "ARRAY<INT>": ([1, 2], "object ndarray"),
    "ROW<x INT, y STRING>": (Row(1, "x"), "frame x int32, y object"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_the_series_of_each_type(t_env, kind):
    value, expected = COLUMNS[kind]
    t_env.create_temporary_system_function("series", series)
    types = {"TINYINT": DataTypes.TINYINT(), "BIGINT": DataTypes.BIGINT(), "FLOAT": FLOAT,
             "BOOLEAN": DataTypes.BOOLEAN(), "DATE": DataTypes.DATE(), "TIME": DataTypes.TIME(),
             "TIMESTAMP(3)": DataTypes.TIMESTAMP(3), "DECIMAL(10, 2)": DataTypes.DECIMAL(10, 2),
             "ARRAY<INT>": DataTypes.ARRAY(DataTypes.INT()),
             "ROW<x INT, y STRING>": DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT()),
                                                    DataTypes.FIELD("y", STRING)])}  # fmt: skip
    row = DataTypes.ROW([DataTypes.FIELD("a", types[kind])])
    t_env.create_temporary_view("t", t_env.from_elements([(value,), (value,)], row))
    assert query(t_env, "SELECT series(a) FROM t") == [(expected,), (expected,)]


@pytest.mark.whole("a checkpoint ends a batch of rows")
def test_rows_reach_a_function_of_series_together(t_env):
    t_env.create_temporary_system_function("series", series)
    t_env.create_temporary_view("t", t_env.from_elements([(1,), (2,), (3,)], ["a"]))
    found = query(t_env, "SELECT series(NULLIF(a, 2)) FROM t")
    assert found == [("float64 float64",)] * 3


def test_results_of_functions_of_series(t_env):
    import pandas as pd

    pair = DataTypes.ROW(
        [DataTypes.FIELD("x", DataTypes.BIGINT()), DataTypes.FIELD("y", DataTypes.BIGINT())]
    )
    both = udf(lambda a: pd.DataFrame({"x": a, "y": a * 10}), result_type=pair, func_type="pandas")
    numbers = udf(lambda a: a.where(a != 2), result_type=DataTypes.BIGINT(), func_type="pandas")
    table = t_env.from_elements([(1,), (2,)], ["a"])
    assert rows(table.select(both(col("a")), numbers(col("a")))) == [
        (Row(1, 10), 1),
        (Row(2, 20), None),
    ]


def test_whole_rows_are_a_frame(t_env):
    import pandas as pd

    pair = DataTypes.ROW(
        [DataTypes.FIELD("x", DataTypes.BIGINT()), DataTypes.FIELD("y", DataTypes.BIGINT())]
    )
    table = t_env.from_elements([(1, 3), (2, 1), (4, 2)], ["a", "b"])

    def swapped(frame):
        columns = list(frame.columns)
        return pd.DataFrame({"x": frame[columns[1]], "y": frame[columns[0]]})

    mapped = table.map(udf(swapped, result_type=pair, func_type="pandas"))
    assert rows(mapped) == [(3, 1), (1, 2), (2, 4)]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: a.iloc[:0], "The result length '0' of Pandas UDF .* is not equal to the input"),
        (lambda a: a.tolist(), "must be pandas.Series or pandas.DataFrame"),
        (lambda a: a.to_numpy(), "must be pandas.Series or pandas.DataFrame"),
        (lambda a: a.astype(str), "Exception thrown when converting pandas.Series"),
    ],
)
def test_wrong_results_of_functions_of_series(t_env, function, message):
    table = t_env.from_elements([(1,), (2,)], ["a"])
    wrong = udf(function, result_type=DataTypes.BIGINT(), func_type="pandas", name="wrong")
    with pytest.raises(Exception, match=message):
        rows(table.select(wrong(col("a"))))


def test_aggregates_of_whole_rows_get_a_frame_with_names():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    table = t_env.from_elements([(1, 2), (2, 1), (1, 4)], ["a", "b"])
    columns = DataTypes.ROW(
        [DataTypes.FIELD("m", DataTypes.DOUBLE()), DataTypes.FIELD("n", DataTypes.BIGINT())]
    )

    def mean(frame):
        return frame.b.mean(), frame["a"].max()

    whole = udaf(mean, func_type="pandas", result_type=columns)
    assert rows(table.aggregate(whole.alias("x", "y")).select(col("y"), col("x"))) == [(2, 7 / 3)]
    again = udaf(mean, func_type="pandas", result_type=columns)
    groups = table.group_by(col("a")).aggregate(again).select(col("*"))
    assert sorted(rows(groups)) == [(1, 3.0, 1), (2, 1.0, 2)]
    doubled = udf(lambda frame: frame[["b", "a"]] * 2, func_type="pandas", result_type=columns)
    assert sorted(rows(table.map(doubled))) == [(2.0, 4), (4.0, 2), (8.0, 2)]


@pytest.mark.parametrize(("constant", "text"), [
    ("CAST(1.05 AS DECIMAL)", "1.05"),
    ("CAST(1.56 AS DECIMAL(3, 1))", "1.56"),
    ("CAST(-1.56 AS DECIMAL(3, 1))", "-1.56"),
    ("CAST(1.05 AS DECIMAL(5, 3))", "1.05"),
    ("CAST(1 AS DECIMAL(3, 1))", "1"),
    ("CAST(1.5e0 AS DECIMAL(3, 0))", "1.5"),
    ("CAST(CAST(1.56 AS DECIMAL(3, 1)) AS DECIMAL(3, 0))", "1.56"),
    ("CAST('1.05' AS DECIMAL(3, 0))", "1"),
    ("-CAST(1.56 AS DECIMAL(3, 1))", "-1.6"),
    ("CAST(1.56 AS DECIMAL(3, 1)) + 1", "2.6"),
    ("TRY_CAST(1.56 AS DECIMAL(3, 1))", "1.6"),
    ("CAST(123.4 AS DECIMAL(2, 0))", None),
])  # fmt: skip
def test_a_constant_that_is_cast_to_decimal_keeps_its_digits(t_env, constant, text):
    t_env.create_temporary_system_function("shown", shown)
    (row,) = query(t_env, f"SELECT shown({constant})")
    assert row == (repr(None if text is None else decimal.Decimal(text)),)


def test_a_constant_of_the_table_api_that_is_cast_to_decimal(t_env):
    table = t_env.from_elements([(1,)], ["a"])
    constant = lit(decimal.Decimal("1.56")).cast(DataTypes.DECIMAL(3, 1))
    assert rows(table.select(shown(constant))) == [("Decimal('1.56')",)]


def test_an_aggregate_of_series_has_no_maps():
    maps = DataTypes.MAP(STRING, DataTypes.INT())
    with pytest.raises(TypeError, match="Pandas UDAF doesn't support DataType type MAP"):
        udaf(lambda column: {"a": 1}, result_type=maps, func_type="pandas")


def test_bytes(t_env):
    (row,) = query(
        t_env, "SELECT ARRAY[b], MAP['k', b], ROW(b, 1), b FROM (VALUES (x'61')) AS v(b)"
    )
    a = bytearray(b"a")
    assert row == ([a], {"k": a}, Row(a, 1), a)
    assert {type(row[0][0]), type(row[1]["k"]), type(row[2][0]), type(row[3])} == {bytearray}
    table = t_env.from_elements([(a,)], DataTypes.ROW([DataTypes.FIELD("b", DataTypes.BYTES())]))
    assert [type(value) for value in table.to_pandas()["b"]] == [bytes]


def test_types_of_whole_tables(t_env):
    kind = t_env.from_elements([(1,)], ["a"]).get_schema().to_row_data_type()
    fields = [DataTypes.FIELD("a", DataTypes.BIGINT())]
    assert kind == DataTypes.ROW(fields, False)
    assert kind != DataTypes.ROW(fields)
