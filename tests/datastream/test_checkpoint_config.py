from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.common.time import Duration
from pyflink_on_spark.datastream.checkpoint_config import (
    CheckpointConfig,
    ExternalizedCheckpointCleanup,
)
from pyflink_on_spark.datastream.checkpoint_storage import (
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from pyflink_on_spark.datastream.checkpointing_mode import CheckpointingMode
from pyflink_on_spark.datastream.externalized_checkpoint_retention import (
    ExternalizedCheckpointRetention,
)


@pytest.fixture
def configuration():
    return Configuration()


@pytest.fixture
def config(configuration):
    return CheckpointConfig(configuration)


def configuration_with(**options):
    named = {f"execution.checkpointing.{k.replace('_', '-')}": v for k, v in options.items()}
    return Configuration.from_dict(named)


def with_options(**options):
    return CheckpointConfig(configuration_with(**options))


def check(**options):
    CheckpointConfig._check(configuration_with(**options))


def test_defaults(config):
    assert config.get_checkpoint_interval() == -1
    assert config.is_checkpointing_enabled() is False
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert config.get_checkpoint_timeout() == 600_000
    assert config.get_min_pause_between_checkpoints() == 0
    assert config.get_max_concurrent_checkpoints() == 1
    assert config.get_tolerable_checkpoint_failure_number() == 0
    assert config.is_fail_on_checkpointing_errors() is True
    none = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
    assert config.get_externalized_checkpoint_retention() is none
    assert config.is_externalized_checkpoints_enabled() is False
    assert config.is_unaligned_checkpoints_enabled() is False
    assert config.is_force_unaligned_checkpoints() is False
    assert config.get_aligned_checkpoint_timeout() == Duration.of_millis(0)
    assert config.is_prefer_checkpoint_for_recovery() is False
    assert config.get_checkpoint_storage() is None


@pytest.mark.parametrize(
    ("set_it", "get_it", "value", "key", "text"),
    [
        ("set_checkpoint_interval", "get_checkpoint_interval", 1000, "interval", "1 s"),
        ("set_checkpoint_timeout", "get_checkpoint_timeout", 5000, "timeout", "5 s"),
        (
            "set_min_pause_between_checkpoints",
            "get_min_pause_between_checkpoints",
            5,
            "min-pause",
            "5 ms",
        ),
        (
            "set_max_concurrent_checkpoints",
            "get_max_concurrent_checkpoints",
            2,
            "max-concurrent-checkpoints",
            "2",
        ),
        (
            "set_tolerable_checkpoint_failure_number",
            "get_tolerable_checkpoint_failure_number",
            3,
            "tolerable-failed-checkpoints",
            "3",
        ),
        (
            "set_externalized_checkpoint_retention",
            "get_externalized_checkpoint_retention",
            ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION,
            "externalized-checkpoint-retention",
            "RETAIN_ON_CANCELLATION",
        ),
        (
            "set_externalized_checkpoint_cleanup",
            "get_externalized_checkpoint_cleanup",
            ExternalizedCheckpointCleanup.DELETE_ON_CANCELLATION,
            "externalized-checkpoint-retention",
            "DELETE_ON_CANCELLATION",
        ),
        (
            "set_alignment_timeout",
            "get_aligned_checkpoint_timeout",
            Duration.of_seconds(3),
            "aligned-checkpoint-timeout",
            "3 s",
        ),
        (
            "set_force_unaligned_checkpoints",
            "is_force_unaligned_checkpoints",
            True,
            "unaligned.forced",
            "true",
        ),
        (
            "set_prefer_checkpoint_for_recovery",
            "is_prefer_checkpoint_for_recovery",
            True,
            "prefer-checkpoint-for-recovery",
            "true",
        ),
    ],
)
def test_setters_and_options_agree(config, configuration, set_it, get_it, value, key, text):
    assert getattr(config, set_it)(value) is config
    assert getattr(config, get_it)() == value
    assert configuration.to_dict() == {f"execution.checkpointing.{key}": text}
    from_text = CheckpointConfig(Configuration.from_dict(configuration.to_dict()))
    assert getattr(from_text, get_it)() == value


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        ("set_checkpoint_interval", 9, "Checkpoint interval must be larger than or equal to 10 ms"),
        ("set_checkpoint_interval", -1, "Checkpoint interval must be larger"),
        ("set_checkpoint_timeout", 9, "Checkpoint timeout must be larger than or equal to 10 ms"),
        ("set_min_pause_between_checkpoints", -1, "Pause value must be zero or positive"),
        ("set_max_concurrent_checkpoints", 0, "concurrent attempts must be at least one"),
        ("set_tolerable_checkpoint_failure_number", -1, "must be non-negative"),
    ],
)
def test_values_out_of_bounds(config, configuration, call, value, message):
    with pytest.raises(ValueError, match=message):
        getattr(config, call)(value)
    assert configuration.to_dict() == {}


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("set_checkpoint_interval", 10.5),
        ("set_checkpoint_interval", "10"),
        ("set_checkpoint_interval", True),
        ("set_checkpointing_mode", "EXACTLY_ONCE"),
        ("set_externalized_checkpoint_retention", "x"),
        ("set_alignment_timeout", 5),
        ("enable_unaligned_checkpoints", 1),
        ("set_checkpoint_storage", "file:///x"),
    ],
)
def test_values_of_a_wrong_type(config, call, value):
    with pytest.raises(TypeError, match=r"takes a"):
        getattr(config, call)(value)


