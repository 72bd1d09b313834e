"""Flink's metrics of a job, and what reporters make of them."""

from __future__ import annotations

import gzip
import logging
import socket
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from pyflink_on_spark._compat.errors import EnvironmentSetupError, UnsupportedFlinkFeature
from pyflink_on_spark._operate import metrics
from pyflink_on_spark._operate.metrics import (
    Reporters,
    ReporterSettings,
    reporters_of,
    samples_of,
)
from pyflink_on_spark._operate.view.jobs import OperatedJob, OperatedJobs, tasks_of
from pyflink_on_spark._operate.view.server_record import port_range
from pyflink_on_spark._runtime.metrics import Measurement, MetricReport
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress
from pyflink_on_spark.common import JobStatus
from tests.operate.operated import Handle
from tests.runtime.rounds import CutSource, job_of

KEY = "metrics.reporter.mine"
FACTORY = "org.apache.flink.metrics."
OF_ALL_OPERATORS = {"numRecordsIn", "numRecordsInPerSecond", "currentInputWatermark"}


@pytest.fixture
def operated():
    """A job of two tasks that has made a checkpoint and has reported."""
    job = job_of(
        lambda stream: stream.map(str).name("read").key_by(len).map(str).name("count"),
        CutSource([1]),
        parallelism=2,
    )
    handle = Handle(job)
    first, _, second, *_ = [task.name for task in tasks_of(job)]
    handle.parts = [
        TaskProgress(first, 1, 70, 5_000, 0, 12, 7.5, 0, last_records_at=time.monotonic() - 2),
        TaskProgress(second, 1, 40, None, 3, None, 4.0, 0),
        TaskProgress(second, 1, 30, 4_000, 2, None, 3.0, 1),
    ]
    with job.history.checkpoint(7, "file:/chk-7", savepoint=False) as record:
        record.size = 123
    node = next(plan.node for plan in job.operators() if plan.name == "count")
    measured = (
        Measurement("mine.seen", "counter", 4),
        Measurement("rate", "meter", (10, 2.5)),
        Measurement("sizes", "distribution", (2, 9, 4, 5)),
    )
    job.accumulators.add([MetricReport(node, 1, measured)])
    return OperatedJob(job, handle)


def values(samples, scope, **labels):
    return {
        sample.name: sample.value
        for sample in samples
        if sample.scope == scope and labels.items() <= sample.labels.items()
    }


def test_tasks_have_ids_and_edges(operated):
    first, second, third, *_ = tasks_of(operated.job)
    assert len({task.id for task in tasks_of(operated.job)}) == len(tasks_of(operated.job))
    assert first.has_source
    assert not first.inputs
    assert [(edge.source, edge.strategy) for edge in second.inputs] == [(first.id, "REBALANCE")]
    assert [(edge.source, edge.strategy) for edge in third.inputs] == [(second.id, "HASH")]
    assert tasks_of(operated.job) == tasks_of(operated.job)


def test_metrics_of_the_job(operated):
    found = values(samples_of(operated), "jobmanager.job")
    assert found["numberOfCompletedCheckpoints"] == 1
    assert found["lastCheckpointSize"] == 123
    assert found["lastCompletedCheckpointId"] == 7
    assert found["lastCheckpointExternalPath"] == "file:/chk-7"
    assert found["numRestarts"] == 0


def test_metrics_of_a_job_without_checkpoints(operated):
    operated.job.history._checkpoints.clear()
    assert values(samples_of(operated), "jobmanager.job")["lastCheckpointDuration"] == -1


def test_metrics_of_tasks(operated):
    samples = list(samples_of(operated))
    source, _, count, *_ = tasks_of(operated.job)
    read = values(samples, "taskmanager.job.task", task_name=source.name, subtask_index="0")
    assert read["numRecordsIn"] == 70
    assert read["pendingRecords"] == 12
    assert read["currentOutputWatermark"] == 5_000
    assert read["watermarkLag"] > 0
    counted = values(samples, "taskmanager.job.task", task_id=count.id, subtask_index="1")
    assert counted["currentInputWatermark"] == 4_000
    assert counted["numRecordsInPerSecond"] == 3.0
    assert counted["accumulateBusyTimeMs"] == 0
    silent = values(samples, "taskmanager.job.task", task_id=count.id, subtask_index="0")
    assert silent["currentInputWatermark"] == -(2**63)


def test_metrics_of_the_first_operator_of_a_task(operated):
    samples = list(samples_of(operated))
    scope = "taskmanager.job.task.operator"
    source = values(samples, scope, operator_name="Source: events")
    lag, idle = source.pop("watermarkLag"), source.pop("sourceIdleTime")
    assert lag > 0
    assert 2_000 <= idle < 100_000
    assert source == {
        "numRecordsIn": 70,
        "numRecordsInPerSecond": 7.5,
        "currentOutputWatermark": 5_000,
        "pendingRecords": 12,
    }
    counted = values(samples, scope, operator_name="count", subtask_index="0")
    assert counted == {
        "numRecordsIn": 40,
        "numRecordsInPerSecond": 4.0,
        "currentInputWatermark": -(2**63),
    }


