"""TCP connections whose ends prove that they know a secret, and the calls that travel on them.

The dialer sends a random number. The listener answers with another one, and with a proof: both
numbers, authenticated with the secret. The dialer's own proof follows. Without encryption both ends
derive keys from the secret and the two numbers, which seal all frames of this connection.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import pickle
import secrets
import socket
import ssl
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import AuthenticationError
from typing import Any

from pyflink_on_spark._cluster.transport.stream import MessageConnection, Seal, stream_of
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._options import flink, own
from pyflink_on_spark._options.option import parse_ports
from pyflink_on_spark._runtime.elements.immutability import serialize

HANDSHAKE_SECONDS = 20.0
MOST_STRANGERS = 64
_PAUSE = 0.05
_IDLE_SECONDS, _PROBE_SECONDS, _PROBES = 20, 10, 4
_NONCE_BYTES = _PROOF_BYTES = 32
_LISTENER, _DIALER = b"listener", b"dialer"
_SEQUENCE, _SET, _INTEGER, _BITS, _TEXT, _TIME = 0x30, 0x31, 0x02, 0x03, 0x0C, 0x18
_VERSION = 0xA0
_ECDSA_WITH_SHA256 = bytes.fromhex("06082a8648ce3d040302")
_COMMON_NAME = bytes.fromhex("0603550403")
_BEGIN, _END = b"20000101000000Z", b"20991231235959Z"
HEARTBEAT = "heartbeat"
"""The name of the message that asks whether the peer is alive, and of the answer."""
SAMPLE = "sample"
"""The name of the order that asks a host for samples of its threads."""


@dataclass(frozen=True)
class Address:
    """The address of a server.

    Args:
        host: its address.
        port: its TCP port.
        authkey: the secret that both ends prove to know; never shown.
        identity: with which both ends encrypt; None for a connection that is authenticated only.
    """

    host: str
    port: int
    authkey: bytes = field(repr=False)
    identity: Identity | None = None


@dataclass(frozen=True)
class Endpoint:
    """The interface and the ports on which a server listens.

    Args:
        host: the address that others use.
        bind: the address to listen on.
        ports: the ports to choose from; 0 is any free one.
        identity: see ``Address``.
    """

    host: str
    bind: str
    ports: Sequence[int] = (0,)
    identity: Identity | None = None


class Listener:
    """Listens, and lets those in who know the secret, each in a thread of its own.

    Args:
        endpoint: where.
        authkey: the secret.
        welcome: takes the connection of one that is let in.
        name: of the threads.

    Raises:
        OSError: no port is free, or the address is not one of this machine.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        authkey: bytes,
        welcome: Callable[[MessageConnection], None],
        name: str,
    ) -> None:
        self._socket = _listening(endpoint)
        self._socket.settimeout(None)  # a program may have set a default
        self._closed = False
        port = int(self._socket.getsockname()[1])
        self.address = Address(endpoint.host, port, authkey, endpoint.identity)
        self._welcome, self._name = welcome, name
        self._strangers: deque[socket.socket] = deque()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, name=name, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections; existing ones stay open."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                if not self._closed:
                    time.sleep(_PAUSE)  # one that left again, or there are too many open files
                continue
            accepted = _protected(accepted, self.address)
            self._make_room(accepted)
            threading.Thread(
                target=self._greet, args=(accepted,), name=self._name, daemon=True
            ).start()

    def _make_room(self, accepted: socket.socket) -> None:
        """Hang up on the stranger that has hesitated longest, if there are too many of them."""
        with self._lock:
            self._strangers.append(accepted)
            if len(self._strangers) > MOST_STRANGERS:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._strangers.popleft(), socket.SHUT_RDWR)

    def _greet(self, accepted: socket.socket) -> None:
        try:
            wire = _admitted(accepted, self.address)
        except (OSError, EOFError, AuthenticationError):
            accepted.close()
            return
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._strangers.remove(accepted)
        self._welcome(wire)


