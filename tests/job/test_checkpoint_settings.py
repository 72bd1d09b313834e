"""The effect of settings for state backends and checkpoint storage; no Spark is started."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, UnsupportedFlinkFeature
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings, state_settings
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    SlotState,
    TaskStateSnapshot,
)
from pyflink_on_spark._runtime.state.disk import DiskSettings
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import JobManagerCheckpointStorage, StreamExecutionEnvironment
from pyflink_on_spark.datastream.state_backend import (
    EmbeddedRocksDBStateBackend,
    FsStateBackend,
    HashMapStateBackend,
    MemoryStateBackend,
    RocksDBStateBackend,
)
from tests.runtime.harness import FakeClock

MIB = 1024 * 1024


def configuration_of(backend=None, changelog=None, **settings):
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key.replace("__", "-").replace("_", "."), value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    if backend is not None:
        env.set_state_backend(backend)
    if changelog is not None:
        env.enable_changelog_state_backend(changelog)
    return env._configuration.to_dict()


def checkpoints_of(*args, **settings):
    return CheckpointSettings.of(configuration_of(*args, **settings))


def test_legacy_backends_say_where_checkpoints_are():
    found = checkpoints_of(MemoryStateBackend(max_state_size=77))
    assert (found.directory, found.max_state_size) == (None, 77)
    found = checkpoints_of(FsStateBackend("file:///c", "file:///s"))
    assert (found.directory, found.savepoint_directory) == ("file:/c", "file:/s")
    assert checkpoints_of(RocksDBStateBackend("file:///c")).directory == "file:/c"
    memory = RocksDBStateBackend(checkpoint_stream_backend=MemoryStateBackend(max_state_size=9))
    found = checkpoints_of(memory)
    assert (found.directory, found.max_state_size) == (None, 9)
    assert checkpoints_of(HashMapStateBackend()).max_state_size == 5 * MIB


def test_the_path_of_memory_is_a_folder():
    found = checkpoints_of(MemoryStateBackend("file:///c", "file:///s"))
    assert (found.directory, found.savepoint_directory) == ("file:/c", "file:/s")
    settings = {"execution_checkpointing_dir": "file:///c", "state_changelog_enabled": "true"}
    found = checkpoints_of(**settings, execution_checkpointing_storage="jobmanager")
    assert (found.directory, found.incremental) == ("file:/c", True)
    env = StreamExecutionEnvironment.get_execution_environment()
    config = env.get_checkpoint_config()
    config.set_checkpoint_storage(JobManagerCheckpointStorage("file:///c"))
    assert CheckpointSettings.of(env._configuration.to_dict()).directory == "file:/c"
    config.set_checkpoint_storage(JobManagerCheckpointStorage())
    assert CheckpointSettings.of(env._configuration.to_dict()).directory is None


@pytest.mark.parametrize(
    ("backend", "on_disk"),
    [
        (None, False),
        (HashMapStateBackend(), False),
        (MemoryStateBackend(), False),
        (FsStateBackend("file:///c"), False),
        (EmbeddedRocksDBStateBackend(), True),
        (RocksDBStateBackend("file:///c"), True),
    ],
)
def test_where_state_is(backend, on_disk):
    assert (state_settings(configuration_of(backend)).disk is not None) is on_disk


def test_a_backend_in_java():
    with pytest.raises(UnsupportedFlinkFeature, match="a Java class"):
        state_settings({"state.backend.type": "com.example.Factory"})


def test_memory_and_folders_of_state_on_disk():
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths("/a", "file:///b")
    settings = {
        "state_backend_rocksdb_memory_fixed__per__slot": "40 mb",
        "state_backend_rocksdb_block_cache__size": "8 mb",
    }
    found = state_settings(configuration_of(backend, **settings), 4)
    assert found.disk == DiskSettings(10 * MIB, ("/a", "/b"), 2 * MIB)
    found = state_settings(configuration_of(EmbeddedRocksDBStateBackend()), 2)
    assert found.disk == DiskSettings(64 * MIB, (), None)


@pytest.mark.parametrize(
    ("settings", "incremental"),
    [
        ({}, False),
        ({"changelog": True}, True),
        ({"changelog": False}, False),
        ({"backend": EmbeddedRocksDBStateBackend()}, False),
        ({"backend": EmbeddedRocksDBStateBackend(True)}, True),
        ({"backend": EmbeddedRocksDBStateBackend(False)}, False),
        ({"backend": RocksDBStateBackend("file:///c", True)}, True),
        ({"backend": HashMapStateBackend(), "state_backend_incremental": "true"}, False),
        ({"backend": EmbeddedRocksDBStateBackend(), "state_backend_incremental": "true"}, True),
    ],
)
def test_when_only_changes_are_written(settings, incremental):
    configuration = configuration_of(**settings)
    assert state_settings(configuration).track_changes is incremental
    configuration["execution.checkpointing.dir"] = "file:///c"
    assert CheckpointSettings.of(configuration).incremental is incremental


def test_checkpoints_in_memory_are_whole():
    assert not checkpoints_of(changelog=True).incremental


@pytest.mark.parametrize(
    ("settings", "interval"),
    [
        ({}, 600_000),
        ({"state_changelog_periodic__materialize_interval": "5 s"}, 5_000),
        ({"state_changelog_periodic__materialize_enabled": "false"}, None),
    ],
)
def test_how_often_state_is_materialised(settings, interval):
    assert checkpoints_of(changelog=True, **settings).materialize_interval == interval


class OneSlot:
    """Hosts that answer with state of some size."""

    def __init__(self, size):
        self.state = SlotState()
        operator = OperatorSnapshot({"list": [b"x" * size]})
        self.state.add(0, TaskStateSnapshot(1, {"op": OperatorSubtaskState(operator=operator)}))

    def snapshot(self, checkpoint_id, where, timeout):
        return {0: HostSnapshot(self.state.to_bytes(), [])}

    def notify_checkpoint_complete(self, checkpoint_id):
        pass

    def notify_checkpoint_aborted(self, checkpoint_id):
        pass


def test_too_much_state_for_memory():
    settings = checkpoints_of(MemoryStateBackend(max_state_size=1000))
    coordinator = CheckpointCoordinator(settings, "j", "job", [], {}, FakeClock())
    coordinator.checkpoint(OneSlot(500))
    assert coordinator.restore[0] == 1
    with pytest.raises(CheckpointError, match=r"'op' has \d+ bytes in subtask 0; .* takes 1000"):
        coordinator.checkpoint(OneSlot(1000))
    assert coordinator.restore[0] == 1
