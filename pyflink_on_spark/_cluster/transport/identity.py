"""The key and the certificate with which the processes of a job encrypt their connections."""

from __future__ import annotations

import os
import secrets
import ssl
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache


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


_SEQUENCE, _SET, _INTEGER, _BITS, _TEXT, _TIME = 0x30, 0x31, 0x02, 0x03, 0x0C, 0x18
_VERSION = 0xA0
_ECDSA_WITH_SHA256 = bytes.fromhex("06082a8648ce3d040302")
_COMMON_NAME = bytes.fromhex("0603550403")
_BEGIN, _END = b"20000101000000Z", b"20991231235959Z"


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
