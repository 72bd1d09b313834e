"""Numbers of different types side by side: their common type, and the value in that type.

SQL gives operators and `=` the type of the first of FLOAT and DOUBLE; functions and the Table API
take DOUBLE. Numbers of different DECIMAL types are compared, looked up and joined by their values.
"""

from __future__ import annotations

from decimal import Decimal as D
from types import SimpleNamespace

import pytest

FLOATS = [
    ("f * d", 0.020000001),
    ("d * f", 0.020000000298023225),
    ("f + d", 0.3),
    ("d - f", 0.09999999850988389),
    ("d / f", 1.999999970197678),
    ("f + i + d", 3.3),
    ("i * d * f", 0.06000000089406968),
    ("f * (d * d)", 0.004),
    ("CASE WHEN NOT b THEN f ELSE d END", 0.2),
    ("CASE WHEN b THEN d ELSE f END", 0.2),
    ("CASE WHEN b THEN i WHEN NOT b THEN f ELSE d END", 3.0),
    ("IF(b, i, d)", 3.0),
    ("IF(NOT b, f, d)", 0.2),
    ("ARRAY[f, d]", [0.1, 0.2]),
    ("ARRAY[d, f]", [0.2, 0.10000000149011612]),
    ("ARRAY[i, f, d]", [3.0, 0.1, 0.2]),
    ("MAP['a', d, 'b', f]", {"a": 0.2, "b": 0.10000000149011612}),
    ("COALESCE(f, d)", 0.10000000149011612),
    ("IFNULL(f, d)", 0.10000000149011612),
    ("LEAST(d, f)", 0.10000000149011612),
    ("NULLIF(f, d)", 0.1),
    ("f = CAST(0.1 AS DOUBLE)", True),
    ("CAST(0.1 AS DOUBLE) = f", False),
    ("f = 1e-1", True),
    ("f = 0.1", False),
    ("f <> d / 2", False),
    ("d / 2 <> f", True),
    ("f >= 1e-1 AND f <= 1e-1", False),
    ("f IS NOT DISTINCT FROM d / 2", False),
    ("NULLIF(f, d / 2)", None),
    ("CASE f WHEN d / 2 THEN 1 ELSE 0 END", 1),
    ("CAST(d AS DECIMAL(10, 4)) * f * d", 0.004000000059604645),
    ("f * CAST(d AS DECIMAL(10, 4))", 0.020000000298023225),
    ("f * 1e0", 0.1),
    ("f + 1", 1.1),
    ("ROUND(f, 1) * d", 0.020000001),
    ("TRUNCATE(f, 1) * d", 0.020000001),
    ("CASE WHEN b THEN ARRAY[f] ELSE ARRAY[d] END", [0.1]),
    ("COALESCE(f * d, d)", 0.020000001415610313),
    ("ARRAY_CONCAT(ARRAY[f], ARRAY[d])", [0.10000000149011612, 0.2]),
    ("ARRAY_EXCEPT(ARRAY[f], ARRAY[d])", [0.10000000149011612]),
]
FLOAT_QUERIES = [
    ("SELECT f FROM t UNION ALL SELECT d FROM t", [0.1, 0.2]),
    ("SELECT d FROM t UNION ALL SELECT f FROM t", [0.10000000149011612, 0.2]),
    ("SELECT r FROM (VALUES (CAST(0.1 AS FLOAT)), (CAST(0.2 AS DOUBLE))) AS v(r)", [0.1, 0.2]),
    ("SELECT SUM(f * d) FROM t", [0.020000001]),
    ("SELECT s.d FROM t JOIN t AS s ON t.f = s.d / 2", [0.2]),
    ("SELECT s.d FROM t JOIN t AS s ON s.d / 2 = t.f", []),
    ("SELECT d FROM t WHERE f IN (SELECT d / 2 FROM t)", [0.2]),
    ("SELECT d FROM t WHERE d / 2 IN (SELECT f FROM t)", []),
]
API = [
    (lambda c: c.f * c.d, 0.020000001415610313),
    (lambda c: c.f + c.i + c.d, 3.299999952316284),
    (lambda c: c.f * c.d * c.d, 0.004000000189989805),
    (lambda c: c.d * (c.f * c.d), 0.004000000283122063),
    (lambda c: (c.f + c.d) * 2, 0.6000000238418579),
    (lambda c: -(c.f * c.d), -0.020000001415610313),
    (lambda c: -(c.f * c.d) * c.d, -0.004000000189989805),
    (lambda c: -(c.f + c.d) - c.d, -0.5),
    (lambda c: (c.f * c.d).abs * c.d, 0.004000000189989805),
    (lambda c: (c.f * c.d).round(3) * c.d, 0.004000000189989805),
    (lambda c: (c.f * c.d).floor() + c.d, 0.20000000298023224),
    (lambda c: c.i * c.f, 0.3),
    (lambda c: c.f * c.d.cast(c.types.DECIMAL(10, 4)), 0.020000000298023225),
]
DECIMALS = [
    ("IF(b, i, 1.5)", D("3.0")),
    ("IF(b, i, p)", D("3.00")),
    ("IF(b, q, p)", D("1.50")),
    ("IF(b, p, x)", 1.5),
    ("IF(b, 1, 2.50)", D("1.00")),
    ("MAP['a', i, 'b', p]", {"a": D("3.00"), "b": D("1.50")}),
    ("MAP[i, 1, p, 2]", {D("3.00"): 1, D("1.50"): 2}),
    ("MAP['a', i, 'b', x]", {"a": 3.0, "b": 3.0}),
    ("MAP[p, 1][1.5]", 1),
    ("MAP[p, 1][q]", 1),
    ("NULLIF(i, 3.0)", None),
    ("NULLIF(w, i)", None),
    ("NULLIF(p, q)", None),
    ("NULLIF(w, x)", None),
    ("NULLIF(p, w)", D("1.50")),
    ("CASE i WHEN 3.0 THEN 'y' ELSE 'n' END", "y"),
    ("COALESCE(i, p)", D("3.00")),
    ("GREATEST(i, p)", D("3.00")),
    ("p = q AND w = i AND w = x", True),
    ("p IN (q, 7) AND i IN (3.0, 7) AND p BETWEEN q AND i", True),
    ("(p, i) = (q, w)", True),
    ("ARRAY_CONTAINS(a, 1.5)", True),
    ("ARRAY_CONTAINS(a, q)", True),
    ("ARRAY_APPEND(a, q)", [D("1.50"), D("3.00"), D("1.50")]),
    ("ARRAY_CONCAT(ARRAY[i], a)", [D("3.00"), D("1.50"), D("3.00")]),
    ("ARRAY_UNION(a, ARRAY[q])", [D("1.50"), D("3.00")]),
    ("ARRAY_INTERSECT(a, ARRAY[q])", [D("1.50")]),
    ("ARRAY_EXCEPT(a, ARRAY[q])", [D("3.00")]),
    ("ARRAY[i, p]", [D("3.00"), D("1.50")]),
    ("MAP_UNION(MAP['a', p], MAP['b', q])", {"a": D("1.50"), "b": D("1.50")}),
    ("MAP_UNION(MAP['a', i], MAP['b', p])", {"a": D("3.00"), "b": D("1.50")}),
    ("ARRAY_CONTAINS(a, CAST(1.504 AS DOUBLE))", True),
    ("ARRAY_CONTAINS(a, x) AND NOT ARRAY_CONTAINS(a, 1e20)", True),
    ("ARRAY_POSITION(a, x)", 2),
    ("ARRAY_REMOVE(a, x)", [D("1.50")]),
    ("ARRAY_APPEND(a, CAST(0.25 AS FLOAT))", [D("1.50"), D("3.00"), D("0.25")]),
    ("ARRAY_PREPEND(a, x)", [D("3.00"), D("1.50"), D("3.00")]),
    ("ARRAY_APPEND(ARRAY[0.5], 2.5)", [D("0.5"), D("2.5")]),
]
TYPES = [
    ("0.5", "DECIMAL(2, 1)"),
    ("-0.05", "DECIMAL(3, 2)"),
    ("00.5", "DECIMAL(3, 1)"),
    (".5", "DECIMAL(1, 1)"),
    ("0.5 * 0.5", "DECIMAL(5, 2)"),
    ("i * 0.5", "DECIMAL(13, 1)"),
    ("0.5 / 3", "DECIMAL(13, 12)"),
    ("ROUND(0.55, 1)", "DECIMAL(3, 1)"),
    ("ARRAY[0.5]", "ARRAY<DECIMAL(2, 1)>"),
    ("COALESCE(n, f)", "FLOAT"),
    ("COALESCE(f, n)", "DOUBLE"),
    ("COALESCE(n, i, f)", "FLOAT"),
    ("COALESCE(n, f, d)", "DOUBLE"),
    ("IFNULL(n, f)", "FLOAT"),
    ("GREATEST(n, f)", "FLOAT"),
    ("LEAST(f, n, i)", "DOUBLE"),
    ("IF(b, n, f)", "DOUBLE"),
    ("CASE WHEN b THEN n ELSE f END", "DOUBLE"),
]
"""Types of expressions; those of literals count the digits that are written."""
DECIMAL_QUERIES = [
    ("SELECT * FROM (SELECT i AS k FROM m) NATURAL JOIN (SELECT w AS k FROM m)", D("3.00")),
    ("SELECT k FROM (SELECT i AS k FROM m) JOIN (SELECT w AS k FROM m) USING (k)", D("3.00")),
    ("SELECT LEAD(i, 1, 2.5) OVER (ORDER BY i) FROM m", 2),
    ("SELECT LEAD(p, 1, 7) OVER (ORDER BY i) FROM m", D("7.00")),
    ("SELECT LAG(CAST(i AS STRING), 1, 7) OVER (ORDER BY i) FROM m", "7"),
    ("SELECT p FROM m ORDER BY p + i", D("1.50")),
    ("SELECT i FROM m WHERE i IN (SELECT w FROM m)", 3),
    ("SELECT i FROM m GROUP BY i HAVING MAX(w) = 3", 3),
]
REFUSED = [
    "ARRAY_APPEND(ARRAY[i], CAST(1 AS BIGINT))",
    "ARRAY_CONTAINS(ARRAY[f], d)",
    "ARRAY_POSITION(ARRAY[f], d)",
    "LAG(i, 1, TRUE) OVER (ORDER BY i)",
    "MOD(d, 2)",
    "i % f",
]


