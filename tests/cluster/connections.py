"""Connections as the processes of a job have them, within one process."""

from __future__ import annotations

import queue
import secrets
from functools import cache

import pytest

from pyflink_on_spark._cluster.transport.handshake import (
    Endpoint,
    Identity,
    Listener,
    dial,
    self_signed,
)
from pyflink_on_spark._spark.session.task_slots import _pem

HERE = Endpoint("127.0.0.1", "127.0.0.1")


def new_identity():
    """Return a key and its certificate, made without Java."""
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    private = key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    certificate = self_signed(
        "test", public, lambda body: key.sign(body, ec.ECDSA(hashes.SHA256()))
    )
    return Identity(_pem("CERTIFICATE", certificate), _pem("PRIVATE KEY", private))


@cache
def endpoint(kind):
    """Return where to listen for connections that are "sealed" or "encrypted"."""
    return HERE if kind == "sealed" else Endpoint("127.0.0.1", "127.0.0.1", (0,), new_identity())


def connected(kind="sealed"):
    """Return both ends of a connection: the dialer's, then the listener's."""
    arrived = queue.SimpleQueue()
    listener = Listener(endpoint(kind), secrets.token_bytes(32), arrived.put, "test")
    try:
        return dial(listener.address), arrived.get(timeout=20)
    finally:
        listener.close()
