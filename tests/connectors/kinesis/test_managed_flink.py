"""A project as Amazon's managed Flink has it: main.py beside application_properties.json."""

from __future__ import annotations

import json
import runpy
import time

import pyflink_on_spark
from tests.connectors.kinesis.moto_server import REGION
from tests.connectors.kinesis.test_tables import put, records

MAIN = '''
import json
import os

from pyflink.table import EnvironmentSettings, TableEnvironment

PROPERTIES = "/etc/flink/application_properties.json"
is_local = bool(os.environ.get("IS_LOCAL"))
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
if is_local:
    here = os.path.dirname(os.path.realpath(__file__))
    PROPERTIES = os.path.join(here, "application_properties.json")
    t_env.get_config().get_configuration().set_string(
        "pipeline.jars", "file:///" + here + "/target/pyflink-dependencies.jar"
    )


def property_map(groups, name):
    for group in groups:
        if group["PropertyGroupId"] == name:
            return group["PropertyMap"]


def create(table, columns, properties):
    t_env.execute_sql(f"""
        CREATE TABLE {table} ({columns}) WITH (
            'connector' = 'kinesis', 'stream' = '{properties["stream.name"]}',
            'aws.region' = '{properties["aws.region"]}',
            'aws.endpoint' = '{properties["endpoint"]}',
            'scan.stream.initpos' = 'TRIM_HORIZON', 'sink.partitioner-field-delimiter' = ';',
            'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601')""")


with open(PROPERTIES) as file:
    groups = json.load(file)
columns = "ticker VARCHAR(6), price DOUBLE, event_time TIMESTAMP(3)"
watermark = "WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND"
create("incoming", f"{columns}, {watermark}", property_map(groups, "consumer.config.0"))
create("outgoing", columns, property_map(groups, "producer.config.0"))
result = t_env.execute_sql("""
    INSERT INTO outgoing SELECT ticker, MAX(price), window_end FROM TABLE(
        TUMBLE(TABLE incoming, DESCRIPTOR(event_time), INTERVAL '10' SECOND))
    GROUP BY ticker, window_start, window_end""")
'''


def test_a_project_runs_as_it_is(aws, kinesis, tmp_path, monkeypatch, local_engine):
    incoming, outgoing = "managed-in", "managed-out"
    for name in (incoming, outgoing):
        kinesis.create_stream(StreamName=name, ShardCount=1)
        kinesis.get_waiter("stream_exists").wait(StreamName=name)
    prices = [("A", 1.5, "2024-01-01T00:00:01"), ("A", 2.5, "2024-01-01T00:00:02"),
              ("A", 9.0, "2024-01-01T00:00:30")]  # fmt: skip
    for ticker, price, at in prices:
        put(kinesis, incoming, {"ticker": ticker, "price": price, "event_time": at})
    groups = [
        {"PropertyGroupId": group, "PropertyMap": {
            "stream.name": name, "aws.region": REGION, "endpoint": aws.endpoint}}
        for group, name in (("consumer.config.0", incoming), ("producer.config.0", outgoing))
    ]  # fmt: skip
    (tmp_path / "application_properties.json").write_text(json.dumps(groups))
    (tmp_path / "main.py").write_text(MAIN)
    for name, value in (
        ("IS_LOCAL", "true"), ("AWS_ACCESS_KEY_ID", "me"), ("AWS_SECRET_ACCESS_KEY", "hush"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    pyflink_on_spark.install()
    job = runpy.run_path(str(tmp_path / "main.py"))["result"].get_job_client()
    deadline = time.monotonic() + 30
    while not (found := records(kinesis, outgoing)):
        assert time.monotonic() < deadline
        assert not job.get_job_status().result().is_globally_terminal_state()
        time.sleep(0.05)
    job.cancel().result()
    assert [json.loads(text) for _, text in found] == [
        {"ticker": "A", "price": 2.5, "event_time": "2024-01-01T00:00:10"}
    ]
