"""Encodes texts as the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._connectors.formats.charset import has_single_byte_line_ends
from pyflink_on_spark.common._charset import Charset


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
