"""Log messages about settings of checkpoints and state without effect on Spark: each once."""

from __future__ import annotations

import logging

import pytest

from pyflink_on_spark._compat import recorded as _recorded
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.time import Duration
from pyflink_on_spark.datastream import (
    EmbeddedRocksDBStateBackend,
    PredefinedOptions,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.testing import local_engine


@pytest.fixture
def said(caplog, monkeypatch):
    monkeypatch.setattr(_recorded, "_SAID", set())
    with caplog.at_level(logging.WARNING):
        yield lambda: [
            message.removeprefix("The option ").replace(
                " is recorded, and has no effect on Spark", ""
            )
            for message in map(logging.LogRecord.getMessage, caplog.records)
        ]


def environment(settings):
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))


def run(env):
    with local_engine():
        list(env.from_collection([1]).map(str).execute_and_collect())


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("execution.checkpointing.unaligned", "true", "aligned"),
        ("execution.checkpointing.unaligned.enabled", "true", "aligned"),
        ("execution.checkpointing.unaligned.forced", "TRUE", "aligned"),
        ("execution.checkpointing.unaligned.interruptible-timers.enabled", "true", "aligned"),
        ("execution.checkpointing.aligned-checkpoint-timeout", "10 s", "aligned"),
        ("execution.checkpointing.max-concurrent-checkpoints", "2", "one checkpoint at a time"),
        ("execution.checkpointing.snapshot-compression", "true", "as it is"),
        ("execution.checkpointing.interval-during-backlog", "0", "backlog"),
        ("execution.checkpointing.create-subdir", "false", "folder of its own"),
        ("execution.checkpointing.something-new", "1", "nothing here reads it"),
        ("execution.state-recovery.claim-mode", "claim", "stays as it is"),
        ("execution.savepoint-restore-mode", "CLAIM", "stays as it is"),
        ("execution.state-recovery.from-local", "true", "the checkpoint's folder"),
        ("state.backend.rocksdb.predefined-options", "FLASH_SSD_OPTIMIZED", "another database"),
        ("state.backend.rocksdb.options-factory", "a.B", "another database"),
        ("state.backend.rocksdb.writebuffer.size", "1mb", "another database"),
        ("state.changelog.storage", "filesystem", "not between"),
        ("state.backend.something-new", "x", "nothing here reads it"),
        ("execution.checkpointing.intervall", "1 s", "is execution.checkpointing.interval meant?"),
        ("python.fn-execution.arrow.batch.size", "5", "without bundles"),
        ("python.execution-mode", "thread", "in Python processes"),
        ("pipeline.jars", "file:///a.jar", "spark.jars"),
        ("taskmanager.numberOfTaskSlots", "4", "Spark runs the job"),
        ("task.cancellation-interval", "5 s", "Spark schedules"),
    ],
)
def test_a_key_without_effect_is_said_once(said, key, value, reason):
    env = environment({key: value})
    run(env)
    run(env)
    (message,) = said()
    assert message.startswith(f"{key}: ")
    assert reason in message


@pytest.mark.parametrize(
    "settings",
    [
        {"execution.checkpointing.unaligned.enabled": "false"},
        {"execution.checkpointing.aligned-checkpoint-timeout": "0 ms"},
        {"execution.checkpointing.max-concurrent-checkpoints": "1"},
        {"execution.checkpointing.create-subdir": "true"},
        {"execution.state-recovery.claim-mode": "NO_CLAIM"},
        {"execution.savepoint-restore-mode": "LEGACY"},
        {"state.backend.rocksdb.predefined-options": "DEFAULT"},
        {"state.backend.rocksdb.memory.fixed-per-slot": "64 mb", "state.backend.type": "rocksdb"},
        {"execution.checkpointing.interval": "1 s", "execution.checkpointing.timeout": "1 min"},
        {"state.changelog.enabled": "true", "state.changelog.periodic-materialize.interval": "1 s"},
        {"python.fn-execution.bundle.size": "1000", "stateful": "x", "pipelined": "y"},
        {"state.backend.fs.checkpointdir": "file:///x", "spark.ui.enabled": "false"},
        {"pipeline.object-reuse": "true", "fs.azure.account.key.a.dfs.core.windows.net": "k"},
        {"state.backend.rocksdb.timer-service.factory": "heap"},
    ],
)
def test_nothing_is_said_of_the_others(said, settings):
    run(environment(settings))
    assert said() == []


def test_setters_say_it_at_once_and_the_job_not_again(said):
    env = environment({})
    config = env.get_checkpoint_config()
    config.enable_unaligned_checkpoints().set_max_concurrent_checkpoints(2)
    config.set_aligned_checkpoint_timeout(Duration.of_seconds(1))
    config.disable_unaligned_checkpoints()
    backend = EmbeddedRocksDBStateBackend()
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(9)
    env.set_state_backend(backend)
    before = said()
    assert [message.split(":")[0].rpartition(".")[2] for message in before] == [
        "enabled",
        "max-concurrent-checkpoints",
        "aligned-checkpoint-timeout",
        "predefined-options",
        "num",
    ]
    run(env)
    assert said() == before


def test_compression_is_said_when_the_job_runs(said):
    env = environment({})
    env.get_config().set_use_snapshot_compression(True)
    run(env)
    (message,) = said()
    assert message.startswith("execution.checkpointing.snapshot-compression: ")


FOLDER = {"execution.checkpointing.dir": "file:///c"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION"),
        ("execution.checkpointing.num-retained", "3"),
        ("state.changelog.enabled", "true"),
        ("execution.checkpointing.incremental", "true"),
    ],
)
def test_what_needs_a_folder(said, key, value):
    settings = {"execution.checkpointing.interval": "1 s", key: value}
    CheckpointSettings.of({**settings, **FOLDER})
    assert said() == []
    CheckpointSettings.of(settings)
    (message,) = said()
    assert message.startswith(f"{key}: ")
    assert "execution.checkpointing.dir" in message
