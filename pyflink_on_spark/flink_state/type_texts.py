"""Types made again of their texts, which checkpoints have."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    Types,
)

_NAME = re.compile(r"\w+")
_SIMPLE: dict[str, Callable[[], Any]] = {
    **{kind.value: partial(BasicTypeInfo, kind) for kind in BasicType},
    "PickledByteArrayTypeInfo": Types.PICKLED_BYTE_ARRAY,
    "DateTypeInfo": Types.SQL_DATE,
    "TimeTypeInfo": Types.SQL_TIME,
    "TimestampTypeInfo": Types.SQL_TIMESTAMP,
}
_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "PrimitiveArrayTypeInfo": PrimitiveArrayTypeInfo,
    "BasicArrayTypeInfo": BasicArrayTypeInfo,
    "ObjectArrayTypeInfo": ObjectArrayTypeInfo,
    "ListTypeInfo": ListTypeInfo,
    "ExternalTypeInfo": ExternalTypeInfo,
}


def type_of_text(text: str) -> Any:
    """Make the type information whose text is ``text``.

    Args:
        text: as ``str`` of type information.

    Raises:
        ValueError: the text is that of another type, or names of fields make it ambiguous.
    """
    reader = _Reader(text)
    try:
        found = reader.type()
    except (IndexError, RecursionError):
        found = None
    if found is None or reader.position != len(text) or str(found) != text:
        raise ValueError(f"the type {text!r} is not known")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0

    def type(self) -> Any:
        """Read a type, or return None."""
        name = _NAME.match(self._text, self.position)
        if name is None:
            return None
        self.position = name.end()
        found = name[0]
        if found in _SIMPLE:
            return _SIMPLE[found]()
        if found in _OF_ONE:
            parts = self._parts("<", ">")
            return _OF_ONE[found](parts[0]) if len(parts) == 1 else None
        if found == "MapTypeInfo":
            parts = self._parts("<", ">")
            return MapTypeInfo(*parts) if len(parts) == 2 else None
        if found == "TupleTypeInfo":
            return TupleTypeInfo(self._parts("(", ")"))
        return self._row() if found == "RowTypeInfo" else None

    def _parts(self, begin: str, end: str) -> list[Any]:
        parts: list[Any] = []
        separator = begin
        while self._passed(separator):
            part = self.type()
            if part is None:
                return []
            parts.append(part)
            if self._passed(end):
                return parts
            separator = ", "
        return []

    def _row(self) -> Any:
        names: list[str] = []
        kinds: list[Any] = []
        separator = "("
        while self._passed(separator):
            begin = self.position
            kind = self._field()
            colon = begin - 1
            while kind is None:
                colon = self._text.find(": ", colon + 1)
                if colon < 0:
                    return None
                self.position = colon + 2
                kind = self._field()
            if colon >= begin:
                names.append(self._text[begin:colon])
            kinds.append(kind)
            if self._passed(")"):
                return RowTypeInfo(kinds, names or None)
            separator = ", "
        return None

    def _field(self) -> Any:
        """Read a type that ends where a field ends, or return None."""
        kind = self.type()
        return kind if self._text[self.position : self.position + 1] in (",", ")") else None

    def _passed(self, text: str) -> bool:
        found = self._text.startswith(text, self.position)
        self.position += len(text) if found else 0
        return found
