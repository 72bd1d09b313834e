"""The data types of columns."""

from __future__ import annotations

import pytest

from pyflink_on_spark.table import DataTypes
from pyflink_on_spark.table.types import IntType, RowType, VarCharType


def test_rows_are_read_by_name_and_by_index():
    row = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", IntType())])
    assert row["b"] is row[1]
    assert row.field_names() == ["a", "b"]
    assert row.field_types() == [IntType(), IntType()]
    assert len(row[:1]) == 1
    with pytest.raises(KeyError, match="No RowField named c"):
        row["c"]


def test_types_are_equal_by_value():
    assert DataTypes.DECIMAL(5, 2) == DataTypes.DECIMAL(5, 2)
    assert DataTypes.DECIMAL(5, 2) != DataTypes.DECIMAL(5, 3)
    assert DataTypes.STRING() == VarCharType(2147483647)
    assert DataTypes.INT().not_null() != DataTypes.INT()
    assert DataTypes.INT().not_null().nullable() == DataTypes.INT()
    assert DataTypes.INT() != DataTypes.BIGINT()


def test_texts_are_as_in_pyflink():
    assert str(DataTypes.ARRAY(DataTypes.STRING())) == "ARRAY"
    assert repr(DataTypes.DECIMAL(5, 2)) == "DecimalType(5, 2, true)"
    assert repr(DataTypes.ARRAY(DataTypes.INT())) == "ArrayType(IntType(true), true)"
    assert repr(RowType().add("a", IntType())) == "RowType(RowField(a, IntType(true), ...))"


def test_a_row_takes_fields_only():
    with pytest.raises(AssertionError, match="list of RowField"):
        DataTypes.ROW([DataTypes.INT()])
    with pytest.raises(AssertionError, match="should be an instance of"):
        DataTypes.FIELD("a", int)
