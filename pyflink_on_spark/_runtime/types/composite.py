"""Tuples, rows, lists, maps and arrays."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import cloudpickle

from pyflink_on_spark._runtime.types.codec import (
    Codec,
    ConversionError,
    ConversionValueError,
    Convert,
    ConvertColumn,
    NullPart,
    Part,
    accept_null,
    null_if_unfit,
    unfit,
)
from pyflink_on_spark.common.types import Row, RowKind

_TUPLE = {tuple}
_new = Row.__new__
_KIND_TEXTS = [str(kind) for kind in RowKind]
_MASK = 0xFFFFFFFF
_PLAIN_MODULES = frozenset(("builtins", "datetime", "decimal"))
_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))


def tuples(name: str, fields: list[Codec]) -> Codec:
    """Make the codec of tuples; surplus fields are cut off after a function.

    Args:
        name: the type's text.
        fields: the codecs of the fields.
    """
    size = len(fields)
    convert = _tuple_convert(fields)
    from_source = [
        accept_null(field.source) if field.nullable else field.source for field in fields
    ]
    write_fields = _write_fields(fields)

    def source(value: object) -> tuple[object, ...]:
        if value is None:
            raise NullPart("None is no tuple")
        if not isinstance(value, (tuple, list, Row)):
            raise ValueError("a tuple, a list or a Row is required")
        _require_size("tuple", size, len(value))
        return tuple([one(item) for one, item in zip(from_source, value)])

    def text(value: tuple[object, ...]) -> str:
        return f"({','.join(write_fields(value))})"

    def parts(value: object) -> Iterable[Part]:
        if not isinstance(value, (tuple, list, Row)) or len(value) < size:
            return ()
        return (
            Part(f"[{index}]", field, item, field.null_in_tuple)
            for index, (field, item) in enumerate(zip(fields, value))
        )

    def source_parts(value: object) -> Iterable[Part]:
        return (part._replace(nullable=part.codec.nullable) for part in parts(value))

    return Codec(
        name,
        convert,
        text,
        source,
        column=_tuple_column(fields, convert),
        collect=_collect_tuple(fields),
        parts=parts,
        source_parts=source_parts,
    )


def _write_fields(fields: list[Codec]) -> Callable[[Iterable[object]], list[str]]:
    texts = [field.text for field in fields]

    def write(values: Iterable[object]) -> list[str]:
        return ["null" if value is None else text(value) for text, value in zip(texts, values)]

    return write


def _tuple_convert(fields: list[Codec]) -> Convert:
    size = len(fields)
    converters = [
        accept_null(field.convert) if field.null_in_tuple else field.convert for field in fields
    ]

    def convert(value: object) -> tuple[object, ...]:
        if type(value) is not tuple:
            raise TypeError("a tuple is required, exactly")
        if len(value) < size:
            raise ConversionValueError(f"it has {len(value)} fields, and the type has {size}")
        return tuple([one(item) for one, item in zip(converters, value)])

    return convert


def _require_size(kind: str, required: int, provided: int) -> None:
    if required != provided:
        raise ValueError(
            f"Input {kind} doesn't have expected number of values required by the schema. "
            f"{required} fields are required while {provided} values are provided."
        )


def _tuple_column(fields: list[Codec], convert: Convert) -> ConvertColumn | None:
    columns = [field.column for field in fields if field.column is not None]
    size = len(fields)
    if len(columns) < size:
        return None

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        if set(map(type, values)) != _TUPLE or set(map(len, values)) != {size} or not size:
            return list(map(convert, values))
        changed = False
        converted = []
        for column, old in zip(columns, zip(*values)):
            new = column(old)
            converted.append(new)
            changed = changed or new is not old
        return list(zip(*converted)) if changed else values

    return convert_column


def _collect_tuple(fields: list[Codec]) -> Convert | None:
    if all(field.collect is None for field in fields):
        return None
    collectors = [accept_null(field.collect or _same) for field in fields]
    return lambda value: tuple([collect(item) for collect, item in zip(collectors, value)])


def _same(value: object) -> object:
    return value


def rows(name: str, names: list[str], fields: list[Codec]) -> Codec:
    """Make the codec of rows, whose fields may all be None.

    Args:
        name: the type's text.
        names: the names of the fields.
        fields: their codecs.
    """
    names = shared_names(tuple(names))
    converters = [field.convert for field in fields]
    write_fields = _write_fields(fields)

    def convert(value: Any) -> Row:
        values = [
            None if item is None else one(item)
            for one, item in zip(converters, _row_values(value, names))
        ]
        return new_row(names, values, value._row_kind)

    def text(value: Row) -> str:
        return f"{_KIND_TEXTS[value._row_kind.value]}[{', '.join(write_fields(value._values))}]"

    def parts(value: object) -> Iterable[Part]:
        return _named_parts(names, fields, _row_values(value, names))

    def source_parts(value: object) -> Iterable[Part]:
        return _named_parts(names, fields, _source_row_values(value, names)[1])

    return Codec(
        name,
        convert,
        text,
        _row_source(names, fields),
        snapshot=_snapshot(names),
        snapshot_column=_snapshot_column(fields),
        collect=_collect_row(names, fields),
        parts=parts,
        source_parts=source_parts,
    )


def _snapshot(names: list[str]) -> Convert:
    size, new = len(names), Row.__new__

    def snapshot(value: Any) -> Row:
        if (
            type(value) is not Row
            or len(value._values) != size
            or (value._names is not None and value._names != names)
        ):
            return new_row(names, list(_row_values(value, names)), value._row_kind)
        row = new(Row)  # what new_row does, without a call for each element
        row._names, row._values, row._row_kind = names, value._values[:], value._row_kind
        return row

    return snapshot


def _snapshot_column(fields: list[Codec]) -> ConvertColumn | None:
    """Convert the fields of many rows at once; None when what is in a field can be changed."""
    columns = [_nullable_column(field, field.column) for field in fields if field.column]
    if not fields or len(columns) < len(fields):
        return None

    def convert_column(rows: Sequence[Any]) -> Sequence[object]:
        changed = False
        converted = []
        for column, old in zip(columns, zip(*[row._values for row in rows])):
            new = column(old)
            converted.append(new)
            changed = changed or new is not old
        if changed:
            for row, values in zip(rows, zip(*converted)):
                row._values = list(values)
        return rows

    return convert_column


def _nullable_column(field: Codec, column: ConvertColumn) -> ConvertColumn:
    one_or_null = accept_null(field.convert)

    def convert_column(values: Sequence[object]) -> Sequence[object]:
        return list(map(one_or_null, values)) if None in values else column(values)

    return convert_column


@lru_cache(maxsize=10_000)
def shared_names(names: tuple[str, ...]) -> list[str]:
    """Return the one list that rows with these names have, so that it is quick to compare."""
    return list(names)


def new_row(names: list[str], values: list[object], kind: RowKind = RowKind.INSERT) -> Row:
    """Make a row from its parts, as they are."""
    row = _new(Row)
    row._names, row._values, row._row_kind = names, values, kind
    return row


def _named_parts(names: list[str], fields: list[Codec], values: Sequence[object]) -> Iterable[Part]:
    return (
        Part(f"[{name!r}]", field, item, True, True)
        for name, field, item in zip(names, fields, values)
    )


def _row_values(value: object, names: list[str]) -> Sequence[object]:
    """Return a row's values in the type's order, and no more of them than it has names."""
    if not isinstance(value, Row):
        raise AttributeError("a Row is required")
    own_names, values = value._names, value._values
    if own_names is not None and own_names != names:
        missing = [name for name in names if name not in own_names]
        if missing:
            raise MissingFieldsError(f"Field names {missing} not exist in {own_names}.")
        return [values[own_names.index(name)] for name in names]
    if len(values) == len(names):
        return values
    if len(values) < len(names):
        raise ConversionValueError(f"it has {len(values)} fields, and the type has {len(names)}")
    return values[: len(names)]


class MissingFieldsError(ConversionError):
    """A row has names, but not all those of its declared type."""


def _source_row_values(value: object, names: list[str]) -> tuple[RowKind, Sequence[object]]:
    if value is None:
        raise NullPart("None is no row")
    if isinstance(value, dict):
        return RowKind.INSERT, [value.get(name) for name in names]
    if isinstance(value, Row):
        if value._names is None:
            return value._row_kind, value._values
        return value._row_kind, [value[name] for name in names]
    if isinstance(value, (tuple, list)):
        return RowKind.INSERT, value
    if hasattr(value, "__dict__"):
        return RowKind.INSERT, [vars(value).get(name) for name in names]
    raise ValueError("a Row, tuple, list, dict or an object with attributes is required")


def _row_source(names: list[str], fields: list[Codec]) -> Convert:
    from_source = [null_if_unfit(field.source) for field in fields]

    def source(value: object) -> Row:
        kind, values = _source_row_values(value, names)
        _require_size("row", len(names), len(values))
        return new_row(names, [one(item) for one, item in zip(from_source, values)], kind)

    return source


def _collect_row(names: list[str], fields: list[Codec]) -> Convert | None:
    if all(field.collect is None for field in fields):
        return None
    collectors: list[Callable[[object], object]] = [
        accept_null(field.collect or _same) for field in fields
    ]

    def collect(value: Row) -> Row:
        values = [one(item) for one, item in zip(collectors, value._values)]
        return new_row(names, values, value._row_kind)

    return collect


def in_java_order(keys: Iterable[object], key_hash: Callable[[object], int]) -> list[object]:
    """Sort keys as a HashMap that was made for that many lists them.

    Args:
        keys: the keys in the order in which they were put.
        key_hash: Java's hash code of a key; only its low 32 bits count.
    """
    ordered = list(keys)
    capacity = 1
    while capacity * 3 < len(ordered) * 4:
        capacity *= 2

    def bucket(key: object) -> int:
        code = key_hash(key) & _MASK
        return (code ^ code >> 16) & (capacity - 1)

    ordered.sort(key=bucket)
    return ordered


def pickled(name: str) -> Codec:
    """Make the codec of any object inside a typed value; it is copied."""

    def convert(value: object) -> object:
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

    def source(value: object) -> list[object]:
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

    def from_source(item: object) -> object:
        converted = element.source(item)
        if type(item) is int and type(converted) is int and converted != item:
            raise OverflowError(f"{item} is too large for {element.name}")
        return converted

    def source(value: object) -> list[object]:
        if not isinstance(value, list):
            raise unfit(value, name)
        return [from_source(item) for item in value]

    return _sequence(name, element, source, element_nullable=False)


def _sequence(name: str, element: Codec, source: Convert, element_nullable: bool) -> Codec:
    convert_all = _convert_all(element, element_nullable)
    element_text = null_or(element.text)

    def convert(value: object) -> list[object]:
        if type(value) is not list:
            raise TypeError("a list is required")
        return convert_all(value)

    def text(value: list[object]) -> str:
        return f"[{', '.join(map(element_text, value))}]"

    def parts(value: object) -> Iterable[Part]:
        if not isinstance(value, (list, tuple)):
            return ()
        return (
            Part(f"[{index}]", element, item, element_nullable, element_nullable)
            for index, item in enumerate(value)
        )

    collect = _collect_all(element)
    return Codec(name, convert, text, source, collect=collect, parts=parts, source_parts=parts)


def _convert_all(element: Codec, nullable: bool) -> Callable[[list[object]], list[object]]:
    column, one = element.column, element.convert
    one_or_null = accept_null(one) if nullable else one
    if column is None:
        return lambda values: [one_or_null(value) for value in values]

    def convert_all(values: list[object]) -> list[object]:
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

    def convert(value: object) -> bytes:
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError("bytes are required")
        return bytes(value)

    def source(value: object) -> bytes:
        if isinstance(value, str):
            return value.encode("utf-8")
        if not isinstance(value, (bytes, bytearray)):
            raise unfit(value, name)
        return bytes(value)

    def text(value: bytes) -> str:
        return f"[{', '.join(map(str, _signed(value)))}]"

    def column(values: Sequence[object]) -> Sequence[object]:
        return values if set(map(type, values)) == {bytes} else list(map(convert, values))

    return Codec(name, convert, text, source, column=column, collect=_signed)


def _signed(value: bytes) -> list[int]:
    return memoryview(value).cast("b").tolist()


def mapping(name: str, key: Codec, value: Codec, key_hash: Callable[[object], int] | None) -> Codec:
    """Make the codec of a map.

    Args:
        name: the type's text.
        key: the codec of its keys, which may not be None.
        value: the codec of its values, which may be None after a function.
        key_hash: Java's hash code of a key, or None where the order of its text is not Java's.
    """
    convert_key, convert_value = key.convert, accept_null(value.convert)

    def convert(entries: Any) -> dict[object, object]:
        if not len(entries):
            return {}
        return {convert_key(k): convert_value(v) for k, v in entries.items()}

    def source(entries: object) -> dict[object, object]:
        if type(entries) is not dict:
            entries = _entries_of(entries, name)
        return {key.source(k): value.source(v) for k, v in entries.items()}

    value_text = null_or(value.text)

    def text(entries: dict[object, object]) -> str:
        ordered = in_java_order(entries, key_hash) if key_hash else entries
        pairs = [f"{key.text(k)}={value_text(entries[k])}" for k in ordered]
        return "{" + ", ".join(pairs) + "}"

    def parts_where(values_nullable: bool) -> Callable[[object], Iterable[Part]]:
        def parts(entries: object) -> Iterable[Part]:
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


def _entries_of(value: Any, name: str) -> dict[str, object]:
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


def null_or(text: Callable[[object], str]) -> Callable[[object], str]:
    """Return a writer that also takes None."""

    def text_or_null(value: object) -> str:
        return "null" if value is None else text(value)

    return text_or_null