@pytest.mark.parametrize(
    ("options", "get_it", "message"),
    [
        ({"interval": "5 ms"}, "get_checkpoint_interval", "larger than or equal to 10 ms"),
        ({"interval": "0"}, "is_checkpointing_enabled", "larger than or equal to 10 ms"),
        ({"interval": "banana"}, "get_checkpoint_interval", "Could not parse value 'banana'"),
        ({"timeout": "1 ms"}, "get_checkpoint_timeout", "larger than or equal to 10 ms"),
        ({"max_concurrent_checkpoints": "0"}, "get_max_concurrent_checkpoints", "at least one"),
        (
            {"interval": "1 s", "mode": "exactly-once"},
            "get_checkpointing_mode",
            "Could not parse value 'exactly-once' for key 'execution.checkpointing.mode'",
        ),
    ],
)
def test_options_out_of_bounds(options, get_it, message):
    with pytest.raises(ValueError, match=message):
        getattr(with_options(**options), get_it)()
    with pytest.raises(ValueError, match=message):
        check(**options)


def test_good_options_pass_the_check():
    check(interval="2 min", timeout="30s", mode="at_least_once")


def test_the_mode_counts_once_checkpoints_are_on(config, configuration):
    config.set_checkpoint_interval(1000)
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
    config.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    config.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE)
    configuration.set_string("execution.runtime-mode", "BATCH")
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert config.is_checkpointing_enabled()


def test_unaligned_needs_exactly_once(config):
    config.enable_unaligned_checkpoints()
    assert not config.is_unaligned_checkpoints_enabled()
    config.set_checkpoint_interval(1000)
    assert config.is_unaligned_checkpoints_enabled()
    config.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
    assert not config.is_unaligned_checkpoints_enabled()
    config.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE).disable_unaligned_checkpoints()
    assert not config.is_unaligned_checkpoints_enabled()


def test_failing_on_errors_is_about_tolerance(config):
    config.set_fail_on_checkpointing_errors(False)
    assert config.get_tolerable_checkpoint_failure_number() == 2**31 - 1
    assert not config.is_fail_on_checkpointing_errors()
    config.set_fail_on_checkpointing_errors(True)
    assert config.get_tolerable_checkpoint_failure_number() == 0


def test_old_option_names_still_count():
    assert with_options(alignment_timeout="4 s").get_alignment_timeout() == Duration.of_seconds(4)
    assert with_options(interval="1 s", unaligned="true").is_unaligned_checkpoints_enabled()


def test_a_java_config_is_refused():
    with pytest.raises(TypeError, match="takes a Configuration"):
        CheckpointConfig("java")


def test_a_folder_for_checkpoints(config, configuration):
    config.set_checkpoint_storage_dir("file:///data//checkpoints/")
    storage = config.get_checkpoint_storage()
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_checkpoint_path() == "file:/data/checkpoints"
    assert storage.get_min_file_size_threshold() == 20480
    assert storage.get_write_buffer_size() == 4096
    assert storage.get_savepoint_path() is None
    assert configuration.to_dict() == {
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": "file:/data/checkpoints",
    }


def test_storages_come_back_as_they_were_set(config):
    config.set_checkpoint_storage(FileSystemCheckpointStorage("hdfs://h:1/x", 1000, 9))
    storage = config.get_checkpoint_storage()
    assert storage.get_checkpoint_path() == "hdfs://h:1/x"
    assert (storage.get_min_file_size_threshold(), storage.get_write_buffer_size()) == (1000, 9)
    config.set_checkpoint_storage(JobManagerCheckpointStorage(max_state_size=100))
    storage = config.get_checkpoint_storage()
    assert isinstance(storage, JobManagerCheckpointStorage)
    assert (storage.get_max_state_size(), storage.get_checkpoint_path()) == (100, None)
    assert str(storage) == (
        "JobManagerCheckpointStorage (checkpoints to JobManager) ( maxStateSize: 100)"
    )


def test_sizes_that_a_storage_leaves_open_come_from_the_options():
    config = with_options(data_inline_threshold="2 kb", write_buffer_size="77")
    config.set_checkpoint_storage_dir("hdfs://h:1/y")
    storage = config.get_checkpoint_storage()
    assert (storage.get_min_file_size_threshold(), storage.get_write_buffer_size()) == (2048, 77)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "checkpoint_path must not be None"),
        (("",), "empty string"),
        (("/data",), "The scheme .* is null"),
        (("file:///",), "Cannot use the root directory for checkpoints"),
        (("file:///x", 2_000_000), r"must be in \[-1, 1048576\]"),
        (("file:///x", -2), r"must be in \[-1, 1048576\]"),
        (("file:///x", 5, -2), "not less than '-1'"),
    ],
)
def test_impossible_folders(arguments, message):
    with pytest.raises(ValueError, match=message):
        FileSystemCheckpointStorage(*arguments)


def test_impossible_job_manager_storages():
    with pytest.raises(ValueError, match="maxStateSize must be > 0"):
        JobManagerCheckpointStorage(None, 0)
    with pytest.raises(ValueError, match="scheme"):
        JobManagerCheckpointStorage("/data")


def test_java_storages_are_refused():
    with pytest.raises(UnsupportedFlinkFeature, match="FileSystemCheckpointStorage"):
        CustomCheckpointStorage("com.acme.Storage")
    with pytest.raises(UnsupportedFlinkFeature):
        with_options(storage="com.acme.Storage").get_checkpoint_storage()
