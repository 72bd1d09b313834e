"""Jobs without checkpoints that fail, and restart from the beginning."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyflink.common import Configuration, Encoder, Types
from pyflink.common.job_status import JobStatus
from pyflink.datastream import MapFunction
from pyflink.datastream.connectors.file_system import FileSink

pytestmark = pytest.mark.whole("a job with checkpoints continues from the last one")


class FailsAtFirst(MapFunction):
    """A function that emits the attempt of each number; the first attempts fail at 3."""

    def __init__(self, failures=1):
        self.failures = failures

    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value):
        if value == 3 and self.attempt < self.failures:
            raise ValueError(f"failure {self.attempt}")
        return f"{self.attempt}-{value}"


@pytest.fixture(params=["STREAMING", "BATCH"])
def restarting_env(env, request):
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", request.param)
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "2")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    configuration.set_string("python.fn-execution.bundle.size", "1")
    env.configure(configuration)
    return env


def attempts(env, failures=1):
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    return numbers.map(FailsAtFirst(failures), Types.STRING())


def test_print_writes_again_what_a_failed_attempt_wrote(restarting_env, run_printed):
    attempts(restarting_env, 2).print()
    assert run_printed(restarting_env) == [
        *("0-1", "0-2"),
        *("1-1", "1-2"),
        *("2-1", "2-2", "2-3", "2-4"),
    ]


def test_a_file_sink_commits_the_last_attempt_only(restarting_env, tmp_path):
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    attempts(restarting_env).sink_to(sink)
    restarting_env.execute()
    assert lines_of(tmp_path) == ["1-1", "1-2", "1-3", "1-4"]


def test_in_batch_mode_an_attempt_begins_with_the_whole_input(env, tmp_path):
    class Slow(FailsAtFirst):
        def map(self, value):
            time.sleep(0.02)
            return int(super().map(value)[2:])

    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "BATCH")
    configuration.set_string("execution.checkpointing.interval", "10 ms")
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    env.configure(configuration)
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    numbers = env.from_collection([1, 2, 3, 4], Types.INT()).map(Slow(), Types.INT())
    numbers.key_by(lambda v: "all").map(str, Types.STRING()).sink_to(sink)
    env.execute()
    assert lines_of(tmp_path) == ["1", "2", "3", "4"]


def test_in_batch_mode_a_checkpoint_interval_restarts_nothing(env):
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "BATCH")
    configuration.set_string("execution.checkpointing.interval", "10 ms")
    env.configure(configuration)
    attempts(env).print()
    with pytest.raises(Exception, match="failure 0"):
        env.execute()


def lines_of(folder: Path) -> list[str]:
    parts = [path for path in folder.rglob("*") if path.is_file() and path.name[0] != "."]
    return [line for part in parts for line in part.read_text().splitlines()]


def test_collected_elements_cannot_be_taken_back(restarting_env):
    stream = attempts(restarting_env)
    with (
        pytest.raises(Exception, match="Job restarted"),
        stream.execute_and_collect() as results,
    ):
        list(results)


def test_the_last_failure_ends_the_job(restarting_env):
    attempts(restarting_env, 3).print()
    with pytest.raises(Exception, match="ValueError: failure 2"):
        restarting_env.execute()


def test_a_job_that_waits_for_its_restart_is_cancelled_at_once(env):
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "1")
    configuration.set_string("restart-strategy.fixed-delay.delay", "10 min")
    env.configure(configuration)
    attempts(env).print()
    client = env.execute_async()
    while client.get_job_status().result() != JobStatus.RESTARTING:
        time.sleep(0.05)
    asked = time.monotonic()
    client.cancel().result()
    with pytest.raises(Exception, match=r"JobCancellationException|Job was cancelled"):
        client.get_job_execution_result().result()
    assert time.monotonic() - asked < 60