def dial(address: Address) -> MessageConnection:
    """Call a listener; prove and be proved.

    Raises:
        AuthenticationError: it has another secret.
        OSError: nobody is there, or speaks.
        EOFError: it hangs up.
    """
    deadline = time.monotonic() + HANDSHAKE_SECONDS
    try:
        called = socket.create_connection((address.host, address.port), HANDSHAKE_SECONDS)
    except socket.gaierror as error:
        raise socket.gaierror(
            error.errno, f"the name {address.host!r} cannot be resolved: {error.strerror}"
        ) from None
    try:
        keep_alive(called)
        if address.identity is not None:
            called = tls_context(address.identity, server=False).wrap_socket(called)
        first = secrets.token_bytes(_NONCE_BYTES)
        called.sendall(first)
        answer = _exactly(called, _NONCE_BYTES + _PROOF_BYTES, deadline)
        numbers = first + answer[:_NONCE_BYTES]
        _check(answer[_NONCE_BYTES:], address.authkey, _LISTENER, numbers)
        called.sendall(_proof(address.authkey, _DIALER, numbers))
        return _wire(called, address, numbers, outgoing=_DIALER, incoming=_LISTENER)
    except BaseException:
        called.close()
        raise


def _admitted(accepted: socket.socket, address: Address) -> MessageConnection:
    """Prove and be proved, as the end that was called."""
    deadline = time.monotonic() + HANDSHAKE_SECONDS
    try:
        accepted.settimeout(HANDSHAKE_SECONDS)
        keep_alive(accepted)
        if isinstance(accepted, ssl.SSLSocket):
            accepted.do_handshake()
        first = _exactly(accepted, _NONCE_BYTES, deadline)
        numbers = first + secrets.token_bytes(_NONCE_BYTES)
        accepted.sendall(numbers[_NONCE_BYTES:] + _proof(address.authkey, _LISTENER, numbers))
        _check(_exactly(accepted, _PROOF_BYTES, deadline), address.authkey, _DIALER, numbers)
        return _wire(accepted, address, numbers, outgoing=_LISTENER, incoming=_DIALER)
    except BaseException:
        accepted.close()
        raise


def _protected(accepted: socket.socket, address: Address) -> socket.socket:
    """Return a connection on which TLS's handshake is due, if it is to be encrypted."""
    if address.identity is None:
        return accepted
    context = tls_context(address.identity, server=True)
    return context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)


def _wire(
    connection: socket.socket, address: Address, numbers: bytes, outgoing: bytes, incoming: bytes
) -> MessageConnection:
    stream = stream_of(connection)
    if address.identity is not None:
        return MessageConnection(stream, None, None)
    keys = [
        _proof(address.authkey, b"frames of the " + end, numbers) for end in (outgoing, incoming)
    ]
    return MessageConnection(stream, Seal(keys[0]), Seal(keys[1]))


def _proof(authkey: bytes, end: bytes, numbers: bytes) -> bytes:
    return hmac.digest(authkey, end + numbers, "sha256")


def _check(proof: bytes, authkey: bytes, end: bytes, numbers: bytes) -> None:
    if not hmac.compare_digest(proof, _proof(authkey, end, numbers)):
        raise AuthenticationError(f"the {end.decode()} does not know the secret")


def _exactly(connection: socket.socket, size: int, deadline: float) -> bytes:
    """Return the next bytes.

    Raises:
        EOFError: the peer has hung up.
        TimeoutError: not all of them came in time.
    """
    content = b""
    while len(content) < size:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        part = connection.recv(size - len(content))
        if not part:
            raise EOFError
        content += part
    return content


def _listening(endpoint: Endpoint) -> socket.socket:
    problem: OSError | None = None
    for port in endpoint.ports:
        try:
            family, _, _, _, place = socket.getaddrinfo(
                endpoint.bind, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            return socket.create_server(place[:2], family=family, backlog=128)
        except OSError as error:
            problem = error
    raise OSError(
        f"cannot listen on {endpoint.bind}, port {_range(endpoint.ports)}: {problem}"
    ) from problem


def _range(ports: Sequence[int]) -> str:
    return str(ports[0]) if len(ports) == 1 else f"{ports[0]}-{ports[-1]}"


def keep_alive(connection: socket.socket) -> None:
    """Let small frames leave at once, and let a peer whose machine is gone be noticed in a minute.

    Args:
        connection: a TCP connection.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    idle = getattr(socket, "TCP_KEEPIDLE", None) or getattr(socket, "TCP_KEEPALIVE", None)
    if idle is not None:
        connection.setsockopt(socket.IPPROTO_TCP, idle, _IDLE_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)


@dataclass(frozen=True)
class Identity:
    """The secret that only the processes of a job share: TLS accepts no other certificate.

    Args:
        certificate: in PEM.
        key: the private key in PEM; never shown.
    """

    certificate: str
    key: str = field(repr=False)


@lru_cache(maxsize=8)
def tls_context(identity: Identity, *, server: bool) -> ssl.SSLContext:
    """Return the context that encrypts connections, and accepts only peers with the same identity.

    Args:
        identity: the job's.
        server: whether for the end that was called.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=identity.certificate)
    descriptor, path = tempfile.mkstemp(prefix="pyflink_on_spark-")  # ssl reads keys from files
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(identity.key + identity.certificate)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
    if server:
        context.num_tickets = 0
    return context