def test_records_that_leave_the_only_subtask_of_a_task(operated):
    source, *_ = tasks_of(operated.job)
    read = tasks_of(operated.job)[1]
    operated.handle.parts = [
        *operated.handle.parts,
        TaskProgress(read.name, 1, 60, None, 0, None, 6.0, 0),
        TaskProgress(read.name, 1, 10, None, 0, None, 1.0, 1),
    ]
    found = values(samples_of(operated), "taskmanager.job.task", task_name=source.name)
    assert (found["numRecordsOut"], found["numRecordsOutPerSecond"]) == (70, 7.0)


def test_a_metric_of_the_user_with_the_name_of_another(operated):
    node = next(plan.node for plan in operated.job.operators() if plan.name == "count")
    mine = MetricReport(node, 0, (Measurement("numRecordsIn", "counter", 4),))
    operated.job.accumulators.add([mine])
    samples = [
        sample
        for sample in samples_of(operated)
        if (sample.name, sample.labels.get("operator_name")) == ("numRecordsIn", "count")
    ]
    assert sorted(sample.value for sample in samples) == [30, 40]


def test_metrics_of_the_user(operated):
    found = values(samples_of(operated), "taskmanager.job.task.operator", operator_name="count")
    found = {name: value for name, value in found.items() if name not in OF_ALL_OPERATORS}
    assert found == {
        "mine.seen": 4,
        "rate": 2.5, "rate_count": 10,
        "sizes_count": 2, "sizes_sum": 9, "sizes_min": 4, "sizes_max": 5,
    }  # fmt: skip


def free_port():
    with socket.socket() as taken:
        taken.bind(("", 0))
        return taken.getsockname()[1]


def test_prometheus_reads_the_page(operated):
    port = free_port()
    settings = ReporterSettings("mine", "prometheus", 10, {"port": str(port)})
    metrics.serve(settings, lambda: samples_of(operated))
    with urllib.request.urlopen(f"http://localhost:{port}/metrics") as answer:
        families = {f.name: f for f in text_string_to_metric_families(answer.read().decode())}
    family = families["flink_taskmanager_job_task_numRecordsIn"]
    assert family.type == "gauge"
    assert sorted(sample.value for sample in family.samples) == [30, 40, 70]
    assert "flink_taskmanager_job_task_operator_mine_seen" in families
    assert "flink_jobmanager_job_lastCheckpointDuration" in families
    assert not any("ExternalPath" in name for name in families)


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        settings = ReporterSettings("mine", "prometheus", 10, {"port": f"{port}"})
        with pytest.raises(EnvironmentSetupError, match=f"no free port in {port}: set {KEY}.port"):
            metrics.serve(settings, list)


@pytest.mark.parametrize(
    ("text", "ports"), [("9249", [9249]), ("9249-9251, 5", [9249, 9250, 9251, 5])]
)
def test_ports(text, ports):
    assert port_range(text, "rest.port") == ports


@pytest.mark.parametrize("text", ["x", "", "1-", "70000"])
def test_what_is_no_port(text):
    with pytest.raises(ValueError, match=f"^rest.port is '{text}', which .* port"):
        port_range(text, "rest.port")


def test_the_log(operated, caplog):
    caplog.set_level(logging.INFO, "pyflink_on_spark.metrics")
    metrics.log_all(lambda: samples_of(operated))
    (told,) = caplog.messages
    host, name = socket.gethostname(), operated.job.name
    assert f"\n{host}.jobmanager.{name}.lastCheckpointSize: 123\n" in told
    assert f"\n{host}.taskmanager.driver.{name}.count.1.mine.seen: 4\n" in told


def test_one_metric_of_a_user_does_not_hide_the_others(operated, caplog, monkeypatch):
    """Groups are named by records at times, and JSON has halves of characters."""
    node = next(plan.node for plan in operated.job.operators() if plan.name == "count")
    measured = (
        Measurement("user.\ud800.seen", "counter", 1),
        Measurement("large", "gauge", 10**400),
        Measurement("forged: 1\nx.jobmanager.y.numRestarts", "gauge", 7),
    )
    operated.job.accumulators.add([MetricReport(node, 0, measured)])
    jobs = OperatedJobs()
    jobs.add(operated)
    all_of_them = Reporters(jobs)
    registry = CollectorRegistry()
    registry.register(metrics.Families(all_of_them.collect))
    page = generate_latest(registry).decode()
    assert "_mine_seen" in page
    assert "_user___seen" in page
    assert "_large" not in page
    sent = b"\n".join(metrics.datagrams(all_of_them.collect()))
    assert b".count.1.mine.seen:4|g" in sent
    assert b".user.?.seen:1|g" in sent
    caplog.set_level(logging.INFO, "pyflink_on_spark.metrics")
    metrics.log_all(all_of_them.collect)
    assert "\nx.jobmanager" not in caplog.text
    assert "large: a number of 1329 bits" in caplog.text


