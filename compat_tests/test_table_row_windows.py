"""Group windows of a number of rows, which only the Table API has."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.table import DataTypes
from pyflink.table.expressions import col, lit, row_interval
from pyflink.table.udf import udaf
from pyflink.table.window import Session, Slide, Tumble

from compat_tests.tables import rows

total = udaf(lambda v: v.sum(), result_type=DataTypes.INT(), func_type="pandas")


@pytest.fixture
def numbers(env, t_env):
    """The rows (1, 1), (0, 2), (1, 3) up to (1, 7), with a processing time."""
    values = [(i % 2, i) for i in range(1, 8)]
    kind = Types.ROW_NAMED(["k", "v"], [Types.INT(), Types.INT()])
    stream = env.from_collection(values, kind)
    return t_env.from_data_stream(stream, col("k"), col("v"), col("p").proctime)


def tumbling(size):
    return Tumble.over(row_interval(size)).on(col("p")).alias("w")


def sliding(size, step):
    return Slide.over(row_interval(size)).every(row_interval(step)).on(col("p")).alias("w")


def test_tumbling_by_key(numbers):
    grouped = numbers.window(tumbling(2)).group_by(col("k"), col("w"))
    assert rows(grouped.select(col("k"), col("v").sum)) == [(1, 4), (0, 6), (1, 12)]


def test_tumbling_over_all_rows(numbers):
    grouped = numbers.window(tumbling(2)).group_by(col("w"))
    assert rows(grouped.select(col("v").sum, col("v").count)) == [(3, 2), (7, 2), (11, 2)]


def test_several_functions(numbers):
    values = [col("k").count.distinct, col("v").avg, col("v").first_value, col("v").last_value]
    grouped = numbers.window(tumbling(2)).group_by(col("w"))
    assert rows(grouped.select(*values)) == [(2, 1, 1, 2), (2, 3, 3, 4), (2, 5, 5, 6)]


def test_sliding_by_key(numbers):
    grouped = numbers.window(sliding(3, 2)).group_by(col("k"), col("w"))
    assert rows(grouped.select(col("k"), col("v").sum)) == [(1, 9), (0, 12)]


@pytest.mark.parametrize(
    ("size", "step", "windows"),
    [
        (2, 2, [[1, 2], [3, 4], [5, 6]]),
        (2, 3, [[1, 2], [4, 5]]),
        (3, 2, [[1, 2, 3], [3, 4, 5], [5, 6, 7]]),
        (4, 1, [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6], [4, 5, 6, 7]]),
        (4, 2, [[1, 2, 3, 4], [3, 4, 5, 6]]),
    ],
)
def test_sliding_over_all_rows(numbers, size, step, windows):
    grouped = numbers.window(sliding(size, step)).group_by(col("w"))
    found = [sorted(counted) for (counted,) in rows(grouped.select(col("v").collect))]
    assert found == windows


def test_pandas_aggregates(numbers):
    grouped = numbers.window(tumbling(2)).group_by(col("k"), col("w"))
    assert rows(grouped.select(col("k"), total(col("v")))) == [(1, 4), (0, 6), (1, 12)]
    grouped = numbers.window(sliding(3, 2)).group_by(col("k"), col("w"))
    assert rows(grouped.select(col("k"), total(col("v")))) == [(1, 9), (0, 12)]


@pytest.mark.parametrize("part", ["start", "end", "proctime"])
def test_windows_have_no_times(numbers, part):
    for window, kind in ((tumbling(2), "tumble"), (sliding(2, 1), "slide")):
        grouped = numbers.window(window).group_by(col("w"))
        with pytest.raises(Exception, match=f"cannot be selected for a row-count {kind} window"):
            grouped.select(col("v").sum, getattr(col("w"), part))


def test_no_sessions_of_rows(numbers):
    window = Session.with_gap(row_interval(2)).on(col("p")).alias("w")
    with pytest.raises(Exception, match="A session window expects a gap literal"):
        numbers.window(window).group_by(col("w")).select(col("v").sum)


def test_size_and_slide_are_of_one_type(numbers):
    window = Slide.over(row_interval(2)).every(lit(1).seconds).on(col("p")).alias("w")
    with pytest.raises(Exception, match="same type of size and slide"):
        numbers.window(window).group_by(col("w")).select(col("v").sum)


def test_a_plain_column_is_no_order(numbers):
    window = Tumble.over(row_interval(2)).on(col("v")).alias("w")
    with pytest.raises(Exception, match="expects a time attribute"):
        numbers.window(window).group_by(col("w")).select(col("v").sum)