def self_signed(name: str, public_key: bytes, sign: Callable[[bytes], bytes]) -> bytes:
    """Return a certificate in DER (X.509, RFC 5280).

    Args:
        name: the common name of its owner.
        public_key: a key for elliptic curves, as a SubjectPublicKeyInfo in DER.
        sign: returns the ECDSA signature of some bytes, with SHA-256, in DER.
    """
    algorithm = _der(_SEQUENCE, _ECDSA_WITH_SHA256)
    owner = _der(_SEQUENCE, _der(_SET, _der(_SEQUENCE, _COMMON_NAME, _der(_TEXT, name.encode()))))
    body = _der(
        _SEQUENCE,
        _der(_VERSION, _der(_INTEGER, b"\x02")),
        _der(_INTEGER, b"\x01" + secrets.token_bytes(15)),
        algorithm,
        owner,
        _der(_SEQUENCE, _der(_TIME, _BEGIN), _der(_TIME, _END)),
        owner,
        public_key,
    )
    return _der(_SEQUENCE, body, algorithm, _der(_BITS, b"\0", sign(body)))


def _der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


@dataclass(frozen=True)
class NetworkSettings:
    """The settings of connections between the processes of a job.

    Args:
        heartbeat_interval: how often the driver asks whether a host is alive, in s.
        heartbeat_timeout: after which silence one counts as lost, in s.
        command_timeout: how long a host may take for an order of the driver, in s.
        driver_ports: which the driver listens on.
        host_ports: which hosts listen on.
    """

    heartbeat_interval: float = 10.0
    heartbeat_timeout: float = 50.0
    driver_ports: tuple[int, ...] = (0,)
    host_ports: tuple[int, ...] = (0,)
    command_timeout: float = 3_600.0

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> NetworkSettings:
        """Return the settings in a configuration.

        Raises:
            ValueError: an option cannot be read, or the timeout is not longer than the interval.
        """
        interval = flink.HEARTBEAT_INTERVAL.read(configuration)
        timeout = flink.HEARTBEAT_TIMEOUT.read(configuration)
        if timeout <= interval:
            raise ValueError(
                f"The heartbeat timeout ({timeout} ms) must be larger than the heartbeat interval "
                f"({interval} ms)."
            )
        return cls(
            interval / 1000,
            timeout / 1000,
            parse_ports(own.DRIVER_PORTS.read(configuration)),
            parse_ports(own.HOST_PORTS.read(configuration)),
            own.COMMAND_TIMEOUT.read(configuration) / 1000,
        )


class HostLost(PyFlinkOnSparkError, ConnectionError):
    """A host, or the connection to it, is lost."""


class RpcConnection:
    """One connection. Any thread may send, and one may receive.

    Args:
        wire: the connection to a peer that knows the secret.
        peer: what is at the other end, for people.
    """

    def __init__(self, wire: MessageConnection, peer: str) -> None:
        self._wire, self.peer = wire, peer
        self.own_address, self.close = wire.own_address, wire.close

    def send(self, *message: object) -> None:
        """Send a message.

        Raises:
            HostLost: the peer is gone.
        """
        try:
            self._wire.send_bytes(serialize(message))
        except OSError as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error

    def receive(self, timeout: float | None = None) -> Any:
        """Wait for a message and return it.

        Args:
            timeout: how many seconds the peer may be silent.

        Raises:
            HostLost: the peer is gone.
            TimeoutError: the peer was silent for too long.
        """
        try:
            return pickle.loads(self._wire.recv_bytes(timeout))
        except TimeoutError as error:
            raise TimeoutError(f"{self.peer} was silent for {timeout:g} s") from error
        except (EOFError, OSError) as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error


def connect(address: Address, peer: str) -> RpcConnection:
    """Open a connection.

    Raises:
        HostLost: if nothing listens there, or does not answer.
    """
    try:
        return RpcConnection(dial(address), peer)
    except (OSError, EOFError) as error:
        raise HostLost(f"{peer} cannot be reached ({error!r})") from error
