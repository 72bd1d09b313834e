"""BITMAP: sets of 32-bit whole numbers."""

from __future__ import annotations

import pytest
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col

from compat_tests.tables import changes, check_values, query, rows, value

ONE, TWO = "BITMAP_BUILD(ARRAY[1,2,3])", "BITMAP_BUILD(ARRAY[2,3,4])"
RUN = f"BITMAP_BUILD(ARRAY[{','.join(map(str, range(1, 21)))}])"
NUMBERS = "(VALUES 3, 1, 1, CAST(NULL AS INT)) AS t(v)"
BITMAPS = (
    "(SELECT BITMAP_BUILD(v) AS m FROM (VALUES ARRAY[1,2], ARRAY[2,3], ARRAY[2,4], "
    "CAST(NULL AS ARRAY<INT>)) AS t(v))"
)
CHANGING = "(VALUES (1,1),(2,2),(1,2),(2,3),(3,2)) AS t(k,v)"


@pytest.fixture
def b():
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_values(b):
    expected = [
        ("BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[3,1,2,1]))", "{1,2,3}"),
        (
            "BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[3,-1,0,2147483647,-2147483648]))",
            "{0,3,2147483647,2147483648,4294967295}",
        ),
        ("BITMAP_TO_ARRAY(BITMAP_BUILD(ARRAY[3,-1,0]))", [0, 3, -1]),
        ("BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[1,CAST(NULL AS INT)]))", "{1}"),
        ("BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[CAST(1 AS TINYINT)]))", "{1}"),
        ("BITMAP_TO_STRING(BITMAP_BUILD(CAST(NULL AS ARRAY<INT>)))", None),
        (f"BITMAP_CARDINALITY({ONE})", 3),
        (f"BITMAP_TO_STRING(BITMAP_AND({ONE}, {TWO}))", "{2,3}"),
        (f"BITMAP_TO_STRING(BITMAP_OR({ONE}, {TWO}))", "{1,2,3,4}"),
        (f"BITMAP_TO_STRING(BITMAP_XOR({ONE}, {TWO}))", "{1,4}"),
        (f"BITMAP_TO_STRING(BITMAP_ANDNOT({ONE}, {TWO}))", "{1}"),
        (f"BITMAP_CARDINALITY(BITMAP_ANDNOT({ONE}, {ONE}))", 0),
        (f"BITMAP_TO_STRING(BITMAP_AND({ONE}, CAST(NULL AS BITMAP)))", None),
        (f"BITMAP_TO_BYTES({TWO})", bytes.fromhex("3A300000010000000000020010000000020003000400")),
        (f"BITMAP_TO_BYTES({RUN})", bytes.fromhex("3B300000010000130001000100 1300")),
        ("BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[1,2,65536,-5]))", bytes.fromhex(
            "3A300000 03000000 0000 0100 0100 0000 FFFF 0000 20000000 24000000 26000000"
            "0100 0200 0000 FBFF")),
        (f"CAST({ONE} AS STRING)", "{1,2,3}"),
        (f"CAST({ONE} AS VARCHAR(3))", "{1,"),
        (f"{ONE} = BITMAP_BUILD(ARRAY[3,2,1])", True),
        (f"{ONE} = {TWO}", False),
        ("TYPEOF(-2147483648)", "INT NOT NULL"),
        (f"BITMAP_TO_STRING(BITMAP_FROM_BYTES(BITMAP_TO_BYTES({RUN})))",
         "{" + ",".join(map(str, range(1, 21))) + "}"),
        ("BITMAP_TO_STRING(BITMAP_FROM_BYTES(x'3A300000010000000000020010000000010002000300'))",
         "{1,2,3}"),
        (f"TYPEOF({ONE})", "BITMAP NOT NULL"),
    ]  # fmt: skip
    check_values(b, dict(expected))


def test_numbers_of_rows(t_env):
    text = f"SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(v)) FROM {NUMBERS}"
    assert [row for _, *row in changes(t_env.sql_query(text))][-1] == ["{1,3}"]
    text = f"SELECT BITMAP_BUILD_CARDINALITY_AGG(v) FROM {NUMBERS}"
    assert [row for _, *row in changes(t_env.sql_query(text))][-1] == [2]
    text = text.replace("FROM", "FILTER (WHERE v > 1) FROM")
    assert [row for _, *row in changes(t_env.sql_query(text))][-1] == [1]


