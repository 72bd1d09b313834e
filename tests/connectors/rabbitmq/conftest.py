"""Fixtures for the tests of RabbitMQ's connectors."""

from __future__ import annotations

import contextlib
import itertools

import pytest

from tests.connectors.rabbitmq.rabbitmq_server import rabbitmq

_NUMBERS = itertools.count()


@pytest.fixture(scope="package")
def port():
    with rabbitmq() as running:
        yield running


@pytest.fixture
def channel(port):
    import pika

    parameters = pika.ConnectionParameters("127.0.0.1", port)
    with contextlib.closing(pika.BlockingConnection(parameters)) as connection:
        yield connection.channel()


@pytest.fixture
def queue(channel):
    """The name of a queue, which is there."""
    name = f"queue{next(_NUMBERS)}"
    channel.queue_declare(name, durable=True)
    channel.confirm_delivery()
    yield name
    channel.queue_delete(name)
