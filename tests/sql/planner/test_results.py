"""The rows that translated plans leave over two small tables, in the calling process."""

from __future__ import annotations

from collections import Counter

import pytest

from pyflink_on_spark.common import RowKind
from pyflink_on_spark.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink_on_spark.table.udf import udaf, udf, udtf

BOTH = ("streaming", "batch")
STREAMING, BATCH = ("streaming",), ("batch",)
TABLES = (
    (
        "CREATE TEMPORARY VIEW e AS SELECT * FROM"
        " (VALUES ('a', 1), ('b', 5), ('a', 3), ('b', 2), ('a', 3)) AS v (k, n)"
    ),
    "CREATE TEMPORARY VIEW f AS SELECT * FROM (VALUES ('a', 10), ('c', 20)) AS v (k, m)",
)
RANKED = (
    "SELECT k, n, r FROM (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r"
    " FROM e) WHERE r {}"
)
HOURS = "TABLE(TUMBLE(TABLE timed, DESCRIPTOR(t), INTERVAL '1' HOUR))"


pytestmark = pytest.mark.usefixtures("local_engine")


def environment(mode):
    kind = EnvironmentSettings.new_instance()
    made = kind.in_batch_mode() if mode == "batch" else kind.in_streaming_mode()
    t_env = TableEnvironment.create(made.build())
    for text in TABLES:
        t_env.execute_sql(text)
    return t_env


def left(t_env, query):
    """The rows that are there in the end, with their numbers."""
    found = Counter()
    with t_env.execute_sql(query).collect() as rows:
        for row in rows:
            kind = row.get_row_kind()
            found[tuple(row)] += 1 if kind in {RowKind.INSERT, RowKind.UPDATE_AFTER} else -1
    assert min(found.values(), default=0) >= 0
    return sorted(found.elements(), key=repr)


