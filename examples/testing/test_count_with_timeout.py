"""How a team tests its own function: no Spark, no JVM, no waiting."""

from __future__ import annotations

import pytest
from count_with_timeout import LATE, CountWithTimeout
from pyflink.common import Duration, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment

from pyflink_on_spark.testing import Record, harness_for, local_engine


@pytest.fixture
def harness():
    with harness_for(CountWithTimeout(), key_selector=lambda word: word) as harness:
        yield harness


def test_tells_the_count_after_a_quiet_minute(harness):
    harness.push("tea", timestamp=0)
    harness.push("tea", timestamp=30_000)
    harness.push_watermark(89_999)
    assert harness.values() == []
    harness.push_watermark(90_000)
    assert harness.records() == [Record(("tea", 2), timestamp=90_000)]


def test_keys_do_not_wait_for_each_other(harness):
    harness.push("tea", timestamp=0)
    harness.push("milk", timestamp=50_000)
    harness.push_watermark(60_000)
    assert harness.values() == [("tea", 1)]
    assert harness.event_time_timers() == [(110_000, "milk")]


def test_late_elements_go_aside(harness):
    harness.push_watermark(1_000)
    harness.push("tea", timestamp=1_000)
    assert harness.side_output(LATE) == ["tea"]
    assert harness.state_entries() == 0


def test_state_does_not_pile_up(harness):
    harness.push("tea", timestamp=0)
    assert harness.state_entries("count") == 1
    harness.push_watermark(60_000)
    assert harness.state_entries() == 0


@pytest.mark.parametrize("parallelism", [1, 3])
def test_survives_a_restart(harness, parallelism):
    for word in ("tea", "milk", "honey"):
        harness.push(word, timestamp=0)
    with harness.restart(parallelism=parallelism) as restarted:
        restarted.push("tea", timestamp=1_000)
        restarted.end_input()
        assert sorted(restarted.values()) == [("honey", 1), ("milk", 1), ("tea", 2)]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def test_a_whole_job():
    with local_engine():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(2)
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        words = env.from_collection([("tea", 0), ("milk", 10), ("tea", 20)])
        counts = (
            words.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))
            .map(lambda pair: pair[0])
            .key_by(lambda word: word)
            .process(CountWithTimeout())
        )
        with counts.execute_and_collect() as results:
            assert sorted(results) == [("milk", 1), ("tea", 2)]