@pytest.mark.parametrize("kind", ["BITMAP_BUILD(v)", "PARSE_JSON(CAST(v[1] AS STRING))"])
@pytest.mark.parametrize(
    "query_of",
    [
        "SELECT COUNT(*) FROM {0} GROUP BY m",
        "SELECT COUNT(DISTINCT m) FROM {0}",
        "SELECT 1 FROM {0} ORDER BY m",
    ],
)
def test_no_groups_and_no_order(b, kind, query_of):
    source = f"(SELECT {kind} AS m FROM (VALUES ARRAY[1,2], ARRAY[2,1]) AS t(v))"
    with pytest.raises(Exception, match=r"is not an orderable data type|MatchError: VARIANT"):
        query(b, query_of.format(source))


def aggregates():
    kinds = ("OR", "AND", "XOR")
    return ", ".join(
        [f"BITMAP_TO_STRING(BITMAP_{kind}_AGG(m))" for kind in kinds]
        + [f"BITMAP_{kind}_CARDINALITY_AGG(m)" for kind in kinds]
    )


def test_bitmaps_of_rows(b):
    assert query(b, f"SELECT {aggregates()} FROM {BITMAPS}") == [
        ("{1,2,3,4}", "{2}", "{1,2,3,4}", 4, 1, 4)
    ]


def test_rows_that_change(t_env):
    sums = f"SELECT k, BITMAP_BUILD_AGG(v) AS m FROM {CHANGING} GROUP BY k"
    found = changes(t_env.sql_query(f"SELECT {aggregates()} FROM ({sums})"))
    assert found[-1] == ("+U", "{1,2,3}", "{2}", "{1,2,3}", 3, 1, 3)
    counts = f"SELECT k, CAST(COUNT(*) AS INT) AS n FROM {CHANGING} GROUP BY k"
    text = "SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(n)), BITMAP_BUILD_CARDINALITY_AGG(n)"
    found = changes(t_env.sql_query(f"{text} FROM ({counts})"))
    assert [row[1:] for row in found if row[0] in {"+I", "+U"}][-1] == ("{1,2}", 2)


@pytest.mark.parametrize(
    "expression",
    [
        "BITMAP_BUILD(ARRAY[CAST(1 AS BIGINT)])",
        "BITMAP_BUILD(ARRAY['a'])",
        "BITMAP_BUILD(1)",
        "BITMAP_CARDINALITY(ARRAY[1])",
        "BITMAP_OR(BITMAP_BUILD(ARRAY[1]))",
        "CAST(BITMAP_BUILD(ARRAY[1]) AS BYTES)",
        "CAST(x'00' AS BITMAP)",
        "JSON_STRING(BITMAP_BUILD(ARRAY[1]))",
    ],
)
def test_wrong_arguments(b, expression):
    with pytest.raises(Exception, match=r"Invalid|Cannot apply|argument|JSON|No match|[cC]ast"):
        value(b, f"{expression} IS NULL")


def test_expressions(b):
    numbers = DataTypes.ARRAY(DataTypes.INT())
    kind = DataTypes.ROW([DataTypes.FIELD("x", numbers), DataTypes.FIELD("y", numbers)])
    table = b.from_elements([([5, 1], [1, 2])], kind)
    one, two = col("x").bitmap_build(), col("y").bitmap_build()
    found = table.select(
        one.bitmap_to_string(), one.bitmap_cardinality(), one.bitmap_to_array(),
        one.bitmap_and(two).bitmap_to_string(), one.bitmap_or(two).bitmap_to_string(),
        one.bitmap_xor(two).bitmap_to_string(), one.bitmap_andnot(two).bitmap_to_string(),
        one.bitmap_to_bytes().bitmap_from_bytes().bitmap_to_string(),
    )  # fmt: skip
    assert rows(found) == [
        ("{1,5}", 2, [1, 5], "{1}", "{1,2,5}", "{2,5}", "{5}", "{1,5}")
    ]  # fmt: skip
    bitmaps = table.select(one.alias("m"))
    found = bitmaps.select(
        col("m").bitmap_or_agg().bitmap_to_string(), col("m").bitmap_and_cardinality_agg()
    )
    assert rows(found) == [("{1,5}", 2)]
