"""Hashes, and other forms of bytes and texts."""

from __future__ import annotations

import base64
import binascii
import hashlib

from pyflink_on_spark._sql.functions.definitions import function_of, overload
from pyflink_on_spark._sql.plan.signatures import (
    ScalarFunction,
    as_bigint,
    as_int,
    byte_strings,
    characters,
    integers,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.common._charset import find_charset

_LENGTHS = {224, 256, 384, 512}


def md5(text: str) -> str:
    """Return the MD5 of a text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def sha1(text: str) -> str:
    """Return the SHA-1 of a text."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def sha224(text: str) -> str:
    """Return the SHA-224 of a text."""
    return hashlib.sha224(text.encode()).hexdigest()


def sha256(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def sha384(text: str) -> str:
    """Return the SHA-384 of a text."""
    return hashlib.sha384(text.encode()).hexdigest()


def sha512(text: str) -> str:
    """Return the SHA-512 of a text."""
    return hashlib.sha512(text.encode()).hexdigest()


def sha2(text: str, bits: int) -> str:
    """Return a hash of the family SHA-2.

    Raises:
        ValueError: there is none of that length.
    """
    if bits not in _LENGTHS:
        raise ValueError(f"Unsupported algorithm: SHA-{bits}")
    return hashlib.new(f"sha{bits}", text.encode()).hexdigest()


def encode(text: str, charset: str) -> bytes:
    """Return a text in a character set."""
    return find_charset(charset).encode(text)


def decode(content: bytes, charset: str) -> str:
    """Decode bytes of a character set."""
    return content.decode(find_charset(charset).codec, "replace")


def to_base64(text: str) -> str:
    """Return the Base64 of a text."""
    return base64.b64encode(text.encode()).decode()


def bytes_to_base64(content: bytes) -> str:
    """Return the Base64 of bytes."""
    return base64.b64encode(content).decode()


def from_base64(text: str) -> str | None:
    """Return the text that Base64 stands for."""
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return None


def hex_of_text(text: str) -> str:
    """Return the bytes of a text in hexadecimal digits."""
    return text.encode().hex().upper()


def hex_of_number(number: int) -> str:
    """Return a number of 64 bits in hexadecimal digits."""
    return f"{number & 0xFFFF_FFFF_FFFF_FFFF:X}"


def unhex(text: str) -> bytes | None:
    """Return the bytes that hexadecimal digits stand for."""
    padded = text if len(text) % 2 == 0 else f"0{text}"
    try:
        return binascii.unhexlify(padded)
    except (binascii.Error, ValueError):
        return None


def binary(number: int) -> str:
    """Return a number of 64 bits in binary digits."""
    return f"{number & 0xFFFF_FFFF_FFFF_FFFF:b}"


FUNCTIONS = (
    *(
        function_of(found.__name__.upper(), (characters,), logical.char(digits), found)
        for found, digits in (
            (md5, 32),
            (sha1, 40),
            (sha224, 56),
            (sha256, 64),
            (sha384, 96),
            (sha512, 128),
        )
    ),
    function_of("SHA2", (characters, as_int), logical.varchar(128), sha2),
    function_of("ENCODE", (characters, characters), logical.BYTES, encode),
    function_of("DECODE", (byte_strings, characters), logical.STRING, decode),
    ScalarFunction(
        "TO_BASE64",
        (
            overload((characters,), logical.STRING, to_base64),
            overload((byte_strings,), logical.STRING, bytes_to_base64),
        ),
    ),
    function_of("FROM_BASE64", (characters,), logical.STRING, from_base64),
    ScalarFunction(
        "HEX",
        (
            overload((integers,), logical.STRING, hex_of_number),
            overload((characters,), logical.STRING, hex_of_text),
        ),
    ),
    function_of("UNHEX", (characters,), logical.BYTES, unhex, nullable=True),
    function_of("BIN", (as_bigint,), logical.STRING, binary),
)
