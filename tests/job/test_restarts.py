"""When a job that failed is started again, by the options that Flink has for it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import (
    check_may_restart,
    names_restart_strategy,
    restart_strategy,
)
from pyflink_on_spark._runtime.contract.plan import JobSettings

PREFIX = "restart-strategy"
BACKOFF = f"{PREFIX}.exponential-delay"
BACKOFF_OPTIONS = {
    f"{PREFIX}.type": "exponential-delay",
    f"{BACKOFF}.initial-backoff": "1 s",
    f"{BACKOFF}.max-backoff": "5 s",
    f"{BACKOFF}.backoff-multiplier": "2.0",
    f"{BACKOFF}.jitter-factor": "0.0",
    f"{BACKOFF}.reset-backoff-threshold": "1 min",
}


def delays(configuration, *failures, checkpointed=False):
    """How long the job waits after failures at some times (ms)."""
    settings = JobSettings("j", checkpointed=checkpointed, configuration=configuration)
    strategy = restart_strategy(settings)
    return [strategy.delay(now) for now in failures]


def test_a_job_without_checkpoints_is_not_restarted():
    assert delays({}, 0) == [None]


@pytest.mark.parametrize("name", ["none", "off", "disable", "NONE"])
def test_no_restart(name):
    assert delays({f"{PREFIX}.type": name}, 0, checkpointed=True) == [None]


def test_a_job_with_checkpoints_is_restarted_with_growing_delays():
    first, *others = delays({}, *range(30), checkpointed=True)
    assert 900 <= first <= 1100
    assert 54_000 <= others[-1] <= 66_000


def test_fixed_delay():
    options = {
        f"{PREFIX}.type": "fixed-delay",
        f"{PREFIX}.fixed-delay.attempts": "2",
        f"{PREFIX}.fixed-delay.delay": "3 s",
    }
    assert delays(options, 0, 1, 2) == [3000, 3000, None]


def test_failure_rate():
    options = {
        f"{PREFIX}.type": "failure-rate",
        f"{PREFIX}.failure-rate.max-failures-per-interval": "2",
        f"{PREFIX}.failure-rate.failure-rate-interval": "10 s",
        f"{PREFIX}.failure-rate.delay": "1 s",
    }
    assert delays(options, 0, 9_000, 11_000, 18_999) == [1000, 1000, 1000, None]


def test_growing_delays_have_a_maximum():
    assert delays(BACKOFF_OPTIONS, 0, 1, 2, 3, 4) == [1000, 2000, 4000, 5000, 5000]


def test_growing_delays_start_again_after_a_time_without_failures():
    failures = (0, 1, 2 + 60_000 + 4000, 3 + 60_000 + 4000)
    assert delays(BACKOFF_OPTIONS, *failures) == [1000, 2000, 1000, 2000]


def test_a_number_of_failures_without_a_pause_ends_the_job():
    options = {**BACKOFF_OPTIONS, f"{BACKOFF}.attempts-before-reset-backoff": "2"}
    assert delays(options, 0, 1, 2) == [1000, 2000, None]


def test_delays_vary():
    options = {**BACKOFF_OPTIONS, f"{BACKOFF}.jitter-factor": "0.5"}
    found = {delays(options, 0)[0] for _ in range(50)}
    assert len(found) > 1
    assert all(500 <= delay <= 1500 for delay in found)


def test_a_strategy_that_does_not_exist():
    with pytest.raises(ValueError, match="sometimes"):
        delays({f"{PREFIX}.type": "sometimes"})


@pytest.mark.parametrize("key", [f"{PREFIX}.type", PREFIX])
def test_the_strategy_of_the_configuration(key):
    assert names_restart_strategy({key: "none"})
    assert not names_restart_strategy({f"{PREFIX}.fixed-delay.attempts": "2"})


def test_what_was_collected_does_not_come_again():
    failure = RuntimeError("boom")
    check_may_restart(Job("job", JobSettings("j"), ()), failure)
    check_may_restart(Job("job", JobSettings("j", checkpointed=True), (), collected="c"), failure)
    with pytest.raises(JobExecutionError, match=r"boom\n\nJob restarted: execute_and_collect"):
        check_may_restart(Job("job", JobSettings("j"), (), collected="c"), failure)
