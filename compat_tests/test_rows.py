"""Rows: names, kinds, nulls, order of the fields."""

from __future__ import annotations

from pyflink.common import Row, RowKind, Types

from compat_tests.running import collect

NAMED = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])


def typed(env, value, type_info=NAMED):
    return env.from_collection([0]).map(lambda _: value, type_info).rebalance()


def test_names_by_position(env):
    assert collect(typed(env, Row(7, "seven")).map(repr)) == ["Row(id=7, name='seven')"]
    assert collect(typed(env, Row(1, "x"), Types.ROW([Types.INT(), Types.STRING()])).map(repr)) == [
        "Row(f0=1, f1='x')"
    ]


def test_names_in_another_order_are_matched(env):
    assert collect(typed(env, Row(name="n", id=3)).map(repr)) == ["Row(id=3, name='n')"]


def test_access(env):
    def access(row):
        return row[0], row["name"], row.name, row.as_dict(), len(row)

    assert collect(typed(env, Row(7, "s")).map(access)) == [
        (7, "s", "s", {"id": 7, "name": "s"}, 2)
    ]


def test_kinds_survive(env):
    def change(kind):
        row = Row(1, "a")
        row.set_row_kind(RowKind(kind))
        return row

    stream = env.from_collection([0, 1, 2, 3]).map(change, NAMED).rebalance()
    assert collect(stream.map(lambda row: row.get_row_kind().name)) == [
        "INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE",
    ]  # fmt: skip


def test_collected_rows(env):
    (row,) = collect(env.from_collection([0]).map(lambda _: Row(7, "seven"), NAMED))
    assert row == Row(id=7, name="seven")
    assert row[1] == "seven"


def test_nulls_in_fields(env):
    assert collect(typed(env, Row(None, None)).map(repr)) == ["Row(id=None, name=None)"]


def test_nested_rows(env):
    inner = Types.ROW_NAMED(["x"], [Types.FLOAT()])
    outer = Types.ROW_NAMED(["inner", "rows"], [inner, Types.LIST(inner)])
    stream = typed(env, Row(Row(0.5), [Row(1.5)]), outer)
    assert collect(stream.map(repr)) == ["Row(inner=Row(x=0.5), rows=[Row(x=1.5)])"]


def test_untyped_rows_stay_as_they_are(env):
    stream = env.from_collection([Row(1, "x"), Row(b=1, a=2)]).map(lambda row: row).rebalance()
    assert collect(stream.map(repr)) == ["<Row(1, 'x')>", "Row(b=1, a=2)"]


def test_sum_keeps_the_row(env):
    rows = [Row("a", 1), Row("a", 2)]
    type_info = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
    stream = env.from_collection(rows, type_info).key_by(lambda r: r.k, Types.STRING()).sum("v")
    assert collect(stream.map(lambda row: (row[0], row[1]))) == [("a", 1), ("a", 3)]
