"""The parameters of a watermark strategy for the engine."""

from __future__ import annotations

import logging

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import (
    AssignerWithPeriodicWatermarksWrapper,
    Duration,
    Time,
    WatermarkStrategy,
)
from pyflink_on_spark.common.watermark_strategy import (
    TimestampAssigner,
    WatermarkSpec,
)


class FirstField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


def test_kinds():
    assert WatermarkStrategy.no_watermarks()._spec == WatermarkSpec("none")
    assert WatermarkStrategy.for_monotonous_timestamps()._spec == WatermarkSpec("monotonous")
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_nanos(1_999_999))
    assert bounded._spec == WatermarkSpec("bounded", bound_ms=1)


def test_an_assigner_changes_the_strategy_itself():
    strategy = WatermarkStrategy.no_watermarks()
    assigner = FirstField()
    assert strategy.with_timestamp_assigner(assigner) is strategy
    assert strategy._spec.assigner is assigner


def test_idleness_and_alignment_make_a_new_strategy():
    first = WatermarkStrategy.for_monotonous_timestamps()
    idle = first.with_idleness(Duration.of_seconds(5))
    aligned = idle.with_watermark_alignment("g", Duration.of_millis(7))
    assert first._spec.idle_timeout_ms is None
    assert idle._spec == WatermarkSpec("monotonous", idle_timeout_ms=5000)
    assert aligned._spec.idle_timeout_ms == 5000
    assert aligned.with_idleness(Duration.of_nanos(1))._spec.idle_timeout_ms == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda strategy: strategy.with_idleness(Duration.of_seconds(1)),
        lambda strategy: strategy.with_watermark_alignment("g", Duration.of_seconds(1)),
    ],
)
def test_both_lose_the_assigner_as_in_pyflink_and_say_so(change, caplog):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    with caplog.at_level(logging.WARNING):
        assert change(strategy)._spec.assigner is None
        assert caplog.records == []
        assert change(strategy.with_timestamp_assigner(FirstField()))._spec.assigner is None
    assert "before with_timestamp_assigner()" in caplog.text


def test_amounts_that_make_no_sense():
    strategy = WatermarkStrategy.no_watermarks()
    second, nothing, less = Duration.of_seconds(1), Duration.of_millis(0), Duration.of_nanos(-1)
    for refused in (
        lambda: strategy.with_idleness(nothing),
        lambda: strategy.with_idleness(less),
        lambda: strategy.with_watermark_alignment("g", less),
        lambda: strategy.with_watermark_alignment("g", second, nothing),
        lambda: WatermarkStrategy.for_bounded_out_of_orderness(less),
    ):
        with pytest.raises(ValueError, match=r"must|cannot"):
            refused()


@pytest.mark.parametrize("wrong", [5, None, Time.seconds(5)])
def test_only_a_duration_is_a_duration(wrong):
    with pytest.raises(TypeError, match="takes a Duration"):
        WatermarkStrategy.for_bounded_out_of_orderness(wrong)
    with pytest.raises(TypeError, match="takes a Duration"):
        WatermarkStrategy.no_watermarks().with_idleness(wrong)


def test_javas_assigner_is_refused():
    with pytest.raises(UnsupportedFlinkFeature, match="AssignerWithPeriodicWatermarksWrapper"):
        AssignerWithPeriodicWatermarksWrapper(object())


def test_an_assigner_must_say_how():
    with pytest.raises(TypeError, match="extract_timestamp"):
        TimestampAssigner()
