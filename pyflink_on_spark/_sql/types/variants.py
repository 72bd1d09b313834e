"""Values of the types VARIANT and BITMAP.

A value is a pair of its kind and what it consists of: an OBJECT has pairs of a name and a value in
the order of names, an ARRAY has values, a number of DECIMAL has an int and a scale.

As bytes they have the portable format of RoaringBitmap: numbers are grouped by their upper 16 bits,
and a group is a sorted array, a set of bits or a list of runs.
"""

from __future__ import annotations

import decimal
import struct
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring
from typing import Any

from pyflink_on_spark._runtime.types.codec import double_text
from pyflink_on_spark._sql.types.coercion import decimal_text
from pyflink_on_spark._sql.types.json_documents import read_json, too_deep

Variant = tuple[str, Any]

NULL: Variant = ("NULL", None)
OBJECT, ARRAY = "OBJECT", "ARRAY"
_INTEGERS = (("TINYINT", 7), ("SMALLINT", 15), ("INT", 31), ("BIGINT", 63))
_MOST_DIGITS = 38
_WITHOUT_RUNS = 12346
_WITH_RUNS = 12347
_LARGEST_ARRAY = 4096
_FEWEST_WITH_OFFSETS = 4
_BITS_SIZE = 8192
_UNSIGNED = 0xFFFF_FFFF
_HALF = 1 << 31


def parse_variant(text: str, allow_duplicates: bool = False) -> Variant:
    """Read JSON. Of fields with the same name the last one counts.

    Args:
        text: the JSON.
        allow_duplicates: whether an object may have several fields of one name.

    Raises:
        ValueError: the text is no JSON, is nested too deeply, or has a field twice.
    """

    def made_object(pairs: list[tuple[str, object]]) -> Variant:
        fields = {name: _variant(value) for name, value in pairs}
        if len(fields) < len(pairs) and not allow_duplicates:
            raise ValueError("VARIANT_DUPLICATE_KEY")
        return OBJECT, tuple(sorted(fields.items()))

    found = read_json(
        text,
        object_pairs_hook=made_object,
        parse_int=_integer,
        parse_float=_fraction,
        parse_constant=_refuse_constant,
    )
    try:
        return _variant(found)
    except RecursionError:
        raise too_deep() from None


def _variant(value: Any) -> Variant:
    if value is None:
        return NULL
    if isinstance(value, tuple):
        return value
    if isinstance(value, bool):
        return "BOOLEAN", value
    if isinstance(value, str):
        return "STRING", value
    return ARRAY, tuple(map(_variant, value))


def _integer(text: str) -> Variant:
    number = int(text)
    for kind, bits in _INTEGERS:
        if -(1 << bits) <= number < 1 << bits:
            return kind, number
    return _fraction(text)


def _fraction(text: str) -> Variant:
    """Return a DECIMAL if the digits are exact and few enough, else a DOUBLE."""
    if "e" not in text.lower():
        sign, digits, exponent = decimal.Decimal(text).as_tuple()
        assert isinstance(exponent, int)
        if max(len(digits), -exponent) <= _MOST_DIGITS:
            unscaled = int("".join(map(str, digits)))
            return "DECIMAL", (-unscaled if sign else unscaled, -exponent)
    return "DOUBLE", float(text)


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is no JSON")


def variant_json(value: Variant) -> str:
    """Write a variant as JSON.

    Raises:
        ValueError: the variant is nested too deeply.
    """
    try:
        return _json(value)
    except RecursionError:
        raise too_deep() from None


def _json(value: Variant) -> str:
    kind, content = value
    if kind == OBJECT:
        fields = [f"{encode_basestring(name)}:{_json(each)}" for name, each in content]
        return "{" + ",".join(fields) + "}"
    if kind == ARRAY:
        return f"[{','.join(map(_json, content))}]"
    if kind == "STRING":
        return encode_basestring(content)
    return scalar_text(value)


def scalar_text(value: Variant) -> str:
    """Write a variant that is no object and no array."""
    kind, content = value
    if kind == "NULL":
        return "null"
    if kind == "BOOLEAN":
        return "true" if content else "false"
    if kind == "DOUBLE":
        return double_text(content)
    if kind == "DECIMAL":
        return _without_zeros(decimal_text(*content))
    return str(content)


def _without_zeros(text: str) -> str:
    return text.rstrip("0").removesuffix(".") if "." in text else text


def field_of(value: Variant, name: str) -> Variant | None:
    """Return a field of an object, or None if it has none of that name.

    Raises:
        ValueError: the value is no object.
    """
    return dict(_content(value, OBJECT, "String key")).get(name)


def item_of(value: Variant, index: int) -> Variant | None:
    """Return an item of an array, counted from 1, or None if it has too few.

    Raises:
        ValueError: the value is no array.
    """
    items = _content(value, ARRAY, "Integer index")
    return items[index - 1] if 0 < index <= len(items) else None