CASES = [
    ("SELECT k, SUM(n) FROM e GROUP BY k", BOTH, [("a", 7), ("b", 7)]),
    ("SELECT COUNT(DISTINCT n), MAX(n) FROM e", BOTH, [(4, 5)]),
    ("SELECT DISTINCT k FROM e WHERE n > 2", BOTH, [("a",), ("b",)]),
    (
        "SELECT k, GROUPING(k), COUNT(*) FROM e GROUP BY ROLLUP (k)",
        BOTH,
        [("a", 0, 3), ("b", 0, 2), (None, 1, 5)],
    ),
    (
        (
            "SELECT n, SUM(n) OVER (PARTITION BY k ORDER BY n), RANK() OVER (PARTITION BY k"
            " ORDER BY n) FROM e WHERE k = 'a'"
        ),
        BATCH,
        [(1, 1, 1), (3, 7, 2), (3, 7, 2)],
    ),
    (
        (
            "SELECT n, MAX(n) OVER (PARTITION BY k ORDER BY n ROWS BETWEEN 1 PRECEDING"
            " AND 1 FOLLOWING) FROM e WHERE k = 'b'"
        ),
        BATCH,
        [(2, 5), (5, 5)],
    ),
    (RANKED.format("<= 2"), BOTH, [("a", 3, 1), ("a", 3, 2), ("b", 2, 2), ("b", 5, 1)]),
    (RANKED.format("= 2"), BOTH, [("a", 3, 2), ("b", 2, 2)]),
    (RANKED.format("BETWEEN 2 AND 3"), BOTH, [("a", 1, 3), ("a", 3, 2), ("b", 2, 2)]),
    (
        (
            "SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r"
            " FROM e) WHERE r <= 1"
        ),
        BOTH,
        [("a", 3), ("b", 5)],
    ),
    ("SELECT k, n FROM e ORDER BY n DESC, k LIMIT 2 OFFSET 1", BOTH, [("a", 3), ("a", 3)]),
    ("SELECT COUNT(*) FROM (SELECT k FROM e LIMIT 2)", BOTH, [(2,)]),
    ("SELECT COUNT(*) FROM (SELECT k, SUM(n) AS s FROM e GROUP BY k LIMIT 1)", BOTH, [(1,)]),
    ("SELECT n, m FROM e JOIN f ON e.k = f.k AND n > 1", BOTH, [(3, 10), (3, 10)]),
    (
        "SELECT e.k, n, m FROM e LEFT JOIN f ON e.k = f.k WHERE n <> 3",
        BOTH,
        [("a", 1, 10), ("b", 2, None), ("b", 5, None)],
    ),
    (
        "SELECT n, m FROM e FULL JOIN f ON e.k = f.k AND n > 1",
        BOTH,
        [(1, None), (2, None), (3, 10), (3, 10), (5, None), (None, 20)],
    ),
    ("SELECT n, m FROM (SELECT 7 AS n) CROSS JOIN f", BOTH, [(7, 10), (7, 20)]),
    ("SELECT n FROM e WHERE k IN (SELECT k FROM f)", BOTH, [(1,), (3,), (3,)]),
    ("SELECT n FROM e WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.k = e.k)", BOTH, [(2,), (5,)]),
    (
        "SELECT n, n IN (SELECT m / 10 FROM f) FROM e WHERE k = 'a'",
        BOTH,
        [(1, True), (3, False), (3, False)],
    ),
    ("SELECT n NOT IN (SELECT CAST(NULL AS INT) FROM f) FROM e WHERE n = 1", BOTH, [(None,)]),
    (
        "SELECT DISTINCT k, (SELECT MAX(m) FROM f WHERE f.k = e.k) FROM e",
        BOTH,
        [("a", 10), ("b", None)],
    ),
    (
        "SELECT DISTINCT k, (SELECT COUNT(*) FROM f WHERE f.k = e.k) FROM e",
        BOTH,
        [("a", 1), ("b", 0)],
    ),
    ("SELECT k FROM e INTERSECT SELECT k FROM f", BOTH, [("a",)]),
    ("SELECT k FROM e EXCEPT ALL SELECT k FROM f", BOTH, [("a",), ("a",), ("b",), ("b",)]),
    ("SELECT k FROM e INTERSECT ALL SELECT k FROM e", BOTH, [*[("a",)] * 3, *[("b",)] * 2]),
    (
        "SELECT x FROM (VALUES (ARRAY[1, 2]), (ARRAY[3])) AS v (xs) CROSS JOIN UNNEST(xs) AS u (x)",
        BOTH,
        [(1,), (2,), (3,)],
    ),
    (
        "SELECT op, n FROM TO_CHANGELOG((SELECT k, SUM(n) AS n FROM e WHERE k = 'b' GROUP BY k))",
        STREAMING,
        [("INSERT", 5), ("UPDATE_AFTER", 7), ("UPDATE_BEFORE", 5)],
    ),
    (
        (
            "SELECT k, COUNT(*) FROM FROM_CHANGELOG((SELECT IF(k = 'c', 'DELETE', 'INSERT') AS op,"
            " 'x' AS k FROM (SELECT k FROM e UNION ALL SELECT k FROM f))) GROUP BY k"
        ),
        STREAMING,
        [("x", 5)],
    ),
]


@pytest.mark.parametrize(
    ("query", "mode", "rows"),
    [(query, mode, rows) for query, modes, rows in CASES for mode in modes],
)
def test_the_rows_of_a_query(query, mode, rows):
    assert left(environment(mode), query) == sorted(rows, key=repr)


