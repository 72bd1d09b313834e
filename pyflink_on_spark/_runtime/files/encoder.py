"""Elements as the lines of a text file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._runtime.files.charset import has_single_byte_line_ends
from pyflink_on_spark.common._charset import Charset


class LineEncoder:
    """Writes an element as its text and a line end, which is the one byte 10 in any charset.

    Args:
        to_text: the text of an element.
        charset: the character set; what it lacks becomes a question mark.
    """

    def __init__(self, to_text: Callable[[Any], str], charset: Charset) -> None:
        self._to_text = to_text
        self._charset = charset
        self._joinable = has_single_byte_line_ends(charset.codec)

    def encode(self, elements: Sequence[Any]) -> bytes:
        """Return the lines of some elements at once."""
        if not self._joinable:
            return b"".join(self.encode_each(elements))
        text = "\n".join(map(self._to_text, elements))
        return self._charset.encode(text) + b"\n"

    def encode_each(self, elements: Sequence[Any]) -> list[bytes]:
        """Return the line of each element."""
        encode = self._charset.encode
        return [encode(text) + b"\n" for text in map(self._to_text, elements)]
