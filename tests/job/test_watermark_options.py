"""How often watermarks are emitted: the rule, case by case."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import watermark_rhythm

INTERVAL = "pipeline.auto-watermark-interval"
ELEMENTS = "pyflink-on-spark.watermark-interval-elements"
BUNDLE_SIZE = "python.fn-execution.bundle.size"
BUNDLE_TIME = "python.fn-execution.bundle.time"


@pytest.mark.parametrize(
    ("settings", "bounded", "unbounded"),
    [
        ({}, (10_000, 1_000), (None, 200)),
        ({INTERVAL: "0 ms"}, (None, None), (None, None)),
        ({INTERVAL: "50 ms"}, (10_000, 1_000), (None, 50)),
        ({INTERVAL: "5 s"}, (10_000, 5_000), (None, 5_000)),
        ({ELEMENTS: "3"}, (3, 1_000), (None, 200)),
        ({BUNDLE_TIME: "3000"}, (10_000, 3_000), (None, 200)),
        ({BUNDLE_TIME: "50"}, (10_000, 200), (None, 200)),
        # Bundles smaller than the number of elements: each may have a watermark after it.
        ({BUNDLE_SIZE: "9999"}, (10_000, 200), (None, 200)),
        ({BUNDLE_SIZE: "10000"}, (10_000, 1_000), (None, 200)),
        ({BUNDLE_SIZE: "3", ELEMENTS: "2"}, (2, 1_000), (None, 200)),
        ({BUNDLE_SIZE: "1", INTERVAL: "7 ms"}, (10_000, 7), (None, 7)),
    ],
)
def test_the_rule(settings, bounded, unbounded):
    assert _limits(watermark_rhythm(settings, bounded=True)) == bounded
    assert _limits(watermark_rhythm(settings, bounded=False)) == unbounded


def _limits(rhythm):
    return rhythm.elements, rhythm.milliseconds


def test_a_job_with_batch_semantics_emits_none():
    assert watermark_rhythm({BUNDLE_SIZE: "1", INTERVAL: "7 ms"}, bounded=True, batch=True).never


@pytest.mark.parametrize("bounded", [True, False])
def test_the_event_time_of_tables(bounded):
    assert watermark_rhythm({}, bounded).event_time == 200
    assert watermark_rhythm({INTERVAL: "7 ms"}, bounded).event_time == 7
    assert watermark_rhythm({INTERVAL: "0 ms"}, bounded).event_time == 0


@pytest.mark.parametrize("option", [INTERVAL, ELEMENTS, BUNDLE_SIZE, BUNDLE_TIME])
def test_an_option_that_cannot_be_read(option):
    with pytest.raises(ValueError, match=option):
        watermark_rhythm({option: "often"}, bounded=True)
