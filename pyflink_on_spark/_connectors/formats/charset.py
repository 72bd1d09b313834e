"""Decodes text of any character set in pieces, as Java does."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from pyflink_on_spark.common._charset import Charset

_UNMARKED = {"utf-16": "utf-16-be", "utf-32": "utf-32-be"}
_MARKS = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_LINE_END_IS_ITS_OWN_BYTE = re.compile(r"utf-8|ascii|iso8859-\d+|cp125\d|koi8-[a-z]")


def has_single_byte_line_ends(codec: str) -> bool:
    r"""True if the bytes of ``\n`` and ``\r`` are never part of another character."""
    return _LINE_END_IS_ITS_OWN_BYTE.fullmatch(codec) is not None


def text_decoder(codec: str, beginning: bytes) -> codecs.IncrementalDecoder:
    """Return a decoder that replaces malformed input by a replacement character.

    Args:
        codec: Python's name of the character set.
        beginning: the first bytes of the text, which contain the byte order of UTF-16 and UTF-32.
    """
    if codec in _UNMARKED and not beginning.startswith(_MARKS[codec]):
        codec = _UNMARKED[codec]
    return codecs.getincrementaldecoder(codec)(_ERRORS)


def _replace_malformed(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace as Java does: a surrogate in UTF-8 is one malformed character, not three."""
    if isinstance(error, UnicodeDecodeError) and error.encoding == "utf-8":
        rest = error.object[error.start : error.start + 3]
        if rest[0] == 0xED and rest[1:2] >= b"\xa0" and rest[1:2] <= b"\xbf":
            length = 3 if 0x80 <= rest[-1] <= 0xBF else 2
            return "\ufffd", error.start + min(length, len(rest))
    return codecs.replace_errors(error)


_ERRORS = "pyflink_on_spark.malformed"
codecs.register_error(_ERRORS, _replace_malformed)


class LineEncoder:
    """Encodes a text and a line end, which is the single byte 10 in any character set.

    Args:
        charset: the character set. A character that it lacks becomes a question mark.
    """

    def __init__(self, charset: Charset) -> None:
        self._charset = charset
        self._joinable = has_single_byte_line_ends(charset.codec)

    def encode(self, texts: Sequence[str]) -> bytes:
        """Return the lines of texts, joined."""
        if not self._joinable:
            return b"".join(self.encode_each(texts))
        return self._charset.encode("\n".join(texts)) + b"\n"

    def encode_each(self, texts: Sequence[str]) -> list[bytes]:
        """Return the line of each text."""
        encode = self._charset.encode
        return [encode(text) + b"\n" for text in texts]
