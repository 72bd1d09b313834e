"""The page of compatibility is what the package says of itself today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from pyflink_on_spark.tools.check.verdict import Status

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def generator():
    return runpy.run_path(str(DOCS / "generate_compatibility.py"))


@pytest.fixture(scope="module")
def verdicts(generator):
    return generator["all_verdicts"]()


def test_the_page_is_up_to_date(generator):
    written = (DOCS / "reference" / "compatibility.md").read_text(encoding="utf-8")
    assert written == generator["document"](), "run: python docs/generate_compatibility.py"


def test_every_name_has_a_state(verdicts):
    states = [verdict.status for names in verdicts.values() for verdict in names.values()]
    assert len(states) == 3184
    assert Status.UNKNOWN not in states


@pytest.mark.parametrize(
    ("module", "name", "status"),
    [
        ("pyflink.common.types", "Row", Status.WORKS),
        ("pyflink.common.types", "RowKind.to_j_row_kind", Status.NEVER),
        ("pyflink.common.typeinfo", "TypeInformation.get_java_type_info", Status.NEVER),
        ("pyflink.datastream.data_stream", "DataStream.map", Status.WORKS),
        ("pyflink.datastream.data_stream", "DataStream.set_buffer_timeout", Status.DIFFERS),
        ("pyflink.datastream.connectors.cassandra", "CassandraSink.name", Status.NOT_YET),
        ("pyflink.datastream.connectors.cassandra", "ClusterBuilder", Status.NEVER),
        ("pyflink.datastream.connectors.elasticsearch", "FlushBackoffType.NONE", Status.WORKS),
        ("pyflink.datastream.connectors.pulsar", "StartCursor.latest", Status.NOT_YET),
        (
            "pyflink.datastream.connectors.pulsar",
            "PulsarSinkBuilder.set_topic_router",
            Status.NEVER,
        ),
        ("pyflink.datastream.connectors.number_seq", "NumberSequenceSource", Status.WORKS),
    ],
)
def test_states(verdicts, module, name, status):
    assert verdicts[module][name].status is status


def test_a_module_without_anything_to_give_to_a_job_is_a_gap_as_a_whole(verdicts):
    names = verdicts["pyflink.datastream.connectors.dynamic_kafka"]
    assert {verdict.status for verdict in names.values()} == {Status.NOT_YET}
