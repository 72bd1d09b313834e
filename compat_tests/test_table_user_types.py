"""Columns of users' classes: SQL has the values that objects become."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes
from pyflink.table.expressions import col
from pyflink.table.types import UserDefinedType
from pyflink.table.udf import udf

from compat_tests.tables import rows


class PointType(UserDefinedType):
    @classmethod
    def sql_type(cls):
        return DataTypes.ARRAY(DataTypes.DOUBLE(False))

    @classmethod
    def module(cls):
        return "compat_tests.test_table_user_types"

    @classmethod
    def java_udt(cls):
        return ""

    def serialize(self, obj):
        return [obj.x, obj.y]

    def deserialize(self, datum):
        return Point(*datum)


class Point:
    __UDT__ = PointType()

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    __hash__ = None


FIELDS = [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("p", PointType())]


def test_type():
    kind = PointType()
    assert (kind.type_name(), str(kind), repr(kind)) == (
        "pointtype",
        "pointtype",
        "PointType(true)",
    )
    assert kind == PointType()
    assert kind.need_conversion()
    assert kind.to_sql_type(Point(1.0, 2.0)) == [1.0, 2.0]
    assert kind.from_sql_type([1.0, 2.0]) == Point(1.0, 2.0)


def test_declared_column(t_env):
    table = t_env.from_elements([(1, Point(1.0, 2.0)), (2, None)], DataTypes.ROW(FIELDS))
    assert "`p` ARRAY<DOUBLE NOT NULL>" in str(table.get_resolved_schema())
    assert rows(table) == [(1, [1.0, 2.0]), (2, None)]


def test_inferred_column(t_env):
    assert rows(t_env.from_elements([(1, Point(1.0, 2.0))], ["a", "p"])) == [(1, [1.0, 2.0])]


def test_nested_column(t_env):
    fields = [DataTypes.FIELD("p", DataTypes.ARRAY(PointType()))]
    table = t_env.from_elements([([Point(1.0, 2.0), Point(3.0, 4.0)],)], DataTypes.ROW(fields))
    assert rows(table) == [([[1.0, 2.0], [3.0, 4.0]],)]


def test_functions_get_the_values_of_sql(t_env):
    total = udf(lambda p: p[0] + p[1], result_type=DataTypes.DOUBLE())
    table = t_env.from_elements([(1, Point(1.0, 2.0))], DataTypes.ROW(FIELDS))
    assert rows(table.select(total(col("p")))) == [(3.0,)]


def test_another_value_is_refused(t_env):
    with pytest.raises(ValueError, match="is not an instance of type"):
        t_env.from_elements([(1, 5)], DataTypes.ROW(FIELDS))
