"""Character sets under the names that Java knows, with Java's replacements for bad input."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_NOT_IN_JAVA = frozenset(
    [
        "utf-7",
        "utf-8-sig",
        "idna",
        "punycode",
        "rot13",
        "unicode_escape",
        "raw_unicode_escape",
        "undefined",
        "mbcs",
        "oem",
        "hz",
        "palmos",
        "ptcp154",
        "mac-roman",
        "mac-cyrillic",
        "mac-greek",
        "mac-iceland",
        "mac-latin2",
        "mac-turkish",
    ]
)
_BIG_ENDIAN = {"utf-16": "utf-16-be", "utf-32": "utf-32-be"}


@dataclass(frozen=True)
class Charset:
    """A character set.

    Args:
        name: what the user called it.
        codec: Python's name for it.
    """

    name: str
    codec: str

    def encode(self, text: str) -> bytes:
        """Return the bytes of a text; characters outside of the character set become ``?``."""
        if self.codec == "utf-16":
            return codecs.BOM_UTF16_BE + text.encode("utf-16-be", "replace")
        return text.encode(_BIG_ENDIAN.get(self.codec, self.codec), "replace")

    def decode(self, data: bytes) -> str:
        """Return the text of some bytes; invalid bytes become U+FFFD."""
        codec = self.codec
        boms = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE)
        if codec in _BIG_ENDIAN and not data.startswith(boms):
            codec = _BIG_ENDIAN[codec]
        return data.decode(codec, "replace")


def find_charset(name: str) -> Charset:
    """Find a character set by its name.

    Raises:
        ValueError: no character set has that name.
    """
    try:
        codec = codecs.lookup(name).name
        "".encode(codec)  # a codec between bytes, such as base64, is not a character set
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"Unsupported charset: {name!r}") from error
    if codec in _NOT_IN_JAVA:
        raise ValueError(f"Unsupported charset: {name!r} is not one of Java's")
    return Charset(name, codec)
