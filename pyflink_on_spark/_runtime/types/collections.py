"""Lists, arrays and maps: each conversion makes a new object, as the user may change the old."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import cloudpickle

from pyflink_on_spark._runtime.types.codec import (
    Codec,
    Convert,
    Part,
    accept_null,
    null_if_unfit,
    unfit,
)

_MASK = 0xFFFFFFFF


def in_java_order(keys: Iterable[Any], key_hash: Callable[[Any], int]) -> list[Any]:
    """Sort keys as a HashMap that was made for that many lists them.

    Args:
        keys: the keys in the order in which they were put.
        key_hash: Java's hash code of a key; only its low 32 bits count.
    """
    ordered = list(keys)
    capacity = 1
    while capacity * 3 < len(ordered) * 4:
        capacity *= 2

    def bucket(key: Any) -> int:
        code = key_hash(key) & _MASK
        return (code ^ code >> 16) & (capacity - 1)

    ordered.sort(key=bucket)
    return ordered


_PLAIN_MODULES = frozenset(("builtins", "datetime", "decimal"))
_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))


def pickled(name: str) -> Codec:
    """Make the codec of any object inside a typed value; it is copied."""

    def convert(value: Any) -> Any:
        if type(value) in _ATOMS:
            return value
        return pickle.loads(cloudpickle.dumps(value, protocol=5))

    return Codec(name, convert, str, convert)


def array(name: str, element: Codec, *, element_nullable: bool) -> Codec:
    """Make the codec of an array; a collection may have lists, tuples and bytes for it.

    Args:
        name: the type's text.
        element: the codec of its elements.
        element_nullable: whether elements may be None.
    """
    from_source = null_if_unfit(element.source) if element_nullable else element.source

    def source(value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple, bytes, bytearray)):
            raise unfit(value, name)
        return [from_source(item) for item in value]

    return _sequence(name, element, source, element_nullable)


def plain_list(name: str, element: Codec) -> Codec:
    """Make the codec of a list, without None in it.

    Args:
        name: the type's text.
        element: the codec of its elements.
    """

    def from_source(item: Any) -> Any:
        converted = element.source(item)
        if type(item) is int and type(converted) is int and converted != item:
            raise OverflowError(f"{item} is too large for {element.name}")
        return converted

    def source(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise unfit(value, name)
        return [from_source(item) for item in value]

    return _sequence(name, element, source, element_nullable=False)


def _sequence(name: str, element: Codec, source: Convert, element_nullable: bool) -> Codec:
    convert_all = _convert_all(element, element_nullable)
    element_text = null_or(element.text)

    def convert(value: Any) -> list[Any]:
        if type(value) is not list:
            raise TypeError("a list is required")
        return convert_all(value)

    def text(value: list[Any]) -> str:
        return f"[{', '.join(map(element_text, value))}]"

    def parts(value: Any) -> Iterable[Part]:
        if not isinstance(value, (list, tuple)):
            return ()
        return (
            Part(f"[{index}]", element, item, element_nullable, element_nullable)
            for index, item in enumerate(value)
        )

    collect = _collect_all(element)
    return Codec(name, convert, text, source, collect=collect, parts=parts, source_parts=parts)


def _convert_all(element: Codec, nullable: bool) -> Callable[[list[Any]], list[Any]]:
    column, one = element.column, element.convert
    one_or_null = accept_null(one) if nullable else one
    if column is None:
        return lambda values: [one_or_null(value) for value in values]

    def convert_all(values: list[Any]) -> list[Any]:
        if not values:
            return []
        if nullable and None in values:
            return [one_or_null(value) for value in values]
        return list(column(values))

    return convert_all


def _collect_all(element: Codec) -> Convert | None:
    if element.collect is None:
        return None
    collect = accept_null(element.collect)
    return lambda values: list(map(collect, values))


def byte_string(name: str) -> Codec:
    """Make the codec of byte arrays: ``bytes`` for functions, signed integers when collected."""

    def convert(value: Any) -> bytes:
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError("bytes are required")
        return bytes(value)

    def source(value: Any) -> bytes:
        if isinstance(value, str):
            return value.encode("utf-8")
        if not isinstance(value, (bytes, bytearray)):
            raise unfit(value, name)
        return bytes(value)

    def text(value: bytes) -> str:
        return f"[{', '.join(map(str, _signed(value)))}]"

    def column(values: Sequence[Any]) -> Sequence[Any]:
        return values if set(map(type, values)) == {bytes} else list(map(convert, values))

    return Codec(name, convert, text, source, column=column, collect=_signed)


def _signed(value: bytes) -> list[int]:
    return memoryview(value).cast("b").tolist()


def mapping(name: str, key: Codec, value: Codec, key_hash: Callable[[Any], int] | None) -> Codec:
    """Make the codec of a map.

    Args:
        name: the type's text.
        key: the codec of its keys, which may not be None.
        value: the codec of its values, which may be None after a function.
        key_hash: Java's hash code of a key, or None where the order of its text is not Java's.
    """
    convert_key, convert_value = key.convert, accept_null(value.convert)

    def convert(entries: Any) -> dict[Any, Any]:
        if not len(entries):
            return {}
        return {convert_key(k): convert_value(v) for k, v in entries.items()}

    def source(entries: Any) -> dict[Any, Any]:
        if type(entries) is not dict:
            entries = _entries_of(entries, name)
        return {key.source(k): value.source(v) for k, v in entries.items()}

    value_text = null_or(value.text)

    def text(entries: dict[Any, Any]) -> str:
        ordered = in_java_order(entries, key_hash) if key_hash else entries
        pairs = [f"{key.text(k)}={value_text(entries[k])}" for k in ordered]
        return "{" + ", ".join(pairs) + "}"

    def parts_where(values_nullable: bool) -> Callable[[Any], Iterable[Part]]:
        def parts(entries: Any) -> Iterable[Part]:
            if not isinstance(entries, dict):
                return
            for k, v in entries.items():
                yield Part(f" key {k!r:.60}", key, k, False)
                yield Part(f"[{k!r:.60}]", value, v, values_nullable)

        return parts

    return Codec(
        name,
        convert,
        text,
        source,
        collect=_collect_entries(key, value),
        parts=parts_where(True),
        source_parts=parts_where(False),
    )


def _entries_of(value: Any, name: str) -> dict[str, Any]:
    """Return the parts of an object's pickle that Flink reads: class name and attributes."""
    kind = type(value)
    if kind.__module__ in _PLAIN_MODULES and not isinstance(value, dict):
        raise unfit(value, name)
    try:
        made, arguments, *rest = value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    except (TypeError, ValueError):
        raise unfit(value, name) from None
    state, items, entries = (*rest, None, None, None)[:3]
    by_class = made is copyreg.__newobj__ and arguments == (kind,)  # type: ignore[attr-defined]
    simple = by_class or (made is kind and arguments == ())
    if not simple or not isinstance(state, dict | None) or items is not None:
        raise unfit(value, name)
    class_name = f"{kind.__module__}.{kind.__qualname__}"
    return {"__class__": class_name, **(state or {}), **dict(entries or ())}


def _collect_entries(key: Codec, value: Codec) -> Convert | None:
    if key.collect is None and value.collect is None:
        return None
    collect_key = key.collect or _same
    collect_value = accept_null(value.collect or _same)
    return lambda entries: {collect_key(k): collect_value(v) for k, v in entries.items()}


def _same(value: Any) -> Any:
    return value


def null_or(text: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a writer that also takes None."""

    def text_or_null(value: Any) -> str:
        return "null" if value is None else text(value)

    return text_or_null
