"""Faults outside of a job are named, nothing is committed partially, and a restart resumes."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark.common import Configuration, Encoder, Types, WatermarkStrategy
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)

COUNT = 3000


class UntilLetGo(MapFunction):
    """Passes lines on; from the middle on only once something is put right."""

    def __init__(self, folder):
        self.right = Path(folder, "right")

    def map(self, value):
        if int(value) == COUNT // 2 and not self.right.exists():
            time.sleep(0.5)
        if int(value) > COUNT // 2 and not self.right.exists():
            time.sleep(0.002)
        return value


def numbers(folder, first, last):
    (folder / "in").mkdir(exist_ok=True)
    name = folder / "in" / f"{first:06}"
    name.write_text("".join(f"{number}\n" for number in range(first, last)))
    return name


def job(folder, output, restore=None):
    """Copies the numbers of files to part files, without a second attempt."""
    settings = {
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "none",
    }
    if restore:
        settings["execution.state-recovery.path"] = str(restore)
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    lines = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), str(folder / "in")
    ).build()
    sink = (
        FileSink.for_row_format(str(output), Encoder.simple_string_encoder())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .build()
    )
    stream = env.from_source(lines, WatermarkStrategy.no_watermarks(), "lines").uid("lines")
    stream.map(UntilLetGo(folder), Types.STRING()).uid("copy").sink_to(sink).uid("sink")
    return env


def newest_checkpoint(folder):
    complete = folder.glob("checkpoints/*/chk-*/_metadata")
    newest = max(complete, key=lambda path: path.stat().st_mtime_ns, default=None)
    return newest.parent if newest else None


def written(output):
    parts = [path for path in output.rglob("part-*") if path.is_file()]
    texts = [path.read_text() for path in parts]
    assert all(text.endswith("\n") for text in texts)
    return sorted(int(line) for text in texts for line in text.splitlines())


def put_right_and_go_on(folder, output):
    before = written(output) if output.is_dir() else []
    assert before == list(range(len(before)))  # whole checkpoints, from the beginning on
    (folder / "right").touch()
    checkpoint = newest_checkpoint(folder)
    job(folder, output, checkpoint).execute()
    assert written(output) == list(range(COUNT))
    if checkpoint:  # else nobody knows whose the hidden files are
        assert list(output.rglob(".*")) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 32 KB, and what makes it larger."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "soak", place], check=False)
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    enlarge = ["mount", "-o", "remount,size=64m", place]
    yield place, lambda: subprocess.run(enlarge, check=True)
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.nightly
def test_a_full_disk(tmp_path, small_disk):
    place, enlarge = small_disk
    numbers(tmp_path, 0, COUNT)
    (place / "other").write_bytes(b"x" * 20_000)
    with pytest.raises(JobExecutionError, match=r"cannot write the file .*/part-.*No space left"):
        job(tmp_path, place / "out").execute()
    enlarge()
    put_right_and_go_on(tmp_path, place / "out")


def test_a_full_disk_for_checkpoints(tmp_path, small_disk):
    place, enlarge = small_disk
    (tmp_path / "checkpoints").symlink_to(place)
    (place / "other").write_bytes(b"x" * 28_672)
    numbers(tmp_path, 0, COUNT)
    with pytest.raises(JobExecutionError, match=r"cannot write .*/chk-\d+/.*No space left"):
        job(tmp_path, tmp_path / "out").execute()
    enlarge()
    put_right_and_go_on(tmp_path, tmp_path / "out")


def test_a_sink_folder_that_is_none(tmp_path):
    numbers(tmp_path, 0, COUNT)
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(JobExecutionError, match=r"the folder to write to is a file: .*/out"):
        job(tmp_path, tmp_path / "out").execute()
    (tmp_path / "out").unlink()
    put_right_and_go_on(tmp_path, tmp_path / "out")


def test_a_source_file_that_is_deleted(tmp_path):
    numbers(tmp_path, 0, COUNT - 100)
    last = numbers(tmp_path, COUNT - 100, COUNT)
    client = job(tmp_path, tmp_path / "out").execute_async()
    while newest_checkpoint(tmp_path) is None:
        time.sleep(0.02)
    last.unlink()
    with pytest.raises(JobExecutionError, match=f"{last} was there when .* and is gone now"):
        client.get_job_execution_result().result()
    assert newest_checkpoint(tmp_path)
    numbers(tmp_path, COUNT - 100, COUNT)
    put_right_and_go_on(tmp_path, tmp_path / "out")


def test_a_checkpoint_that_is_cut_off(tmp_path):
    numbers(tmp_path, 0, COUNT)
    client = job(tmp_path, tmp_path / "out").execute_async()
    while newest_checkpoint(tmp_path) is None:
        time.sleep(0.02)
    client.cancel().result()
    metadata = newest_checkpoint(tmp_path) / "_metadata"
    content, before = metadata.read_bytes(), written(tmp_path / "out")
    metadata.write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match=r"/chk-\d+/_metadata is damaged"):
        job(tmp_path, tmp_path / "out", metadata.parent).execute()
    assert written(tmp_path / "out") == before
    metadata.write_bytes(content)
    put_right_and_go_on(tmp_path, tmp_path / "out")
