"""Windows of time over rows that are updated and retracted."""

from __future__ import annotations

import datetime
import json

import pytest

from compat_tests.tables import changes, last, query


def at(second):
    return datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=second)  # noqa: DTZ001


def row(number, key, amount, second):
    return {"id": number, "k": key, "v": amount, "ts": f"2024-01-01 00:00:{second:02d}"}


CHANGES = [
    (None, row(1, "a", 1, 1)),
    (None, row(2, "b", 2, 3)),
    (None, row(3, "a", 5, 4)),
    (row(1, "a", 1, 1), row(1, "a", 10, 1)),
    (None, row(4, "a", 3, 12)),
    (row(2, "b", 2, 3), None),
    (row(3, "a", 5, 4), row(3, "b", 5, 13)),
    (row(4, "a", 3, 12), None),
    (None, row(5, "c", 7, 14)),
    (row(5, "c", 7, 14), row(5, "c", 8, 27)),
    (None, row(6, "a", 1, 31)),
]


@pytest.fixture(params=["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["no key", "key"])
def c(request, t_env, tmp_path):
    lines = [
        json.dumps({"before": before, "after": after, "op": "u" if before and after else
                    "c" if after else "d"})
        for before, after in CHANGES
    ]  # fmt: skip
    path = tmp_path / "c.json"
    path.write_text("\n".join(lines) + "\n")
    t_env.execute_sql(
        "CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), "
        f"WATERMARK FOR ts AS ts - INTERVAL '30' SECOND{request.param}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'debezium-json')"
    )
    return t_env


TUMBLE = "TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
HOP = "TABLE(HOP(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
CUMULATE = "TABLE(CUMULATE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
SESSION = "TABLE(SESSION(TABLE c PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
BY_WINDOW = "GROUP BY k, window_start, window_end"


def test_tumble(c):
    text = (
        "SELECT k, window_start, COUNT(*), SUM(v), MIN(v), MAX(v), COUNT(DISTINCT v) "
        f"FROM {TUMBLE} {BY_WINDOW}"
    )
    assert sorted(query(c, text)) == [
        ("a", at(0), 1, 10, 10, 10, 1), ("a", at(30), 1, 1, 1, 1, 1),
        ("b", at(10), 1, 5, 5, 5, 1), ("c", at(20), 1, 8, 8, 8, 1),
    ]  # fmt: skip


def test_all_groups(c):
    text = f"SELECT window_start, COUNT(*), SUM(v) FROM {TUMBLE} GROUP BY window_start, window_end"
    assert sorted(query(c, text)) == [
        (at(0), 1, 10), (at(10), 1, 5), (at(20), 1, 8), (at(30), 1, 1),
    ]  # fmt: skip


def test_hop_and_cumulate(c):
    text = f"SELECT k, window_start, SUM(v), MAX(v) FROM {HOP} {BY_WINDOW}"
    assert sorted(query(c, text)) == [
        ("a", at(-5), 10, 10), ("a", at(0), 10, 10), ("a", at(25), 1, 1), ("a", at(30), 1, 1),
        ("b", at(5), 5, 5), ("b", at(10), 5, 5), ("c", at(20), 8, 8), ("c", at(25), 8, 8),
    ]  # fmt: skip
    text = f"SELECT k, window_start, window_end, COUNT(*), SUM(v) FROM {CUMULATE} {BY_WINDOW}"
    assert sorted(query(c, text)) == [
        ("a", at(0), at(5), 1, 10), ("a", at(0), at(10), 1, 10), ("a", at(30), at(35), 1, 1),
        ("a", at(30), at(40), 1, 1), ("b", at(10), at(15), 1, 5), ("b", at(10), at(20), 1, 5),
        ("c", at(20), at(30), 1, 8),
    ]  # fmt: skip


def test_session(c):
    text = f"SELECT k, window_start, window_end, COUNT(*), SUM(v) FROM {SESSION} {BY_WINDOW}"
    assert sorted(query(c, text)) == [
        ("a", at(1), at(9), 1, 10), ("a", at(31), at(36), 1, 1), ("b", at(13), at(18), 1, 5),
        ("c", at(27), at(32), 1, 8),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ("TUMBLE(ts, INTERVAL '10' SECOND)",
         [("a", 1, 1), ("a", 1, 10), ("b", 1, 5), ("c", 1, 8)]),
        ("HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
         [("a", 1, 1)] * 2 + [("a", 1, 10)] * 2 + [("b", 1, 5)] * 2 + [("c", 1, 8)] * 2),
        ("SESSION(ts, INTERVAL '5' SECOND)",
         [("a", 1, 1), ("a", 1, 10), ("b", 1, 5), ("c", 1, 8)]),
    ],
    ids=["tumble", "hop", "session"],
)  # fmt: skip
def test_groups_by_windows(c, windows, expected):
    text = f"SELECT k, COUNT(*), SUM(v) FROM c GROUP BY k, {windows}"
    assert sorted(query(c, text)) == expected


def test_conditions_and_functions(c):
    text = (
        "SELECT k, window_start, COUNT(*) FILTER (WHERE v > 5), LISTAGG(CAST(v AS STRING)), "
        f"AVG(v), COUNT(DISTINCT k) FROM {TUMBLE} WHERE v < 10 {BY_WINDOW}"
    )
    assert sorted(query(c, text)) == [
        ("a", at(30), 0, "1", 1, 1), ("b", at(10), 0, "5", 5, 1), ("c", at(20), 1, "8", 8, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("windows", [TUMBLE, HOP, CUMULATE, SESSION], ids="thcs")
def test_rows_with_their_windows(c, windows):
    text = f"SELECT id, k, v FROM {windows}"
    assert set(last(c, text)) == {(1, "a", 10), (3, "b", 5), (5, "c", 8), (6, "a", 1)}
    assert {kind for kind, *_ in changes(c.sql_query(text))} == {"+I", "-U", "+U", "-D"}


ON = "ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k"


def of_window(partition, order):
    return (
        "SELECT * FROM (SELECT id, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY "
        f"window_start, window_end, {partition} ORDER BY {order} DESC) AS r FROM {TUMBLE})"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{of_window('k', 'v')} WHERE r <= 2",
        f"{of_window('k', 'ts')} WHERE r = 1",
        f"SELECT a.id FROM (SELECT * FROM {TUMBLE}) a JOIN (SELECT * FROM {TUMBLE}) b {ON}",
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM c",
    ],
    ids=["top", "latest", "join", "over"],
)
def test_what_takes_no_changes(c, text):
    with pytest.raises(Exception, match="doesn't support consuming update and delete changes"):
        query(c, text)
