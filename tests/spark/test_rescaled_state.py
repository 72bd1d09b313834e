"""State of each kind in a savepoint that two subtasks have written, and others take over."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark.common import Configuration, Duration, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from tests.runtime.whole_state import ELEMENTS, all_state, checksum, content_of, is_all


def job(folder, parallelism, restore=None):
    """Reads files without end, and keeps all it can of them."""
    settings = {
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
        "execution.checkpointing.num-retained": "1000",  # none goes while it is looked at
        "restart-strategy.type": "none",
    }
    if restore is not None:
        settings["execution.state-recovery.path"] = restore
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    env.set_max_parallelism(12)
    lines = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder / "in"))
        .monitor_continuously(Duration.of_millis(100))
        .build()
    )
    stream = env.from_source(lines, WatermarkStrategy.no_watermarks(), "lines").uid("lines")

    def parsed(line):
        key, at, number = line.split(",")
        return key, int(at), int(number)

    all_state(stream.map(parsed, Types.PICKLED_BYTE_ARRAY()).uid("parsed"))
    return env.execute_async()


def content_at(path):
    place = find_checkpoint(path)
    return content_of(read_states(place, read_metadata(place)))


def seen(folder):
    """True once a checkpoint has all elements."""
    found = folder.glob("checkpoints/*/chk-*/_metadata")
    newest = max(found, default=None, key=lambda path: path.stat().st_mtime_ns)
    return newest is not None and is_all(content_at(str(newest.parent)))


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def stopped(client, folder):
    return client.stop_with_savepoint(False, str(folder / "savepoints")).result()


@pytest.mark.usefixtures("spark")
def test_a_savepoint_of_two_is_the_same_for_one_and_for_three(tmp_path):
    (tmp_path / "in").mkdir()
    lines = "".join(f"{key},{at},{number}\n" for key, at, number in ELEMENTS)
    Path(tmp_path, "in", "lines").write_text(lines)
    client = job(tmp_path, 2)
    wait_for(lambda: seen(tmp_path))
    two = stopped(client, tmp_path)
    before = content_at(two)
    assert is_all(before), before
    for parallelism in (1, 3):
        after = content_at(stopped(job(tmp_path, parallelism, two), tmp_path))
        assert after == before
        assert checksum(after) == checksum(before)
