"""Options that would let windows give results before their end, or again after it."""

from __future__ import annotations

import pytest

from pyflink_on_spark.errors import UnsupportedFlinkFeature
from pyflink_on_spark.table import EnvironmentSettings, TableEnvironment

GROUPS = "SELECT SUM(v) FROM t GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)"
TABLES = (
    "SELECT SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
    "GROUP BY window_start, window_end"
)


def explained(query, option, value, settings=EnvironmentSettings.in_streaming_mode):
    t_env = TableEnvironment.create(settings())
    t_env.get_config().set(option, value)
    t_env.execute_sql(
        "CREATE TABLE t (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )
    return t_env.sql_query(query).explain()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("table.exec.emit.early-fire.enabled", "true"),
        ("table.exec.emit.late-fire.enabled", "true"),
        ("table.exec.emit.allow-lateness", "1 s"),
    ],
)
def test_groups_by_windows_refuse_them(option, value):
    with pytest.raises(UnsupportedFlinkFeature, match=f"a group by windows with {option}"):
        explained(GROUPS, option, value)
    assert explained("SELECT SUM(v) FROM t", option, value)
    assert explained(GROUPS, option, value, EnvironmentSettings.in_batch_mode)
    assert explained(GROUPS, option, {"true": "false", "1 s": "0 s"}[value])


def test_windows_of_tables_have_no_use_for_lateness():
    assert explained(TABLES, "table.exec.emit.allow-lateness", "1 s")
