"""Jobs without checkpoints whose state backend is on disk."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import (
    EmbeddedRocksDBStateBackend,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink_on_spark.datastream.state import ValueStateDescriptor

KEYS = 3_000


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


def counted(folder):
    configuration = Configuration()
    configuration.set_string("state.backend.rocksdb.memory.fixed-per-slot", "64 kb")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths(str(folder))
    env.set_state_backend(backend)
    numbers = env.from_collection([n % KEYS for n in range(3 * KEYS)], Types.INT())
    return numbers.key_by(lambda n: n).process(Count()).execute_and_collect()


def test_more_state_than_memory(env, tmp_path):
    with counted(tmp_path) as results:
        assert list(results) == [(n % KEYS, n // KEYS + 1) for n in range(3 * KEYS)]
    assert list(tmp_path.iterdir()) == []


def test_the_folder_has_to_be_writable(env, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Exception, match="cannot keep state in"), counted(tmp_path / "file") as made:
        list(made)