@pytest.fixture
def tables():
    """A batch environment with tables of mixed numbers."""
    from pyflink.table import DataTypes as types
    from pyflink.table import EnvironmentSettings, TableEnvironment

    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    fields = {"f": types.FLOAT(), "d": types.DOUBLE(), "i": types.INT(), "b": types.BOOLEAN()}
    row = types.ROW([types.FIELD(name, kind) for name, kind in fields.items()])
    env.create_temporary_view("t", env.from_elements([(0.1, 0.2, 3, True)], row))
    money = types.DECIMAL(5, 2)
    fields = {
        "p": money, "q": types.DECIMAL(10, 1), "i": types.INT(), "x": types.DOUBLE(),
        "b": types.BOOLEAN(), "a": types.ARRAY(money), "w": money,
    }  # fmt: skip
    row = types.ROW([types.FIELD(name, kind) for name, kind in fields.items()])
    values = (D("1.50"), D("1.5"), 3, 3.0, True, [D("1.50"), D("3.00")], D("3.00"))
    env.create_temporary_view("m", env.from_elements([values], row))
    return env


def _row(env, text):
    with env.sql_query(text).execute().collect() as rows:
        (row,) = rows
    return list(row)


@pytest.mark.parametrize(("name", "cases"), [("t", FLOATS), ("m", DECIMALS)])
def test_expressions(tables, name, cases):
    found = _row(tables, f"SELECT {', '.join(text for text, _ in cases)} FROM {name}")
    assert [(text, value) for (text, _), value in zip(cases, found)] == cases