@pytest.fixture
def timed(tmp_path):
    (tmp_path / "rows.csv").write_text(
        "a,1,2024-01-01 00:10:00\nb,2,2024-01-01 00:20:00\na,4,2024-01-01 01:10:00\n"
        "a,8,2024-01-01 01:15:00\n"
    )

    def make(mode):
        t_env = environment(mode)
        t_env.get_config().set("parallelism.default", "1")
        t_env.execute_sql(
            "CREATE TEMPORARY TABLE timed (k STRING, n INT, t TIMESTAMP(3), WATERMARK FOR t AS t)"
            f" WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
        )
        return t_env

    return make


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            f"SELECT k, SUM(n) FROM {HOURS} GROUP BY k, window_start, window_end",
            [("a", 1), ("a", 12), ("b", 2)],
        ),
        (f"SELECT COUNT(*) FROM {HOURS} GROUP BY window_start, window_end", [(2,), (2,)]),
        (
            (
                "SELECT MAX(n) FROM TABLE(CUMULATE(TABLE timed, DESCRIPTOR(t), INTERVAL '1' HOUR,"
                " INTERVAL '2' HOUR)) GROUP BY window_start, window_end"
            ),
            [(2,), (8,)],
        ),
        (
            (
                f"SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY window_start,"
                f" window_end ORDER BY n DESC) AS r FROM {HOURS}) WHERE r = 1"
            ),
            [("a", 8), ("b", 2)],
        ),
        (
            (
                f"SELECT l.n, r.n FROM (SELECT * FROM {HOURS}) l JOIN (SELECT * FROM {HOURS}) r"
                " ON l.window_start = r.window_start AND l.window_end = r.window_end"
                " AND l.k <> r.k"
            ),
            [(1, 2), (2, 1)],
        ),
        (
            (
                "SELECT l.n, r.n FROM timed l JOIN timed r ON l.k = r.k AND"
                " r.t BETWEEN l.t + INTERVAL '1' MINUTE AND l.t + INTERVAL '1' HOUR"
            ),
            [(1, 4), (4, 8)],
        ),
        (
            (
                "SELECT n, SUM(n) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN INTERVAL '30'"
                " MINUTE PRECEDING AND CURRENT ROW) FROM timed"
            ),
            [(1, 1), (2, 2), (4, 4), (8, 12)],
        ),
        (
            (
                "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC)"
                " AS r FROM timed) WHERE r = 1"
            ),
            [("a", 8), ("b", 2)],
        ),
        (
            (
                "SELECT * FROM timed MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES"
                " A.n AS f, SUM(B.n) AS s PATTERN (A B{2}) DEFINE B AS B.n > A.n) AS m"
            ),
            [("a", 1, 12)],
        ),
        ("SELECT n FROM timed ORDER BY t, n DESC", [(1,), (2,), (4,), (8,)]),
    ],
)
def test_the_rows_of_a_query_of_event_time(timed, query, mode, rows):
    assert left(timed(mode), query) == sorted(rows, key=repr)


def test_sessions_are_merged(timed):
    query = (
        "SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE timed PARTITION BY k, DESCRIPTOR(t),"
        " INTERVAL '30' MINUTE)) GROUP BY k, window_start, window_end"
    )
    assert left(timed("streaming"), query) == [("a", 1), ("a", 2), ("b", 1)]


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT twice(n), twice(twice(n)) FROM e WHERE twice(n) > 5", [(6, 12)] * 2 + [(10, 20)]),
        ("SELECT many(n) FROM e WHERE k = 'b'", [(3,), (6,)]),
        ("SELECT k, x FROM e, LATERAL TABLE(numbers(n)) AS t (x) WHERE n < 3", [
            ("a", 0), ("b", 0), ("b", 1),
        ]),
    ],
)  # fmt: skip
def test_the_rows_of_python_functions(query, mode, rows):
    t_env = environment(mode)
    t_env.create_temporary_function("twice", udf(lambda n: 2 * n, result_type=DataTypes.INT()))
    more = udf(lambda n: n + 1, result_type=DataTypes.INT(), func_type="pandas")
    t_env.create_temporary_function("many", more)
    t_env.create_temporary_function(
        "numbers", udtf(lambda n: iter(range(n)), result_types=[DataTypes.INT()])
    )
    assert left(t_env, query) == sorted(rows, key=repr)


def test_a_pandas_aggregate_of_a_group():
    t_env = environment("batch")
    mean = udaf(lambda n: n.mean(), result_type=DataTypes.DOUBLE(), func_type="pandas")
    t_env.create_temporary_function("mean", mean)
    assert left(t_env, "SELECT k, mean(n) FROM e GROUP BY k") == [("a", 7.0 / 3), ("b", 3.5)]
