"""Who is let in, and what a connection protects; without Spark."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import secrets
import socket
import threading
from dataclasses import replace

import pytest

from pyflink_on_spark._cluster.transport import handshake
from pyflink_on_spark._cluster.transport.handshake import Endpoint, Listener, dial
from pyflink_on_spark._cluster.transport.stream import BadSeal
from tests.cluster.connections import HERE, connected, endpoint, new_identity

KINDS = pytest.mark.parametrize("kind", ["sealed", "encrypted"])
REFUSED = (EOFError, OSError, multiprocessing.AuthenticationError)


class ListenerInUse:
    """A listener, and who was let in."""

    def __init__(self, place=HERE):
        self.welcome = queue.SimpleQueue()
        self.listener = Listener(place, secrets.token_bytes(32), self.welcome.put, "door")
        self.address = self.listener.address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def still_opens(self):
        wire = dial(self.address)
        wire.send_bytes(b"hello")
        assert self.welcome.get(timeout=10).recv_bytes(10) == b"hello"
        wire.close()


@KINDS
def test_messages_pass_in_both_directions(kind):
    ends = connected(kind)
    contents = [b"", b"x", secrets.token_bytes(3_000_000), b"last"]

    def send(end):
        for content in contents:
            end.send_bytes(content)

    threads = [threading.Thread(target=send, args=(end,)) for end in ends]
    for thread in threads:
        thread.start()
    for end in ends:
        assert [end.recv_bytes(20) for _ in contents] == contents
    for thread in threads:
        thread.join(20)


@KINDS
def test_a_peer_that_hangs_up(kind):
    one, other = connected(kind)
    one.close()
    with pytest.raises(EOFError):
        other.recv_bytes(10)
    assert other.poll()


@KINDS
def test_a_thread_that_waits_notices_that_the_connection_is_closed(kind):
    one, _ = connected(kind)
    failed = queue.SimpleQueue()

    def wait():
        try:
            one.recv_bytes()
        except (EOFError, OSError) as error:
            failed.put(error)

    thread = threading.Thread(target=wait)
    thread.start()
    one.close()
    thread.join(10)
    assert not failed.empty()


@KINDS
def test_a_silent_peer(kind):
    one, other = connected(kind)
    with pytest.raises(TimeoutError):
        one.recv_bytes(0.05)
    other.send_bytes(b"late")
    assert one.recv_bytes(10) == b"late"


@KINDS
def test_another_secret_is_refused(kind):
    with ListenerInUse(endpoint(kind)) as listener:
        with pytest.raises(REFUSED):
            dial(replace(listener.address, authkey=b"another"))
        listener.still_opens()
        assert listener.welcome.empty()


def test_another_certificate_is_refused():
    with ListenerInUse(endpoint("encrypted")) as listener:
        with pytest.raises(REFUSED):
            dial(replace(listener.address, identity=new_identity()))
        with pytest.raises(REFUSED):
            dial(replace(listener.address, identity=None))
        listener.still_opens()
        assert listener.welcome.empty()


class Relay:
    """Stands between two ends, and notes what passes."""

    def __init__(self, address):
        self.seen = bytearray()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = replace(address, port=self._server.getsockname()[1])
        self._target = (address.host, address.port)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        inner, _ = self._server.accept()
        self.inner, self.outer = inner, socket.create_connection(self._target)
        threading.Thread(target=self._pass, args=(self.outer, inner), daemon=True).start()
        self._pass(inner, self.outer)

    def _pass(self, source, target):
        with contextlib.suppress(ConnectionError):
            while content := source.recv(65536):
                self.seen += content
                target.sendall(content)


@pytest.mark.parametrize(("kind", "readable"), [("sealed", True), ("encrypted", False)])
def test_what_a_relay_sees(kind, readable):
    with ListenerInUse(endpoint(kind)) as listener:
        relay = Relay(listener.address)
        wire = dial(relay.address)
        wire.send_bytes(b"the records of the job")
        assert listener.welcome.get(timeout=10).recv_bytes(10) == b"the records of the job"
        assert (b"the records" in relay.seen) is readable


@pytest.mark.parametrize(("kind", "error"), [("sealed", BadSeal), ("encrypted", OSError)])
def test_what_a_relay_changes_is_refused(kind, error):
    with ListenerInUse(endpoint(kind)) as listener:
        relay = Relay(listener.address)
        wire = dial(relay.address)
        welcome = listener.welcome.get(timeout=10)
        wire.send_bytes(b"right")
        assert welcome.recv_bytes(10) == b"right"
        relay.outer.sendall(bytes(7) + b"\x05" + bytes(16) + b"wrong")  # what it injects
        with pytest.raises(error):
            welcome.recv_bytes(10)


def test_a_frame_that_is_repeated_is_refused():
    with ListenerInUse() as listener:
        relay = Relay(listener.address)
        wire = dial(relay.address)
        welcome = listener.welcome.get(timeout=10)
        before = len(relay.seen)
        wire.send_bytes(b"once")
        assert welcome.recv_bytes(10) == b"once"
        relay.outer.sendall(bytes(relay.seen[before:]))
        with pytest.raises(BadSeal):
            welcome.recv_bytes(10)


def test_a_stranger_has_one_deadline_for_all(monkeypatch):
    monkeypatch.setattr(handshake, "HANDSHAKE_SECONDS", 0.3)
    with (
        ListenerInUse() as listener,
        socket.create_connection((listener.address.host, listener.address.port)) as slow,
    ):
        slow.settimeout(10)
        left = None
        for _ in range(100):  # a byte now and then, as long as it is listened to
            try:
                slow.sendall(b"x")
                slow.settimeout(0.05)
                left = slow.recv(1)
                break
            except TimeoutError:
                continue
            except ConnectionError:
                left = b""
                break
        assert left == b""


@KINDS
def test_too_many_strangers_make_room_for_those_who_know_the_secret(kind):
    before = threading.active_count()
    with ListenerInUse(endpoint(kind)) as listener:
        place = (listener.address.host, listener.address.port)
        strangers = [socket.create_connection(place) for _ in range(3 * handshake.MOST_STRANGERS)]
        listener.still_opens()
        assert threading.active_count() - before <= handshake.MOST_STRANGERS + 10
        for stranger in strangers:
            stranger.close()


def test_a_range_of_ports():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = taken.getsockname()[1]
        ports = (first, *range(first + 1, first + 20))
        with ListenerInUse(Endpoint("127.0.0.1", "127.0.0.1", ports)) as listener:
            assert listener.address.port in ports[1:]
            listener.still_opens()
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1, port {first}: "):
            ListenerInUse(Endpoint("127.0.0.1", "127.0.0.1", (first,)))


def test_an_address_to_listen_on_that_is_not_the_one_to_call():
    with ListenerInUse(Endpoint("localhost", "0.0.0.0")) as listener:
        assert listener.address.host == "localhost"
        listener.still_opens()


def test_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with ListenerInUse(Endpoint("::1", "::1")) as listener:
        assert dial(listener.address).own_address() == "::1"
        assert listener.welcome.get(timeout=10).own_address() == "::1"


def test_names_that_cannot_be_resolved_are_named(monkeypatch):
    def gone(*_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with ListenerInUse() as listener:
        address = replace(listener.address, host="driver.example")
        monkeypatch.setattr(socket, "getaddrinfo", gone)
        with pytest.raises(OSError, match=r"the name 'driver.example' cannot be resolved: Tempor"):
            dial(address)
    with pytest.raises(OSError, match=r"cannot listen on 127.0.0.1, .*failure in name resolution"):
        ListenerInUse()
