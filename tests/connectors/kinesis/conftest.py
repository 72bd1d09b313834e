"""Fixtures for the tests of Kinesis's connectors."""

from __future__ import annotations

import itertools

import pytest

from tests.connectors.kinesis.moto_server import moto

_NUMBERS = itertools.count()


@pytest.fixture(scope="package")
def aws():
    with moto() as running:
        yield running


@pytest.fixture(scope="package")
def kinesis(aws):
    return aws.client("kinesis")


@pytest.fixture
def stream(kinesis):
    """The name of a stream of two shards."""
    name = f"stream{next(_NUMBERS)}"
    kinesis.create_stream(StreamName=name, ShardCount=2)
    kinesis.get_waiter("stream_exists").wait(StreamName=name)
    return name
