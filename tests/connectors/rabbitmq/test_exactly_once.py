"""Messages with correlation ids count once, whenever a connection is lost."""

from __future__ import annotations

import pytest

from pyflink_on_spark._connectors.rabbitmq import PendingMessages, RabbitMqError
from tests.connectors.rabbitmq.proxy import Proxy
from tests.connectors.rabbitmq.test_rabbitmq import left, reader, save, send, take


@pytest.fixture
def proxy(port):
    proxy = Proxy(port)
    yield proxy
    proxy.close()


def united(*snapshots):
    return [handed_on for snapshot in snapshots for handed_on in snapshot]


def test_messages_that_were_handed_on_end_the_attempt(port, proxy, channel, queue):
    send(channel, queue, "a", "b", ids=True)
    one = reader(proxy.port, queue, ids=True)
    assert take(one, 2) == ["a", "b"]
    saved = save(one, 1)
    proxy.cut()
    with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{proxy.port}"):
        take(one, 1)
    one.close()
    # Whichever of them gets a message: both know all ids.
    both = [reader(port, queue, restored=saved, ids=True) for _ in range(2)]
    send(channel, queue, "c", ids=True)
    found = []
    while not found:
        found += [value for one in both if (bundle := one.poll()) for value in bundle.values]
    assert found == ["c"]
    for one in both:
        save(one, 2)
    for one in both:
        one.notify_checkpoint_complete(2)
        one.close()
    assert left(channel, queue) == []


def test_a_connection_that_is_lost_before_the_acknowledgement(port, proxy, channel, queue):
    send(channel, queue, "a", ids=True)
    one = reader(proxy.port, queue, ids=True)
    assert take(one, 1) == ["a"]
    saved = save(one, 1)
    proxy.cut()
    with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{proxy.port}"):
        one.notify_checkpoint_complete(1)
    one.close()
    again = reader(port, queue, restored=saved, ids=True)
    send(channel, queue, "b", ids=True)
    assert take(again, 1) == ["b"]
    again.close()


def test_the_broker_knows_what_is_done_with_before_ids_are_forgotten(port, proxy, channel, queue):
    send(channel, queue, "a", ids=True)
    one = reader(proxy.port, queue, ids=True)
    assert take(one, 1) == ["a"]
    save(one, 1)
    one.notify_checkpoint_complete(1)
    proxy.cut()
    send(channel, queue, "b", ids=True)
    # Nothing is under way, so the connection is made again.
    assert take(one, 1) == ["b"]
    save(one, 2)
    one.notify_checkpoint_complete(2)
    assert save(one, 3)[0].ids == frozenset()
    one.close()
    assert left(channel, queue) == []


def test_no_checkpoint_has_what_another_subtask_got_again(port, proxy, channel, queue):
    lost = reader(proxy.port, queue, ids=True)
    send(channel, queue, "a", ids=True)
    assert take(lost, 1) == ["a"]
    other = reader(port, queue, ids=True)
    proxy.cut()
    assert take(other, 1) == ["a"]
    with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{proxy.port}"):
        lost.prepare_checkpoint(1)
    lost.close()
    other.close()


def test_without_checkpoints_ids_are_not_needed(port, channel, queue):
    send(channel, queue, "a", "b")
    one = reader(port, queue, checkpointed=False, ids=True)
    assert take(one, 2) == ["a", "b"]
    one.close()


def test_ids_are_kept_while_messages_may_come_again():
    pending = PendingMessages({"old"})
    assert pending.is_new("new")
    pending.note(1, redelivered=False)
    assert pending.save(1).ids == {"old", "new"}
    assert pending.tag_of(1) == 1
    # Another consumer of the attempt before may still count as connected, and have it.
    pending.complete(1, all_returned=False)
    assert not pending.unacknowledged
    assert not pending.is_new("old")
    pending.note(2, redelivered=True)
    pending.save(2)
    pending.complete(2)
    assert pending.save(3).ids == frozenset()
    assert pending.tag_of(3) is None
