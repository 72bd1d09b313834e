"""Where Spark's tasks cannot be hosts, jobs run without them: by a setting, or as a task finds."""

from __future__ import annotations

import errno
import socket
from dataclasses import replace

import pytest

from pyflink_on_spark._cluster.transport.handshake import Endpoint, Listener
from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._options.own import ENGINE, HOSTS_ALLOWED
from pyflink_on_spark._spark import engine
from pyflink_on_spark._spark.engine import SparkEngine
from pyflink_on_spark._spark.hosts import host_permission
from pyflink_on_spark._spark.hosts.host_permission import Trial, impossible
from pyflink_on_spark._spark.hosts.rdd_job import RddJob
from pyflink_on_spark._spark.hosts.streaming_job import StreamingJob
from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark._spark.structured.stage_frames import FramesJob
from tests.runtime.rounds import CutSource, job_of

OF_SPARK = f"spark.{HOSTS_ALLOWED.key}"
PLAIN = {"spark.master": "local[2]"}
CLUSTER = {"spark.master": "spark://somewhere:7077"}


@pytest.fixture
def listener():
    found = Listener(Endpoint("127.0.0.1", "127.0.0.1"), b"secret", lambda _: None, "driver")
    yield found
    found.close()


@pytest.fixture
def settings(monkeypatch):
    """Spark's own settings, which a test may change; no Spark is started."""
    ours = dict(PLAIN)
    monkeypatch.setattr(host_permission, "settings_ahead", lambda _: ours)
    return ours


@pytest.fixture
def cluster(settings, monkeypatch):
    """A cluster, and how often a task has tried to be a host there."""
    settings.update(CLUSTER)

    class Session:
        class sparkContext:  # noqa: N801 - as Spark has it
            applicationId = "app-1"  # noqa: N815

    trials = []
    found = {"answer": ""}

    def try_it(*_):
        trials.append(1)
        return found["answer"]

    monkeypatch.setattr(host_permission, "obtain_session", lambda *_, **__: Session)
    monkeypatch.setattr(host_permission, "ship_own_package", lambda _: None)
    monkeypatch.setattr(host_permission, "_tried", {})
    monkeypatch.setattr(host_permission, "_try", try_it)
    return found, trials


def kind_of_job(batch=False, **configuration):
    configuration = {key.replace("__", "."): value for key, value in configuration.items()}
    job = job_of(lambda stream: stream.map(str), CutSource([1]), configuration=configuration)
    return type(SparkEngine()._handle(replace(job, settings=replace(job.settings, batch=batch))))


def test_a_local_spark_has_hosts(settings):
    assert kind_of_job() is StreamingJob
    assert kind_of_job(batch=True) is RddJob


@pytest.mark.parametrize("where", ["of the job", "of Spark"])
def test_a_setting_rules_out_hosts(settings, where):
    own = {HOSTS_ALLOWED.key: "no"} if where == "of the job" else {}
    settings.update({OF_SPARK: "no"} if not own else {})
    assert kind_of_job(**own) is QueryJob
    assert kind_of_job(batch=True, **own) is FramesJob
    assert kind_of_job(**own, **{ENGINE.key: "structured"}) is QueryJob
    with pytest.raises(EnvironmentSetupError, match=r"hosts-allowed is NO.*leave .* at 'auto'"):
        kind_of_job(**own, **{ENGINE.key: "hosts"})


def test_a_setting_of_spark_that_cannot_be_read(settings):
    settings[OF_SPARK] = "perhaps"
    with pytest.raises(ValueError, match="hosts-allowed"):
        kind_of_job()


def test_a_task_tries_it_once_on_a_cluster(cluster):
    found, trials = cluster
    found["answer"] = "it cannot reach the driver"
    assert [kind_of_job(), kind_of_job(batch=True)] == [QueryJob, FramesJob]
    assert len(trials) == 1


def test_a_task_that_can_be_a_host(cluster):
    assert kind_of_job() is StreamingJob


def test_no_answer_is_no_obstacle_and_is_asked_for_again(cluster):
    found, trials = cluster
    found["answer"] = None
    assert [kind_of_job(), kind_of_job()] == [StreamingJob, StreamingJob]
    assert len(trials) == 2


@pytest.mark.parametrize("setting", [HOSTS_ALLOWED.key, ENGINE.key])
def test_nobody_tries_what_a_setting_says(cluster, setting):
    _, trials = cluster
    value = "yes" if setting == HOSTS_ALLOWED.key else "hosts"
    assert kind_of_job(**{setting: value}) is StreamingJob
    assert not trials


def test_a_task_reaches_the_driver_and_listens(listener):
    assert list(Trial(listener.address, (0,))([0])) == [""]


def test_a_driver_that_is_out_of_reach(listener):
    listener.close()
    (told,) = Trial(listener.address, (0,))([0])
    assert told.startswith(f"it cannot reach the driver at 127.0.0.1:{listener.address.port} (Conn")


def test_a_driver_whose_place_another_program_has(listener):
    stranger = replace(listener.address, authkey=b"another")
    (told,) = Trial(stranger, (0,))([0])
    assert "it cannot reach the driver" in told


def refused(number):
    def refuse(*_, **__):
        raise OSError(number, "not here")

    return refuse


def test_a_task_that_may_not_listen(listener, monkeypatch):
    monkeypatch.setattr(socket, "create_server", refused(errno.EACCES))
    (told,) = Trial(listener.address, (5000, 5001))([0])
    assert told == "it cannot listen on 127.0.0.1, port 5000-5001: [Errno 13] not here"


def test_ports_that_are_taken_are_no_obstacle(listener, monkeypatch):
    monkeypatch.setattr(socket, "create_server", refused(errno.EADDRINUSE))
    assert list(Trial(listener.address, (5000,))([0])) == [""]


def test_a_task_of_spark_tries_it(spark, monkeypatch):
    ahead = {**CLUSTER}
    monkeypatch.setattr(host_permission, "settings_ahead", lambda _: ahead)
    monkeypatch.setattr(host_permission, "_tried", {})
    assert impossible({}, long_running=True) == ""
    assert host_permission._tried == {spark.sparkContext.applicationId: ""}


def test_batches_without_sockets(spark, tmp_path, monkeypatch, capsys):
    """A job in BATCH mode prints, collects and commits by what Spark carries."""
    from pyflink_on_spark.common import Configuration, Types
    from pyflink_on_spark.common.serialization import Encoder
    from pyflink_on_spark.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
    from pyflink_on_spark.datastream.connectors.file_system import FileSink

    made = []
    monkeypatch.setattr(
        engine, "FramesJob", lambda *given: made.append(FramesJob(*given)) or made[-1]
    )
    configuration = Configuration().set_string(HOSTS_ALLOWED.key, "no")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(2)
    pairs = env.from_collection([(number % 5, number) for number in range(100)])
    sums = pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    lines = sums.map(str, Types.STRING())
    lines.sink_to(FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build())
    lines.print()
    env.execute()
    with lines.execute_and_collect() as found:
        collected = sorted(found)
    assert collected == sorted(str((key, sum(range(key, 100, 5)))) for key in range(5))
    written = [line for file in tmp_path.rglob("part-*") for line in file.read_text().splitlines()]
    printed = [line.partition("> ")[2] for line in capsys.readouterr().out.splitlines()]
    assert sorted(written) == sorted(printed) == collected
    assert len(made) == 2
