"""Options of a configuration: their former keys, and values that they cannot have."""

from __future__ import annotations

import pytest
from pyflink.common import Configuration
from pyflink.datastream import ExternalizedCheckpointRetention, StreamExecutionEnvironment

from compat_tests.running import collect


def environment(options):
    configuration = Configuration()
    for key, value in options.items():
        configuration.set_string(key, value)
    made = StreamExecutionEnvironment.get_execution_environment(configuration)
    made.set_parallelism(1)
    return made


FORMER = [
    (
        "pipeline.operator-chaining.enabled",
        "pipeline.operator-chaining",
        ("true", True),
        ("false", False),
        lambda env: env.is_chaining_enabled(),
    ),
    (
        "execution.buffer-timeout.interval",
        "execution.buffer-timeout",
        ("1 s", 1000),
        ("7 ms", 7),
        lambda env: env.get_buffer_timeout(),
    ),
    (
        "task.cancellation.interval",
        "task.cancellation-interval",
        ("5", 5),
        ("7", 7),
        lambda env: env.get_config().get_task_cancellation_interval(),
    ),
    (
        "state.changelog.enabled",
        "state.backend.changelog.enabled",
        ("false", False),
        ("true", True),
        lambda env: env.is_changelog_state_backend_enabled(),
    ),
    (
        "execution.checkpointing.savepoint-dir",
        "state.savepoints.dir",
        ("file:/a", "file:/a"),
        ("file:/b", "file:/b"),
        lambda env: env.get_default_savepoint_directory(),
    ),
]


@pytest.mark.parametrize(("key", "former", "new", "old", "read"), FORMER)
def test_a_former_key_counts_where_the_key_is_not_set(key, former, new, old, read):
    assert read(environment({key: new[0]})) == new[1]
    assert read(environment({former: old[0]})) == old[1]
    assert read(environment({former: old[0], key: new[0]})) == new[1]


def test_names_of_an_option_in_any_case():
    env = environment(
        {"execution.checkpointing.externalized-checkpoint-retention": "retain_on_cancellation"}
    )
    retention = env.get_checkpoint_config().get_externalized_checkpoint_retention()
    assert retention is ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION


@pytest.mark.parametrize(
    "key",
    [
        "execution.checkpointing.interval",
        "execution.checkpointing.mode",
        "execution.checkpointing.unaligned",
        "execution.checkpointing.unaligned.enabled",
        "execution.checkpointing.externalized-checkpoint-retention",
        "execution.checkpointing.snapshot-compression",
        "metrics.latency.interval",
        "parallelism.default",
        "pipeline.closure-cleaner-level",
        "pipeline.force-kryo",
        "pipeline.generic-types",
        "pipeline.max-parallelism",
        "task.cancellation.interval",
        "task.cancellation-interval",
    ],
)
def test_values_that_no_environment_takes(key):
    with pytest.raises(Exception, match="Could not parse value 'foo bar' for key"):
        environment({key: "foo bar"})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("execution.checkpointing.interval", "5", "must be larger than or equal to 10 ms"),
        ("execution.checkpointing.max-concurrent-checkpoints", "0", "must be at least one"),
        ("pipeline.max-parallelism", "-1", "must be greater than 0"),
        ("parallelism.default", "0", "Parallelism must be at least one"),
    ],
)
def test_bounds(key, value, message):
    with pytest.raises(Exception, match=message):
        environment({key: value})


@pytest.mark.parametrize(
    "key",
    [
        "execution.buffer-timeout",
        "execution.buffer-timeout.enabled",
        "execution.runtime-mode",
        "execution.state-recovery.ignore-unclaimed-state",
        "execution.state-recovery.claim-mode",
        "python.fn-execution.bundle.size",
        "python.metric.enabled",
        "python.operator-chaining.enabled",
        "python.state.cache-size",
    ],
)
def test_values_that_no_job_takes(key):
    with pytest.raises(Exception, match="Could not parse value 'foo bar' for key"):
        collect(environment({key: "foo bar"}).from_collection([1]).map(lambda v: v))


def test_options_that_are_not_needed_may_be_anything():
    env = environment({"restart-strategy.fixed-delay.attempts": "foo bar", "my.own": "foo bar"})
    assert collect(env.from_collection([1]).map(lambda v: v + 1)) == [2]