def test_statsd(operated):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        options = {"host": "127.0.0.1", "port": str(server.getsockname()[1])}
        settings = ReporterSettings("mine", "StatsD", 10, options)
        metrics.statsd(settings, lambda: samples_of(operated))()
        told = server.recv(65_536).decode()
    assert ".lastCheckpointSize:123|g" in told
    assert "ExternalPath" not in told


def test_long_reports_are_cut_between_lines(operated):
    parts = list(metrics.datagrams(list(samples_of(operated)) * 20))
    assert len(parts) > 1
    assert all(len(part) < 1_500 for part in parts)
    assert all(line.endswith(b"|g") for part in parts for line in part.split(b"\n"))


def test_the_push_gateway(operated, monkeypatch):
    pushed = []
    monkeypatch.setattr("prometheus_client.push_to_gateway", lambda *what: pushed.append(what))
    options = {"hostUrl": "http://gateway:9091", "jobName": "mine", "groupingKey": "a=b;c=d"}
    options["randomJobNameSuffix"] = "false"
    settings = ReporterSettings("mine", "push gateway", 10, options)
    metrics.push(settings, lambda: samples_of(operated))()
    ((url, job, _, grouping),) = pushed
    assert (url, job, grouping) == ("http://gateway:9091", "mine", {"a": "b", "c": "d"})
    with pytest.raises(ValueError, match="hostUrl"):
        metrics.push(ReporterSettings("mine", "push gateway", 10), list)


@pytest.fixture
def collector():
    """A collector of OpenTelemetry; returns its URL and the requests that it gets."""
    received = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                content = gzip.decompress(content)
            received.append(content)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/metrics", received
        server.shutdown()


def test_opentelemetry(operated, collector):
    messages = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    url, received = collector
    options = {"exporter.endpoint": url, "exporter.protocol": "http", "service.name": "mine"}
    settings = ReporterSettings("mine", "OpenTelemetry", 10, options)
    metrics.otlp(settings, lambda: samples_of(operated))()
    (resource,) = messages.ExportMetricsServiceRequest.FromString(received[0]).resource_metrics
    assert {a.key: a.value.string_value for a in resource.resource.attributes} == {
        "service.name": "mine"
    }
    sent = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    points = sent["flink.taskmanager.job.task.numRecordsIn"].gauge.data_points
    assert sorted(point.as_int for point in points) == [30, 40, 70]
    assert "job_name" in {attribute.key for attribute in points[0].attributes}
    assert sent["flink.jobmanager.job.lastCheckpointSize"].gauge.data_points[0].as_int == 123


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "set metrics.reporter.mine.exporter.endpoint to the URL"),
        ({"exporter.endpoint": "x", "exporter.protocol": "UDP"}, "is gRPC or HTTP, not 'UDP'"),
    ],
)
def test_options_of_opentelemetry(options, told):
    with pytest.raises(ValueError, match=told):
        metrics.otlp(ReporterSettings("mine", "OpenTelemetry", 10, options), list)


def test_a_library_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.metric_exporter", None)
    settings = ReporterSettings("mine", "OpenTelemetry", 10, {"exporter.endpoint": "x"})
    with pytest.raises(EnvironmentSetupError, match=r"\[opentelemetry-grpc\]"):
        metrics.otlp(settings, list)


def test_reporters_of_a_configuration():
    configuration = {
        f"{KEY}.factory.class": f"{FACTORY}statsd.StatsDReporterFactory",
        f"{KEY}.interval": "5 s",
        f"{KEY}.port": "81",
        "metrics.reporter.other.factory.class": f"{FACTORY}slf4j.Slf4jReporterFactory",
    }
    mine, other = reporters_of(configuration)
    assert (mine.name, mine.kind, mine.interval) == ("mine", "StatsD", 5)
    assert mine.options == {"port": "81"}
    assert (other.name, other.interval) == ("other", 10)
    assert [r.name for r in reporters_of({**configuration, "metrics.reporters": "other"})] == [
        "other"
    ]


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        (f"{FACTORY}jmx.JMXReporterFactory", "never supported"),
        (f"{FACTORY}datadog.DatadogHttpReporterFactory", "not yet supported"),
    ],
)
def test_reporters_that_are_not_there(factory, told):
    with pytest.raises(UnsupportedFlinkFeature, match=told):
        reporters_of({f"{KEY}.factory.class": factory})


def test_a_reporter_without_a_factory():
    with pytest.raises(ValueError, match=f"set {KEY}.factory.class"):
        reporters_of({"metrics.reporters": "mine"})


def test_each_reporter_starts_once_and_collects_of_jobs_that_run(driver, start, caplog):
    reporters = Reporters(driver.jobs)
    configuration = {
        f"{KEY}.factory.class": f"{FACTORY}prometheus.PrometheusReporterFactory",
        f"{KEY}.port": str(free_port()),
    }
    reporters.start(configuration)
    reporters.start(configuration)
    reporters.start({**configuration, f"{KEY}.port": "1"})
    assert "runs already" in caplog.text
    start("ended").enter(JobStatus.FINISHED)
    start("runs")
    assert {sample.labels["job_name"] for sample in reporters.collect()} == {"runs"}