def test_types(tables):
    items = ", ".join(f"REPLACE(TYPEOF({text}), ' NOT NULL', '')" for text, _ in TYPES)
    source = "SELECT *, CAST(d AS DECIMAL(10, 2)) AS n FROM t"
    found = _row(tables, f"SELECT {items} FROM ({source})")
    assert dict(zip((text for text, _ in TYPES), found)) == dict(TYPES)


@pytest.mark.parametrize(("query", "expected"), FLOAT_QUERIES)
def test_sets_and_values(tables, query, expected):
    with tables.sql_query(query).execute().collect() as rows:
        assert sorted(value for (value,) in rows) == expected


@pytest.mark.parametrize(("query", "expected"), DECIMAL_QUERIES)
def test_queries(tables, query, expected):
    assert _row(tables, query) == [expected]


def test_default_of_lag(tables):
    query = "SELECT LAG(v, 1, 2.5) OVER (ORDER BY v) FROM (VALUES (7), (8), (9)) AS s(v)"
    with tables.sql_query(query).execute().collect() as rows:
        assert sorted(value for (value,) in rows) == [2, 7, 8]


def test_expressions_of_table_api(tables):
    from pyflink.table import DataTypes
    from pyflink.table.expressions import col

    columns = SimpleNamespace(f=col("f"), d=col("d"), i=col("i"), types=DataTypes)
    made = [make(columns).alias(f"c{index}") for index, (make, _) in enumerate(API)]
    with tables.from_path("t").select(*made).execute().collect() as rows:
        (row,) = rows
    assert list(row) == [value for _, value in API]


def test_quotients_of_table_api(tables):
    from pyflink.table.expressions import col

    table = tables.from_path("m")
    quotients = table.select(col("p") / col("i"), col("q") / col("p") / col("i"))
    with quotients.execute().collect() as rows:
        (row,) = rows
    assert [str(value) for value in row] == ["0.5000000000000", "0.333333333333333333"]


def test_union_of_table_api(tables):
    from pyflink.table.expressions import col

    table = tables.from_path("t")
    floats, doubles = table.select(col("f").alias("r")), table.select(col("d").alias("r"))
    with floats.union_all(doubles).execute().collect() as rows:
        assert sorted(value for (value,) in rows) == [0.10000000149011612, 0.20000000298023224]


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(tables, expression):
    with pytest.raises(Exception, match="ValidationException"):
        tables.sql_query(f"SELECT {expression} FROM t")