def _content(value: Variant, wanted: str, access: str) -> Any:
    kind, content = value
    if kind != wanted:
        name = wanted.lower()
        raise ValueError(
            f"{access} access on variant requires an {name} variant, but a non-{name} variant was "
            "provided."
        )
    return content


def in_order(numbers: frozenset[int]) -> list[int]:
    """Return the numbers in the order of a bitmap: negative ones come last."""
    return sorted(numbers, key=_unsigned)


def bitmap_text(numbers: frozenset[int]) -> str:
    """Write a bitmap, with negative numbers as unsigned ones."""
    return "{" + ",".join([str(_unsigned(number)) for number in in_order(numbers)]) + "}"


def to_bytes(numbers: frozenset[int]) -> bytes:
    """Return a bitmap in the portable format."""
    groups: dict[int, list[int]] = {}
    for number in sorted(map(_unsigned, numbers)):
        groups.setdefault(number >> 16, []).append(number & 0xFFFF)
    containers = [_container(lower) for lower in groups.values()]
    runs = [is_run for is_run, _ in containers]
    count = len(groups)
    if any(runs):
        flags = sum(1 << index for index, is_run in enumerate(runs) if is_run)
        header = struct.pack("<I", _WITH_RUNS | (count - 1) << 16)
        header += flags.to_bytes((count + 7) // 8, "little")
    else:
        header = struct.pack("<II", _WITHOUT_RUNS, count)
    for key, lower in groups.items():
        header += struct.pack("<HH", key, len(lower) - 1)
    if not any(runs) or count >= _FEWEST_WITH_OFFSETS:
        offset = len(header) + 4 * count
        for _, content in containers:
            header += struct.pack("<I", offset)
            offset += len(content)
    return header + b"".join(content for _, content in containers)


def _container(lower: list[int]) -> tuple[bool, bytes]:
    """Return whether a group is smallest as runs, and its content."""
    runs = _runs(lower)
    usual = _BITS_SIZE if len(lower) > _LARGEST_ARRAY else 2 * len(lower)
    if 2 + 4 * len(runs) < usual:
        parts = [part for first, last in runs for part in (first, last - first)]
        return True, struct.pack(f"<{1 + len(parts)}H", len(runs), *parts)
    if len(lower) <= _LARGEST_ARRAY:
        return False, struct.pack(f"<{len(lower)}H", *lower)
    return False, sum(1 << bit for bit in lower).to_bytes(_BITS_SIZE, "little")


def _runs(lower: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in lower:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def from_bytes(content: bytes) -> frozenset[int]:
    """Return the bitmap that has a portable format.

    Raises:
        ValueError: the bytes are no bitmap.
    """
    try:
        return frozenset(map(_signed, _read(content)))
    except (struct.error, IndexError) as error:
        raise ValueError(f"Failed to deserialize bitmap from bytes: {error}") from None


def _read(content: bytes) -> Iterator[int]:
    (cookie,) = struct.unpack_from("<I", content, 0)
    flags, place = 0, 4
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        length = (count + 7) // 8
        flags, place = int.from_bytes(content[4 : 4 + length], "little"), 4 + length
    elif cookie == _WITHOUT_RUNS:
        (count,) = struct.unpack_from("<I", content, 4)
        place = 8
    else:
        raise ValueError("Failed to deserialize bitmap from bytes: it has no valid cookie")
    if count > 1 << 16:
        raise ValueError("Failed to deserialize bitmap from bytes: it has too many containers")
    groups = struct.unpack_from(f"<{2 * count}H", content, place)
    place += 4 * count
    if cookie == _WITHOUT_RUNS or count >= _FEWEST_WITH_OFFSETS:
        place += 4 * count
    for index in range(count):
        upper, size = groups[2 * index] << 16, groups[2 * index + 1] + 1
        if flags >> index & 1:
            (runs,) = struct.unpack_from("<H", content, place)
            parts = struct.unpack_from(f"<{2 * runs}H", content, place + 2)
            place += 2 + 4 * runs
            for first, more in zip(parts[::2], parts[1::2]):
                yield from range(upper | first, (upper | first) + more + 1)
        elif size <= _LARGEST_ARRAY:
            yield from (upper | each for each in struct.unpack_from(f"<{size}H", content, place))
            place += 2 * size
        else:
            bits = content[place : place + _BITS_SIZE]
            if len(bits) < _BITS_SIZE:
                raise ValueError("Failed to deserialize bitmap from bytes: it is too short")
            place += _BITS_SIZE
            yield from (
                upper | 8 * at + bit
                for at, byte in enumerate(bits)
                if byte
                for bit in range(8)
                if byte >> bit & 1
            )


def _unsigned(number: int) -> int:
    return number & _UNSIGNED


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= _HALF else number
