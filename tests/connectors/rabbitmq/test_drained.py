"""A queue that is read no further: a savepoint acknowledges what it has; without a broker."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pyflink_on_spark._connectors import rabbitmq as module
from pyflink_on_spark._connectors.rabbitmq import QueueSource, RMQConnection, RMQSourceConfig
from pyflink_on_spark.common import SimpleStringSchema
from tests.connectors.reading import context_of
from tests.runtime.rounds import RunningJob, job_of


class Queue:
    """A broker with one queue, whose messages come in order, and again if not acknowledged."""

    def __init__(self, texts):
        self.texts = list(texts)

    def connect(self, options, name, prepare):
        return Connection(self.texts, prepare)


class Connection:
    """Stands for the client of a reader, and for its channel."""

    place = "here"
    notices_loss_after = 0

    def __init__(self, texts, prepare):
        self.texts, self.sent, self.acknowledged = texts, 0, 0
        self.channel = self
        prepare(self)

    def tx_select(self):
        pass

    def tx_commit(self):
        pass

    def basic_qos(self, **settings):
        pass

    def add_on_cancel_callback(self, callback):
        pass

    def basic_consume(self, queue, callback):
        self.callback = callback

    def basic_ack(self, tag, multiple):
        assert multiple
        self.acknowledged = tag

    def listen(self, seconds):
        for text in self.texts[self.sent :]:
            self.sent += 1
            method = SimpleNamespace(delivery_tag=self.sent, redelivered=False)
            properties = SimpleNamespace(correlation_id=text)
            self.callback(self, method, properties, text.encode())

    def close(self):
        if self.channel is not None:
            self.channel = None
            del self.texts[: self.acknowledged]


@pytest.fixture
def queue(monkeypatch):
    pytest.importorskip("pika", reason="pika is not installed")
    made = Queue("abcdef")
    monkeypatch.setattr(module, "RabbitMqClient", made.connect)
    return made


def source(ids):
    return QueueSource(RMQSourceConfig(RMQConnection(host="h"), "q", ids, SimpleStringSchema()))


def job(ids, interval="1 s", saved=None, collected=None):
    settings = {"execution.checkpointing.interval": interval} if interval else {}
    made = job_of(lambda s: s, source(ids), configuration=settings)
    running = RunningJob(made, saved, collected)
    return running, running.subtask


def read(subtask, count):
    ((chain, source),) = subtask.sources.items()
    for _ in range(20):
        source._left = count
        found, _ = subtask.poll(chain)
        subtask.work()
        count -= found
    source._left = None


def save(running, checkpoint_id):
    return checkpoint_id, running.hosts.snapshot(checkpoint_id, None)[0].state


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("interval", ["1 s", None])
def test_what_the_savepoint_has_is_acknowledged_with_it(queue, interval, before):
    running, subtask = job(False, interval)
    read(subtask, 2)
    if before:
        save(running, 1)
        subtask.notify_checkpoint_complete(1)
        read(subtask, 1)
    subtask.end_sources()
    assert not subtask.reading
    saved = save(running, 2)
    read_already = list(running.collected)
    subtask.notify_checkpoint_complete(2)
    assert queue.texts == list("abcdef")[len(read_already) :]
    running.close()
    again, subtask = job(False, interval, saved, running.collected)
    read(subtask, 6)
    again.close()
    assert again.collected == list("abcdef")


def test_what_is_not_safe_comes_again(queue):
    running, subtask = job(True)
    read(subtask, 2)
    subtask.end_sources()
    saved = save(running, 1)
    subtask.notify_checkpoint_aborted(1)
    running.close()
    assert queue.texts == list("abcdef")
    again, subtask = job(True, saved=saved, collected=running.collected)
    read(subtask, 6)
    subtask.end_sources()
    save(again, 2)
    subtask.notify_checkpoint_complete(2)
    again.close()
    assert again.collected == list("abcdef")
    assert queue.texts == []


def reader(saved=None):
    context = context_of()
    context.checkpointed = True
    return source(True).reader([0], saved, context)


def test_a_position_before_the_first_checkpoint_is_what_it_began_with(queue):
    first = reader()
    assert [handed_on.ids for handed_on in first.snapshot()] == [frozenset()]
    first.prepare_checkpoint(1)
    first.limit = 3
    first.poll()
    first.prepare_checkpoint(2)
    saved = first.snapshot()
    again = reader(saved)
    assert again.snapshot() == saved
    assert saved[0].ids == {"a", "b", "c"}
