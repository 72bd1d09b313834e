from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._job.checkpoints.checkpoint_settings import keeps_state_on_disk
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.datastream.checkpoint_config import CheckpointConfig
from pyflink_on_spark.datastream.checkpoint_storage import (
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from pyflink_on_spark.datastream.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    FsStateBackend,
    HashMapStateBackend,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    read_state_backend,
    write_state_backend,
)


def test_rocksdb_defaults():
    backend = EmbeddedRocksDBStateBackend()
    assert backend.get_db_storage_paths() == []
    assert backend.get_number_of_transfer_threads() == 4
    assert backend.get_options() is None
    assert backend.get_predefined_options() is PredefinedOptions.DEFAULT
    assert backend.is_incremental_checkpoints_enabled() is False
    assert str(backend) == (
        "EmbeddedRocksDBStateBackend{, localRocksDbDirectories=null, "
        "enableIncrementalCheckpointing=UNDEFINED, numberOfTransferThreads=-1, writeBatchSize=-1}"
    )


def test_rocksdb_settings():
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_db_storage_paths("/data/a", "file:///data/b")
    backend.set_number_of_transfer_threads(7)
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_options("com.acme.Factory")
    assert backend.is_incremental_checkpoints_enabled() is True
    assert backend.get_db_storage_paths() == ["/data/a", "/data/b"]
    assert backend.get_number_of_transfer_threads() == 7
    assert backend.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    assert backend.get_options() == "com.acme.Factory"
    assert "localRocksDbDirectories=[/data/a, /data/b], enable" in str(backend)
    assert "enableIncrementalCheckpointing=TRUE, numberOfTransferThreads=7" in str(backend)
    backend.set_db_storage_paths()
    assert backend.get_db_storage_paths() == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("relative", "Relative paths are not supported"),
        ("", "Relative paths are not supported"),
        ("hdfs://x/y", "Path hdfs://x/y has a non-local scheme"),
        (None, "null path"),
    ],
)
def test_impossible_database_folders(path, message):
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths("/data")
    with pytest.raises(ValueError, match=message):
        backend.set_db_storage_paths("/other", path)
    assert backend.get_db_storage_paths() == ["/data"]


def test_impossible_rocksdb_settings():
    with pytest.raises(TypeError, match="enable_incremental_checkpointing"):
        EmbeddedRocksDBStateBackend("x")
    with pytest.raises(ValueError, match="greater than zero"):
        EmbeddedRocksDBStateBackend().set_number_of_transfer_threads(0)
    with pytest.raises(TypeError, match="PredefinedOptions"):
        EmbeddedRocksDBStateBackend().set_predefined_options("DEFAULT")


@pytest.mark.parametrize(
    ("name", "kind", "backend"),
    [
        ("hashmap", "hashmap", HashMapStateBackend),
        ("rocksdb", "rocksdb", EmbeddedRocksDBStateBackend),
        ("RocksDB", "rocksdb", EmbeddedRocksDBStateBackend),
        ("jobmanager", "hashmap", MemoryStateBackend),
        ("filesystem", "hashmap", FsStateBackend),
    ],
)
@pytest.mark.parametrize("key", ["state.backend.type", "state.backend"])
def test_backends_by_option(key, name, kind, backend):
    configuration = Configuration().set_string(key, name)
    assert type(read_state_backend(configuration)) is backend
    assert keeps_state_on_disk(configuration.to_dict()) is (kind == "rocksdb")


def test_no_backend_means_memory():
    assert read_state_backend(Configuration()) is None
    assert not keeps_state_on_disk({})


def test_backends_of_java_are_refused():
    with pytest.raises(UnsupportedFlinkFeature, match=r"'com\.acme\.Factory'"):
        read_state_backend(Configuration().set_string("state.backend.type", "com.acme.Factory"))
    with pytest.raises(UnsupportedFlinkFeature, match="HashMapStateBackend"):
        CustomStateBackend(object())


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        (HashMapStateBackend(), "hashmap"),
        (EmbeddedRocksDBStateBackend(False), "rocksdb"),
        (MemoryStateBackend(), "hashmap"),
        (FsStateBackend("file:///data"), "hashmap"),
        (RocksDBStateBackend("file:///data"), "rocksdb"),
    ],
)
def test_backends_come_back_as_they_were_set(backend, kind):
    configuration = Configuration()
    write_state_backend(configuration, backend)
    assert type(read_state_backend(configuration)) is type(backend)
    assert keeps_state_on_disk(configuration.to_dict()) is (kind == "rocksdb")


def test_a_backend_is_a_view_once_it_was_set():
    configuration, backend = Configuration(), EmbeddedRocksDBStateBackend()
    write_state_backend(configuration, backend)
    backend.set_number_of_transfer_threads(9)
    assert read_state_backend(configuration).get_number_of_transfer_threads() == 9
    with pytest.raises(TypeError, match="StateBackend"):
        write_state_backend(configuration, "rocksdb")


def test_memory_backend():
    backend = MemoryStateBackend("file:///c", "file:///s", 100, False)
    assert backend.get_max_state_size() == 100
    assert backend.is_using_asynchronous_snapshots() is False
    assert str(backend) == (
        "MemoryStateBackend (data in heap memory / checkpoints to JobManager) (checkpoints: "
        "'file:/c', savepoints: 'file:/s', asynchronous: FALSE, maxStateSize: 100)"
    )
    assert MemoryStateBackend().get_max_state_size() == MemoryStateBackend.DEFAULT_MAX_STATE_SIZE
    assert MemoryStateBackend().is_using_asynchronous_snapshots() is True


def test_file_backend():
    backend = FsStateBackend("hdfs://h/c", "hdfs://h/s", 1000, 9, False)
    assert backend.get_checkpoint_path() == "hdfs://h/c"
    assert (backend.get_min_file_size_threshold(), backend.get_write_buffer_size()) == (1000, 9)
    assert backend.is_using_asynchronous_snapshots() is False
    with pytest.raises(ValueError, match="'checkpoint_directory_uri' is required"):
        FsStateBackend()


def test_legacy_backends_say_where_checkpoints_are_stored():
    configuration = Configuration()
    write_state_backend(configuration, FsStateBackend("hdfs://h/c"))
    storage = CheckpointConfig(configuration).get_checkpoint_storage()
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_checkpoint_path() == "hdfs://h/c"
    write_state_backend(configuration, MemoryStateBackend())
    storage = CheckpointConfig(configuration).get_checkpoint_storage()
    assert isinstance(storage, JobManagerCheckpointStorage)


def test_legacy_rocksdb_backend():
    with pytest.raises(ValueError, match="'checkpoint_data_uri' is required"):
        RocksDBStateBackend()
    files = FsStateBackend("hdfs://h/c", file_state_size_threshold=77)
    backend = RocksDBStateBackend(checkpoint_stream_backend=files)
    assert backend.get_checkpoint_backend() is files
    backend.set_number_of_transfering_threads(3)
    assert backend.get_number_of_transfering_threads() == 3
    backend = RocksDBStateBackend("hdfs://h/d", True)
    assert backend.get_checkpoint_backend().get_checkpoint_path() == "hdfs://h/d"
    assert backend.is_incremental_checkpoints_enabled()
    assert str(backend).startswith("RocksDBStateBackend{checkpointStreamBackend=")
