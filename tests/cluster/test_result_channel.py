"""The way back from workers to the driver, with threads and processes in place of a cluster."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import socket
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from pyflink_on_spark._cluster.transport import handshake
from pyflink_on_spark._cluster.transport.handshake import dial
from pyflink_on_spark._cluster.transport.result_channel import (
    ChannelClosed,
    ChannelFailed,
    ResultServer,
    connect,
)
from tests.cluster.connections import endpoint

DEADLINE = 20


@pytest.fixture(params=["sealed", "encrypted"])
def server(request):
    with ResultServer(endpoint(request.param), window=4) as running:
        yield running


def in_thread(function, *args):
    """Start a thread whose outcome can be asked for."""

    outcome: list = []

    def body():
        try:
            outcome.append(("returned", function(*args)))
        except Exception as error:  # noqa: BLE001
            outcome.append(("raised", error))

    thread = threading.Thread(target=body, daemon=True)
    thread.start()

    def result():
        thread.join(DEADLINE)
        assert not thread.is_alive(), "the thread hangs"
        return outcome[0]

    return result


def produce(address, channel, producer, batches):
    with connect(address, channel, producer) as sender:
        for batch in batches:
            sender.send(batch)


def test_an_iteration_gets_each_producers_items_in_order(server):
    channel = server.open_channel("numbers")
    jobs = [
        in_thread(
            produce, server.address, "numbers", p, [[(p, i), (p, i + 1)] for i in range(0, 100, 2)]
        )
        for p in range(3)
    ]
    ender = in_thread(lambda: [job() for job in jobs] and channel.finish())
    items = list(channel)
    assert ender()[0] == "returned"
    assert len(items) == 300
    for p in range(3):
        assert [i for q, i in items if q == p] == list(range(100))


def test_a_callback_gets_lists_one_at_a_time(server):
    got, inside = [], []

    def collect(items):
        inside.append(1)
        assert len(inside) == 1
        got.extend(items)
        inside.pop()

    channel = server.open_channel("lines", collect)
    jobs = [in_thread(produce, server.address, "lines", p, [[p]] * 50) for p in range(4)]
    assert [job()[0] for job in jobs] == ["returned"] * 4
    assert sorted(got) == sorted([0, 1, 2, 3] * 50)
    assert channel.error is None


def test_close_returns_only_after_everything_is_delivered(server):
    got = []
    server.open_channel("lines", got.extend)
    produce(server.address, "lines", 0, [[i] for i in range(100)])
    assert got == list(range(100))


def test_what_was_refused_once_is_refused_again(server):
    channel = server.open_channel("numbers", capacity=1)
    sender = connect(server.address, "numbers", 0)
    for i in range(4):
        sender.send([i])
    channel.close()
    for call in (
        lambda: sender.send([4]),
        sender.flush,
        lambda: sender.send([5]),
        sender.flush,
        sender.close,
    ):
        with pytest.raises(ChannelClosed):
            call()


def test_an_attempt_that_is_run_again_delivers_nothing_twice(server):
    got = []
    server.open_channel("lines", got.extend)
    first = connect(server.address, "lines", "task-1")
    first.send([0, 1, 2])
    first.send([3])
    first.flush()
    first.abandon()
    produce(server.address, "lines", "task-1", [[0, 1], [2, 3, 4], [5]])
    assert got == [0, 1, 2, 3, 4, 5]


def test_two_attempts_at_the_same_time_deliver_once(server):
    got = []
    server.open_channel("lines", got.extend)
    one, other = (connect(server.address, "lines", 7) for _ in range(2))
    for i in range(0, 40, 2):
        one.send([i, i + 1])
        other.send([i])
        other.send([i + 1])
    one.close()
    other.close()
    assert got == list(range(40))


def test_producers_are_counted_apart(server):
    got = []
    server.open_channel("lines", got.extend)
    produce(server.address, "lines", 1, [["a"]])
    produce(server.address, "lines", 2, [["b"]])
    assert got == ["a", "b"]


def test_a_producer_waits_when_the_driver_does_not_keep_up(server):
    channel = server.open_channel("numbers", capacity=2)
    sent = []

    def run():
        with connect(server.address, "numbers", 0) as sender:
            for i in range(100):
                sender.send([i])
                sent.append(i)

    job = in_thread(run)
    batches = channel.batches()
    assert next(batches) == [0]
    # 1 taken, 2 in the queue, 1 in the hands of the server, and a window of 4 on the way.
    for expected in range(1, 100):
        assert len(sent) <= expected + 2 + 1 + 4 + 1
        assert next(batches) == [expected]
    assert job()[0] == "returned"


def test_sending_is_pipelined(server):
    hold = threading.Event()
    server.open_channel("slow", lambda _: hold.wait(DEADLINE))
    sender = connect(server.address, "slow", 0)
    for i in range(4):
        sender.send([i])  # would hang if each message waited for its answer
    hold.set()
    sender.close()


def test_leaving_an_iteration_early_stops_the_producers(server):
    channel = server.open_channel("endless", capacity=2)

    def run():
        with connect(server.address, "endless", 0) as sender:
            while True:
                sender.send([1, 2, 3])

    jobs = [in_thread(run)]
    for item in channel:
        assert item == 1
        break
    kinds = {type(job()[1]) for job in jobs}
    assert kinds == {ChannelClosed}


def test_a_producer_that_waits_in_flush_is_told_of_the_end(server):
    channel = server.open_channel("numbers", capacity=1)
    sender = connect(server.address, "numbers", 0)
    for i in range(4):
        sender.send([i])
    job = in_thread(sender.flush)
    channel.close()
    assert isinstance(job()[1], ChannelClosed)


def test_a_closed_or_unknown_channel_refuses_producers(server):
    channel = server.open_channel("numbers")
    channel.close()
    with pytest.raises(ChannelClosed):
        connect(server.address, "numbers", 0)
    with pytest.raises(ChannelClosed):
        connect(server.address, "never", 0)


def test_a_callback_that_fails_fails_its_producers(server):
    def refuse(_):
        raise KeyError("not this one")

    channel = server.open_channel("lines", refuse)
    with pytest.raises(ChannelFailed, match="not this one"):
        produce(server.address, "lines", 0, [["x"]])
    assert isinstance(channel.error, KeyError)


def test_what_a_job_failed_with_comes_after_the_items_before_it(server):
    channel = server.open_channel("numbers")
    produce(server.address, "numbers", 0, [[1], [2]])
    channel.finish(RuntimeError("the job failed"))
    got = []
    with pytest.raises(RuntimeError, match="the job failed"):
        got.extend(iter_into(channel, got))
    assert got == [1, 2]


def iter_into(channel, got):
    for item in channel:
        got.append(item)
    return ()


def test_names_are_used_once_at_a_time(server):
    channel = server.open_channel("numbers")
    with pytest.raises(ValueError, match="numbers"):
        server.open_channel("numbers")
    server.release(channel)
    server.open_channel("numbers")


def test_garbage_and_silent_connections_do_no_harm(server):
    place = (server.address.host, server.address.port)
    silent = socket.create_connection(place)
    with socket.create_connection(place) as garbage:
        garbage.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
    with socket.create_connection(place) as garbage:
        garbage.sendall(b"\0\0\0\x04abcd" * 10)
    with pytest.raises((EOFError, OSError, multiprocessing.AuthenticationError)):
        dial(replace(server.address, authkey=b"a wrong key"))
    got = []
    server.open_channel("lines", got.extend)
    produce(server.address, "lines", 0, [["still here"]])
    assert got == ["still here"]
    silent.close()


def test_a_silent_connection_is_dropped_in_time(monkeypatch):
    monkeypatch.setattr(handshake, "HANDSHAKE_SECONDS", 0.05)
    with (
        ResultServer() as server,
        socket.create_connection((server.address.host, server.address.port)) as silent,
    ):
        silent.settimeout(DEADLINE)
        while silent.recv(1024):
            pass


def test_a_worker_that_dies_leaves_no_hang(server):
    channel = server.open_channel("numbers")
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    worker = context.Process(target=die_after_sending, args=(server.address,))
    worker.start()
    worker.join(DEADLINE)
    assert worker.exitcode == 9
    channel.finish()
    assert list(channel) in ([], [1, 2])  # delivered or not; the retry decides


def die_after_sending(address):
    sender = connect(address, "numbers", 0)
    sender.send([1, 2])
    os._exit(9)


def test_a_retry_after_a_death_completes_the_stream(server):
    got = []
    server.open_channel("numbers", got.extend)
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    worker = context.Process(target=die_after_sending, args=(server.address,))
    worker.start()
    worker.join(DEADLINE)
    produce(server.address, "numbers", 0, [[1, 2], [3]])
    assert got == [1, 2, 3]


def test_producers_learn_that_the_server_is_gone():
    server = ResultServer()
    server.open_channel("numbers")
    sender = connect(server.address, "numbers", 0)
    server.close()
    job = in_thread(lambda: [sender.send([1]) for _ in range(100_000)])
    assert isinstance(job()[1], ChannelClosed | ChannelFailed)
    with pytest.raises(ChannelFailed):
        connect(server.address, "numbers", 1)


def test_closing_the_server_ends_an_iteration():
    server = ResultServer()
    channel = server.open_channel("numbers")
    job = in_thread(list, channel)
    server.close()
    assert job() == ("returned", [])


def test_the_address_travels_and_hides_its_secret(server):
    copy = pickle.loads(pickle.dumps(server.address))
    assert copy == server.address
    assert repr(copy.authkey) not in repr(copy)


def test_classes_of_the_users_script_come_back_as_themselves():
    """The class exists in a script only, and the producer knows it by value, as a worker does."""
    script = (
        "import cloudpickle, subprocess, sys\n"
        "from pyflink_on_spark._cluster.transport.result_channel import ResultServer\n"
        "class Point:\n"
        "    def __init__(self, x): self.x = x\n"
        "def worker(address):\n"
        "    from pyflink_on_spark._cluster.transport.result_channel import connect\n"
        "    with connect(address, 'points', 0) as sender: sender.send([Point(3)])\n"
        "run = 'import sys, cloudpickle; f, a = cloudpickle.load(sys.stdin.buffer); f(a)'\n"
        "with ResultServer() as server:\n"
        "    got = []\n"
        "    server.open_channel('points', got.extend)\n"
        "    subprocess.run([sys.executable, '-c', run], check=True,\n"
        "                   input=cloudpickle.dumps((worker, server.address)))\n"
        "    assert type(got[0]) is Point and got[0].x == 3, got\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_big_messages_pass(server):
    got = []
    server.open_channel("bytes", got.extend)
    block = os.urandom(3_000_000)
    produce(server.address, "bytes", 0, [[block]] * 3)
    assert got == [block] * 3
