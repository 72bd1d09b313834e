"""Queries on a standalone cluster of two machines, whose workers know nothing of this package.

Each machine is a network namespace with a worker of one task slot: so both machines take part.
"""

from __future__ import annotations

import pytest

from tests.faults.cluster import cluster
from tests.faults.machines import CannotMakeMachines
from tests.spark.test_checkpoints import let_go
from tests.spark.test_structured_moves import COUNT, Driver, check_moved, lines

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

# The workers cannot import the functions of the tests, so that these travel with the job.
SCRIPT = """
import sys
import time
from pathlib import Path
import cloudpickle
import tests
from pyflink_on_spark.common import Duration, WatermarkStrategy
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from tests.spark.test_checkpoints import environment
from tests.spark.test_structured_moves import moving_job
cloudpickle.register_pickle_by_value(tests)
folder, parallelism = Path(sys.argv[1]), int(sys.argv[2])
settings = dict(setting.split("=", 1) for setting in sys.argv[3:])
env = moving_job(environment(folder, parallelism, **settings), folder)
if "execution.checkpointing.interval" not in settings:
    env.execute()
else:  # the trigger of an unbounded job, which this one becomes by a stream without elements
    waiting = folder / "nothing"
    waiting.mkdir()
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(waiting))
    source = lines.monitor_continuously(Duration.of_seconds(1)).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "nothing").print()
    client = env.execute_async()
    while not (folder / "stop").exists():
        time.sleep(0.1)
    client.stop_with_savepoint(True, str(folder / "saved")).result()
    client.get_job_execution_result().result()
"""
STRUCTURED = {"pyflink-on-spark.engine": "structured"}
TRIGGER = "execution.checkpointing.interval"
PATIENCE = 300
SOON_LOST = {
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "4s",
}
RESTART = "failed and starts again"


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    try:
        with cluster(tmp_path_factory.mktemp("cluster"), cores=1) as made:
            yield made
    except CannotMakeMachines as reason:
        pytest.skip(str(reason))


@pytest.fixture
def start(joined, tmp_path):
    """Starts a driver of the job; in the end none is left."""
    started = []

    def start(parallelism, **settings):
        told = [f"{key}={value}" for key, value in {**joined.settings, **settings}.items()]
        started.append(Driver(tmp_path, str(parallelism), *told, text=SCRIPT))
        return started[-1]

    yield start
    for driver in started:
        driver.kill()
    for machine in joined.machines:
        machine.repair()


def wait_for_more(driver, folder):
    """Waits until two more micro-batches are committed: the second one began after this call."""
    commits = len(list(folder.glob("checkpoints/*/query/commits/[0-9]*")))
    driver.wait_for(
        lambda: len(list(folder.glob("checkpoints/*/query/commits/[0-9]*"))) > commits + 1, PATIENCE
    )


def all_read(folder):
    """True once all numbers are committed."""
    return sum(line.startswith("count") for line in lines(folder)) == COUNT


def test_a_query_outlives_executors_workers_and_its_driver(joined, start, tmp_path):
    first, second = joined.machines
    driver = start(2, **STRUCTURED)
    driver.wait_for(lambda: lines(tmp_path), PATIENCE)
    assert all(map(joined.workers, joined.machines))
    joined.kill_executor(first)
    wait_for_more(driver, tmp_path)
    joined.kill_worker(second)
    wait_for_more(driver, tmp_path)
    assert driver.kill() == []
    (home,) = (tmp_path / "checkpoints").glob("*")
    joined.start_worker(second)
    again = start(3, **STRUCTURED, **{"execution.state-recovery.path": home.as_uri()})
    let_go(tmp_path)
    again.end_within(PATIENCE)
    check_moved(tmp_path)


def test_a_query_leaves_a_decommissioned_worker(joined, start, tmp_path):
    _, second = joined.machines
    driver = start(2, **STRUCTURED, **{"spark.decommission.enabled": "true"})
    driver.wait_for(lambda: lines(tmp_path), PATIENCE)
    joined.decommission(second)
    driver.wait_for(lambda: not joined.executors(second), PATIENCE)
    wait_for_more(driver, tmp_path)
    joined.kill_worker(second)
    wait_for_more(driver, tmp_path)
    joined.start_worker(second)
    let_go(tmp_path)
    driver.end_within(PATIENCE)
    assert RESTART not in driver.told()
    check_moved(tmp_path)


def test_a_query_outlives_a_machine_that_is_cut_off(joined, start, tmp_path):
    _, second = joined.machines
    driver = start(2, **STRUCTURED, **SOON_LOST)
    driver.wait_for(lambda: lines(tmp_path), PATIENCE)
    second.cut()
    wait_for_more(driver, tmp_path)
    second.mend()
    let_go(tmp_path)
    driver.end_within(PATIENCE)
    assert RESTART not in driver.told()
    check_moved(tmp_path)


def test_auto_does_without_hosts_where_machines_cannot_call_the_driver(joined, start, tmp_path):
    for machine in joined.machines:
        machine.refuse("50100:50110")
    driver = start(2, **{"pyflink-on-spark.driver-ports": "50100-50110"})
    driver.wait_for(lambda: lines(tmp_path), PATIENCE)
    assert list(tmp_path.glob("checkpoints/*/query/commits/[0-9]*"))
    let_go(tmp_path)
    driver.end_within(PATIENCE)
    assert "cannot be hosts here" in driver.told()
    check_moved(tmp_path)


def test_copies_of_tasks_do_no_harm(joined, start, tmp_path):
    copies = {
        "spark.speculation": "true",
        "spark.speculation.interval": "20ms",
        "spark.speculation.minTaskRuntime": "20ms",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.efficiency.enabled": "false",
    }
    driver = start(2, **STRUCTURED, **copies)
    lost = "another attempt succeeded"
    driver.wait_for(lambda: joined.spark.executor_logs().count(lost) > 2, PATIENCE)
    let_go(tmp_path)
    driver.end_within(PATIENCE)
    check_moved(tmp_path)


def test_executors_come_with_a_micro_batch_and_leave_after_it(joined, start, tmp_path):
    allocation = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
        "spark.dynamicAllocation.executorIdleTimeout": "1s",
        "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    }
    driver = start(2, **STRUCTURED, **allocation, **{TRIGGER: "10 s"})
    driver.wait_for(lambda: lines(tmp_path), PATIENCE)
    first = joined.spark.executors_started()
    driver.wait_for(lambda: joined.spark.executors_started() > first + 1, PATIENCE)
    let_go(tmp_path)
    driver.wait_for(lambda: all_read(tmp_path), PATIENCE)
    (tmp_path / "stop").touch()
    driver.end_within(PATIENCE)
    check_moved(tmp_path)
