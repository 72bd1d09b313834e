"""Self-signed certificates, which Python's ``ssl`` can use and cannot make."""

from __future__ import annotations

import secrets
from collections.abc import Callable

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
