"""A query into files gives the same files, wherever its job is killed."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.table import StreamTableEnvironment
from pyflink_on_spark.testing import local_engine

pytestmark = pytest.mark.slow

QUERIES = {
    "tumble": (
        "SELECT k, window_start, COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE events, "
        "DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"
    ),
    "hop": (
        "SELECT k, window_start, COUNT(*), SUM(v) FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end"
    ),
    "cumulate": (
        "SELECT k, window_end, COUNT(*), SUM(v) FROM TABLE(CUMULATE(TABLE events, "
        "DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) "
        "GROUP BY k, window_start, window_end"
    ),
    "session": (
        "SELECT k, SESSION_START(ts, INTERVAL '2' SECOND), COUNT(*), SUM(v) FROM events "
        "GROUP BY k, SESSION(ts, INTERVAL '2' SECOND)"
    ),
    "interval join": (
        "SELECT a.k, a.ts, CAST(a.v AS BIGINT), b.v FROM events AS a LEFT JOIN events AS b "
        "ON a.k = b.k AND b.v > a.v AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '4' SECOND"
    ),
    "over": (
        "SELECT k, ts, CAST(v AS BIGINT), SUM(v) OVER (PARTITION BY k ORDER BY ts "
        "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM events"
    ),
}
KILLED_OFTEN = {
    "execution.checkpointing.interval": "10 ms",
    "pyflink-on-spark.checkpoint-elements": "7",
}


def lines_of(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if "inprogress" in path.name]
    return sorted(line for path in files for line in path.read_text().splitlines())


def run(query, events, target, *, killed):
    with local_engine(checkpoint_each_turn=killed, restart_each_checkpoint=killed):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(2)
        settings = {"execution.checkpointing.interval": "1 h"} if not killed else KILLED_OFTEN
        configuration = Configuration()
        for key, value in settings.items():
            configuration.set_string(key, value)
        env.configure(configuration)
        t_env = StreamTableEnvironment.create(env)
        t_env.execute_sql(
            "CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), "
            "WATERMARK FOR ts AS ts - INTERVAL '3' SECOND) WITH "
            f"('connector' = 'filesystem', 'path' = '{events}', 'format' = 'csv')"
        )
        t_env.execute_sql(
            "CREATE TABLE results (k STRING, t TIMESTAMP(3), n BIGINT, total INT) WITH "
            f"('connector' = 'filesystem', 'path' = '{target}', 'format' = 'csv')"
        )
        t_env.execute_sql(f"INSERT INTO results {query}").wait()
    return lines_of(target)


@pytest.mark.parametrize("query", QUERIES)
def test_killed_after_each_checkpoint(query, tmp_path):
    rows = [
        f"{'abc'[number % 3]},{number},2024-01-01 00:{number // 60 % 60:02}:{number % 60:02}.000"
        for number in range(150)
    ]
    events = tmp_path / "events.csv"
    events.write_text("\n".join(rows) + "\n")
    undisturbed = run(QUERIES[query], events, tmp_path / "undisturbed", killed=False)
    assert len(undisturbed) > 10
    assert run(QUERIES[query], events, tmp_path / "killed", killed=True) == undisturbed
