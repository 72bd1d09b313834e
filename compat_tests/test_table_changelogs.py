"""TO_CHANGELOG and FROM_CHANGELOG: changes as rows, and rows as changes."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes

from compat_tests.tables import changes

CODES = "'c', 'INSERT', 'ub', 'UPDATE_BEFORE', 'ua', 'UPDATE_AFTER', 'd', 'DELETE'"


def table(t_env, name, rows, column="op"):
    kind = DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.INT()),
            DataTypes.FIELD(column, DataTypes.STRING()),
            DataTypes.FIELD("name", DataTypes.STRING()),
        ]
    )
    t_env.create_temporary_view(name, t_env.from_elements(rows, kind))


@pytest.fixture
def t(t_env):
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW sums AS SELECT k, SUM(v) AS s FROM "
        "(VALUES ('a', 1), ('b', 2), ('a', 3)) AS x (k, v) GROUP BY k"
    )
    table(
        t_env,
        "words",
        [
            (1, "INSERT", "a"), (2, "INSERT", "b"), (1, "UPDATE_BEFORE", "a"),
            (1, "UPDATE_AFTER", "c"), (2, "DELETE", "b"), (3, "INSERT", None),
        ],
    )  # fmt: skip
    rows = [(1, "c", "a"), (1, "ub", "a"), (1, "ua", "c"), (1, "d", "c")]
    table(t_env, "coded", rows, "kind")
    return t_env


def test_changes_are_rows(t):
    as_rows = [
        ("+I", "INSERT", "a", 1), ("+I", "INSERT", "b", 2),
        ("+I", "UPDATE_BEFORE", "a", 1), ("+I", "UPDATE_AFTER", "a", 4),
    ]  # fmt: skip
    assert changes(t.sql_query("SELECT * FROM TO_CHANGELOG(TABLE sums)")) == as_rows
    assert (
        changes(t.sql_query("SELECT * FROM TO_CHANGELOG(input => (SELECT k, s FROM sums))"))
        == as_rows
    )
    text = (
        "SELECT x.a, x.b FROM TO_CHANGELOG(input => TABLE sums, op => DESCRIPTOR(n)) AS x (a, b, c)"
    )
    assert changes(t.sql_query(text)) == [row[:3] for row in as_rows]
    counts = changes(t.sql_query("SELECT op, COUNT(*) FROM TO_CHANGELOG(TABLE sums) GROUP BY op"))
    assert counts == [
        ("+I", "INSERT", 1), ("-U", "INSERT", 1), ("+U", "INSERT", 2),
        ("+I", "UPDATE_BEFORE", 1), ("+I", "UPDATE_AFTER", 1),
    ]  # fmt: skip


def test_codes_of_kinds(t):
    def coded(mapping):
        text = f"SELECT * FROM TO_CHANGELOG(input => TABLE sums, op_mapping => MAP[{mapping}])"
        return changes(t.sql_query(text))

    both = [("+I", "C", "a", 1), ("+I", "C", "b", 2), ("+I", "C", "a", 4)]
    assert coded("'INSERT, UPDATE_AFTER', 'C', 'DELETE', 'D'") == both
    assert coded("'INSERT', 'C', 'INSERT', 'D'") == [("+I", "D", "a", 1), ("+I", "D", "b", 2)]
    assert coded("'DELETE', 'D'") == []
    with pytest.raises(Exception, match=r"Unknown change operation: 'insert'\. Valid values are"):
        coded("'insert', 'C'")
    with pytest.raises(Exception, match="Duplicate change operation: 'INSERT'"):
        coded("'INSERT', 'C', 'INSERT, DELETE', 'D'")
    with pytest.raises(Exception, match="'op_mapping' argument must be a constant MAP literal"):
        coded("'INSERT', CAST(NULL AS STRING)")


def test_rows_are_changes(t):
    assert changes(t.sql_query("SELECT * FROM FROM_CHANGELOG(TABLE words)")) == [
        ("+I", 1, "a"), ("+I", 2, "b"), ("-U", 1, "a"), ("+U", 1, "c"), ("-D", 2, "b"),
        ("+I", 3, None),
    ]  # fmt: skip
    counts = changes(t.sql_query("SELECT COUNT(*), MAX(name) FROM FROM_CHANGELOG(TABLE words)"))
    assert [row for row in counts if row[0] != "-U"] == [
        ("+I", 1, "a"), ("+U", 2, "b"), ("+U", 1, "b"), ("+U", 2, "c"), ("+U", 1, "c"),
        ("+U", 2, "c"),
    ]  # fmt: skip


def of_codes(mapping):
    return (
        "SELECT * FROM FROM_CHANGELOG(input => TABLE coded, op => DESCRIPTOR(kind), "
        f"op_mapping => MAP[{mapping}])"
    )


def test_kinds_of_codes(t):
    expected = [("+I", 1, "a"), ("-U", 1, "a"), ("+U", 1, "c"), ("-D", 1, "c")]
    assert changes(t.sql_query(of_codes(CODES))) == expected
    assert changes(t.sql_query(of_codes(CODES.replace("'c'", "'c, r'")))) == expected


def test_codes_without_a_kind_end_the_job(t):
    with pytest.raises(Exception, match=r"Received invalid op code 'ub'\. Defined op codes are"):
        changes(t.sql_query(of_codes("'c, ua', 'INSERT', 'd', 'DELETE'")))
    table(t, "nulls", [(1, None, "a")])
    with pytest.raises(Exception, match="Received NULL op code"):
        changes(t.sql_query("SELECT * FROM FROM_CHANGELOG(TABLE nulls)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TO_CHANGELOG(TABLE sums, DESCRIPTOR(s))", r"must be unique. Found duplicates: \[s\]"),
        ("TO_CHANGELOG(TABLE sums, DESCRIPTOR(a, b))", "must contain exactly one column name"),
        ("TO_CHANGELOG(TABLE sums PARTITION BY k)", "Only tables with set semantics may be"),
        ("TO_CHANGELOG()", "No match found for function signature TO_CHANGELOG"),
        ("TO_CHANGELOG(TABLE nowhere)", "Object 'nowhere' not found"),
        ("FROM_CHANGELOG(TABLE sums)", "The op column 'op' does not exist in the input schema"),
        ("FROM_CHANGELOG(TABLE words, DESCRIPTOR(id))", "must be of STRING type, but was 'INT'"),
        ("FROM_CHANGELOG(input => TO_CHANGELOG(TABLE sums))", "expects a table to be passed"),
        (of_codes("'c', 'X'")[14:], "Unknown change operation: 'X'"),
        (of_codes("'c', 'INSERT', 'ua', 'UPDATE_AFTER'")[14:], "must include UPDATE_BEFORE"),
    ],
)
def test_wrong_arguments(t, text, message):
    with pytest.raises(Exception, match=message):
        changes(t.sql_query(f"SELECT * FROM {text}"))


def test_tables_of_the_table_api(t):
    as_rows = t.from_path("sums").to_changelog()
    assert as_rows.get_schema().get_field_names() == ["op", "k", "s"]
    t.create_temporary_view("rows_of_changes", as_rows)
    assert len(changes(t.sql_query("SELECT * FROM rows_of_changes"))) == 4
    t.create_temporary_view("back", as_rows.from_changelog())
    back = changes(t.sql_query("SELECT * FROM back"))
    assert back == [("+I", "a", 1), ("+I", "b", 2), ("-U", "a", 1), ("+U", "a", 4)]
