"""Rows, as PyFlink's behave."""

from __future__ import annotations

import copy
import pickle

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common.types import Row, RowKind


def alice():
    return Row(id=1, name="alice")


def test_positions_only():
    row = Row(1, "a")
    assert (row[0], row[-1], row[0:1], list(row), len(row)) == (1, "a", [1], [1, "a"], 2)
    assert repr(row) == str(row) == "<Row(1, 'a')>"
    assert 1 in row
    assert not hasattr(row, "_fields")


def test_names():
    row = alice()
    assert (row["id"], row.name, row[1]) == (1, "alice", "alice")
    assert repr(row) == "Row(id=1, name='alice')"
    assert "id" in row
    assert 1 not in row
    assert row._fields == ["id", "name"]


def test_empty():
    assert repr(Row()) == "<Row()>"


def test_positions_and_names_together_are_refused():
    with pytest.raises(ValueError, match="Can not use both args and kwargs to create Row"):
        Row(1, a=2)


def test_a_row_as_a_factory():
    person = Row("name", "age")
    assert person("alice", 11) == Row(name="alice", age=11)
    assert repr(person("alice")) == "Row(name='alice')"
    assert repr(Row(1, 2)(5)) == "Row(1=5)"
    with pytest.raises(ValueError, match=r"with fields <Row\('name', 'age'\)>, expected 2 values"):
        person(1, 2, 3)


@pytest.mark.parametrize(
    ("access", "error"),
    [
        (lambda: alice()["other"], ValueError),
        (lambda: alice()[None], ValueError),
        (lambda: alice().other, AttributeError),
        (lambda: alice()._other, AttributeError),
        (lambda: alice().keys(), AttributeError),
        (lambda: Row(1)["id"], AttributeError),
        (lambda: Row(1).id, AttributeError),
        (lambda: Row(1)[5], IndexError),
        (lambda: Row(id=1)[True], IndexError),
        (lambda: alice().__setitem__("other", 1), ValueError),
        (lambda: Row(1).__setitem__("id", 1), KeyError),
        (lambda: alice().__setitem__(7, 1), IndexError),
        (lambda: setattr(alice(), "id", 2), AttributeError),
        (lambda: hash(Row([1])), TypeError),
        (lambda: sorted([Row(2), Row(1)]), TypeError),
        (lambda: Row(1).as_dict(), TypeError),
    ],
)
def test_what_is_refused(access, error):
    with pytest.raises(error) as caught:
        access()
    assert caught.type is error


def test_setting():
    row = alice()
    row["id"] = 7
    row[1] = "bob"
    assert row == Row(id=7, name="bob")
    row._values = [8, "eve"]
    assert row.id == 8


def test_field_names():
    row = Row(1, 2)
    row.set_field_names(["a", "b"])
    assert row == Row(a=1, b=2)
    assert row.get_fields_by_names(["b", "a"]) == [2, 1]
    assert Row(1).get_fields_by_names(["any"]) == [1]
    with pytest.raises(Exception, match=r"Field names \['q'\] not exist in \['a', 'b'\]\."):
        row.get_fields_by_names(["q"])


def test_a_name_that_other_rows_have_elsewhere_or_not_at_all():
    first, second, third = Row(ours=1, other=2), Row(other=3, ours=4), Row(other=5)
    assert [row.ours for row in (first, second, first)] == [1, 4, 1]
    assert not hasattr(third, "ours")
    assert not hasattr(Row(1, 2), "ours")
    with pytest.raises(AttributeError, match="ours"):
        _ = third.ours
    third.set_field_names(["ours"])
    assert third.ours == 5
    short = Row(1)
    short.set_field_names(["other", "ours"])
    assert (short.other, hasattr(short, "ours")) == (1, False)
    with pytest.raises(AttributeError):
        first.ours = 7


def test_kinds():
    row = Row.of_kind(RowKind.DELETE, 1, 2)
    assert row.get_row_kind() is RowKind.DELETE
    assert Row.of_kind(RowKind.DELETE, a=1) != Row(a=1)
    row.set_row_kind(RowKind.UPDATE_AFTER)
    assert row.get_row_kind() is RowKind.UPDATE_AFTER
    assert Row(1).get_row_kind() is RowKind.INSERT
    assert Row.of_kind(RowKind.DELETE, "x")(1).get_row_kind() is RowKind.DELETE
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]
    assert f"{RowKind.INSERT}" == "+I"
    assert [kind.value for kind in RowKind] == [0, 1, 2, 3]


def test_equality():
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert Row(a=1, b=2) != Row(a=2, b=1)
    assert Row(a=1) != Row(b=1)
    assert Row(1) != Row(a=1)
    assert Row(1) != (1,)
    assert Row(1, 2) == Row(1, 2)


def test_a_subclass_is_another_kind_of_row():
    class Special(Row):
        pass

    assert Special(a=1) != Row(a=1)
    assert repr(Special(a=1)) == "Row(a=1)"


def test_hash():
    assert hash(Row(a=1, b="x")) == hash(Row(1, "x")) == hash((1, "x"))


def test_as_dict():
    row = Row(a=[Row(b=1), {"c": Row(d=1)}, (Row(e=1),)], f=Row(g=2))
    assert row.as_dict() == {"a": row.a, "f": Row(g=2)}
    assert row.as_dict(True) == {"a": [{"b": 1}, {"c": {"d": 1}}, (Row(e=1),)], "f": {"g": 2}}


@pytest.mark.parametrize("row", [alice(), Row(1, [2]), Row(), Row.of_kind(RowKind.DELETE, a=[1])])
def test_pickles_and_copies(row):
    for again in (pickle.loads(pickle.dumps(row)), copy.deepcopy(row), copy.copy(row)):
        assert again == row
        assert repr(again) == repr(row)
        assert again.get_row_kind() is row.get_row_kind()


def test_a_deep_copy_shares_nothing():
    row = Row(a=[1])
    copy.deepcopy(row).a.append(2)
    assert row.a == [1]


def test_javas_row_kind_is_out_of_reach():
    with pytest.raises(UnsupportedFlinkFeature, match=r"RowKind\.to_j_row_kind"):
        RowKind.INSERT.to_j_row_kind()
