"""Files have each record once, at whichever step of a micro-batch the driver fails."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import install_engine, installed_engine
from pyflink_on_spark._runtime.elements.time import watch
from pyflink_on_spark.common import Configuration, Encoder
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.file_system import FileSink
from tests.job.crash_points import IN_QUERIES, steps
from tests.structured.in_process import QueryEngine

STEPS = sorted(name for name in steps() if name.startswith(IN_QUERIES))
SETTINGS = {
    "execution.checkpointing.interval": "10 ms",
    "pyflink-on-spark.checkpoint-elements": "3",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "3",
    "restart-strategy.fixed-delay.delay": "0 ms",
}
ELEMENTS = [(f"key-{number % 3}", number) for number in range(12)]


@pytest.fixture
def engine():
    before = installed_engine()
    install_engine(QueryEngine())
    yield
    install_engine(before)


def run_job(folder):
    """Writes the running sums of some elements to files, and returns the lines of the files."""
    configuration = Configuration()
    for key, value in SETTINGS.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    sums = (
        env.from_collection(ELEMENTS)
        .key_by(lambda pair: pair[0])
        .reduce(lambda one, two: (one[0], one[1] + two[1]))
        .map(str)
    )
    sums.sink_to(FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).build())
    env.execute()
    files = [path for path in folder.rglob("*") if path.is_file() and path.name[0] not in "._"]
    return sorted(line for file in files for line in file.read_text().splitlines())


@pytest.mark.parametrize("times", [1, 2, 4])
@pytest.mark.parametrize("name", STEPS)
def test_a_driver_that_fails_at_a_step(engine, tmp_path, name, times):
    expected = run_job(tmp_path / "undisturbed")
    assert len(expected) == len(ELEMENTS)
    seen = 0

    def fail(step):
        nonlocal seen
        seen += step == name
        if step == name and seen == times:
            raise RuntimeError(f"the driver fails at the step {name!r}")

    end = watch(fail)
    try:
        found = run_job(tmp_path / "disturbed")
    finally:
        end()
    assert seen > times, "the job has not come that far"
    assert found == expected
