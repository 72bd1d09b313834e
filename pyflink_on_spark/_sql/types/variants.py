"""Values whose type is known when a query runs: of the type VARIANT.

A value is a pair of its kind and what it consists of: an OBJECT has pairs of a name and a value in
the order of names, an ARRAY has values, a number of DECIMAL has an int and a scale.
"""

from __future__ import annotations

import decimal
from json.encoder import encode_basestring
from typing import Any

from pyflink_on_spark._runtime.types.java_numbers import double_text
from pyflink_on_spark._sql.types.decimals import decimal_text
from pyflink_on_spark._sql.types.json_documents import read_json, too_deep

Variant = tuple[str, Any]

NULL: Variant = ("NULL", None)
OBJECT, ARRAY = "OBJECT", "ARRAY"
_INTEGERS = (("TINYINT", 7), ("SMALLINT", 15), ("INT", 31), ("BIGINT", 63))
_MOST_DIGITS = 38


def parse_variant(text: str, allow_duplicates: bool = False) -> Variant:
    """Read JSON. Of fields with the same name the last one counts.

    Args:
        text: the JSON.
        allow_duplicates: whether an object may have several fields of one name.

    Raises:
        ValueError: the text is no JSON, is nested too deeply, or has a field twice.
    """

    def made_object(pairs: list[tuple[str, Any]]) -> Variant:
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


def _refuse_constant(word: str) -> Any:
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
