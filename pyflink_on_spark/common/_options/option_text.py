"""How Flink writes the values of options as text, and reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pyflink_on_spark.common._options.yaml_text import parse_yaml, yaml_text
from pyflink_on_spark.common.time import Duration

_UNITS_IN_NANOS = {
    "d": 86400 * 10**9,
    "h": 3600 * 10**9,
    "min": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "µs": 10**3,
    "ns": 1,
}
_UNIT_NAMES = {
    "d": ("day", "days"),
    "h": ("hour", "hours"),
    "min": ("m", "minute", "minutes"),
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("milli", "millis", "millisecond", "milliseconds"),
    "µs": ("micro", "micros", "microsecond", "microseconds"),
    "ns": ("nano", "nanos", "nanosecond", "nanoseconds"),
}
_NANOS_BY_NAME = _UNITS_IN_NANOS | {
    name: _UNITS_IN_NANOS[unit] for unit, names in _UNIT_NAMES.items() for name in names
}
_ISO_DURATION = re.compile(
    r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{0,9}))?S)?)?", re.IGNORECASE
)
_JAVA_DOUBLE = re.compile(
    r"[-+]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)[dDfF]?)", re.ASCII
)
_JAVA_HEX_DOUBLE = re.compile(r"[-+]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][-+]?\d+[dDfF]?", re.ASCII)
_MAP_ENTRY = re.compile(r"\s*('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[^,:'\"]+)\s*")


def double_text(number: float) -> str:
    """Write a float as Java does: ``1.0E10``, ``1.0E-4``, ``NaN``."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    text = repr(number)
    if len(text.partition("e")[0].strip("-0.")) == 1:
        text = f"{number:.1e}"  # Java never writes fewer than two digits: 4.9E-324, not 5E-324
    sign = "-" if number < 0 else ""
    _, digits, exponent = Decimal(text).as_tuple()
    power = len(digits) - 1 + int(exponent)
    rest = "".join(map(str, digits[1:])).rstrip("0")
    return f"{sign}{digits[0]}.{rest or '0'}E{power}"


def option_text(value: Any) -> str:
    """Write the value of an option as ``Configuration.to_dict()`` shows it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = double_text(value)
        return {"NaN": ".nan", "Infinity": ".inf", "-Infinity": "-.inf"}.get(text, text)
    return duration_text(value._to_millis()) if isinstance(value, Duration) else yaml_text(value)


def parse_boolean(value: Any) -> bool:
    """Read true or false, in any case."""
    text = option_text(value).lower()
    if text not in {"true", "false"}:
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


def parse_int(value: Any) -> int:
    """Read a whole number of 32 bits."""
    return _whole_number(value, 31)


def parse_long(value: Any) -> int:
    """Read a whole number of 64 bits."""
    return _whole_number(value, 63)


def _whole_number(value: Any, bits: int) -> int:
    text = option_text(value)
    if not re.fullmatch(r"[-+]?\d+", text):
        raise ValueError(f"{text!r} is not a whole number")
    number = int(text)
    if not -(2**bits) <= number < 2**bits:
        raise ValueError(f"{text!r} does not fit into {bits + 1} bits")
    return number


def parse_double(value: Any) -> float:
    """Read a number as Java does: without underscores, ``NaN`` and ``Infinity`` spelled out."""
    if isinstance(value, float):
        return value
    text = option_text(value).strip()
    if _JAVA_HEX_DOUBLE.fullmatch(text):
        return float.fromhex(text.rstrip("dDfF"))
    if not _JAVA_DOUBLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("dDfF"))


def parse_bytes(value: Any) -> bytearray:
    """Return bytes that were stored as bytes."""
    if not isinstance(value, bytes | bytearray):
        raise ValueError("it does not hold bytes")
    return bytearray(value)


def parse_duration_ms(value: Any) -> int:
    """Read ``5 min``, ``200 ms``, ``200`` or ``PT5S`` as whole milliseconds."""
    if isinstance(value, Duration):
        return value._to_millis()
    text = option_text(value).strip()
    found = re.fullmatch(r"(\d+)\s*([a-zµ]*)", text.lower())
    if found:
        nanos = int(found[1]) * _unit_nanos(found[2] or "ms", text)
    else:
        nanos = _iso_nanos(text)
    return nanos // 10**6


def _unit_nanos(name: str, text: str) -> int:
    if name not in _NANOS_BY_NAME:
        raise ValueError(
            f"{text!r} has an unknown unit of time; known are {sorted(_NANOS_BY_NAME)}"
        )
    return _NANOS_BY_NAME[name]


def _iso_nanos(text: str) -> int:
    found = _ISO_DURATION.fullmatch(text)
    if found is None or not any(found.groups()):
        raise ValueError(f"{text!r} is not a duration, such as '200 ms' or 'PT5S'")
    days, hours, minutes, seconds, fraction = found.groups(default="0")
    whole = ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 10**9 + int(fraction.ljust(9, "0"))


def duration_text(millis: int) -> str:
    """Write milliseconds in the largest unit that needs no fraction: ``1 min``, ``1500 ms``."""
    if millis == 0:
        return "0 ms"
    nanos = millis * 10**6
    unit, size = next((u, n) for u, n in _UNITS_IN_NANOS.items() if nanos % n == 0)
    return f"{nanos // size} {unit}"


def parse_list(value: Any) -> list[str]:
    """Read ``a;b`` or ``[a, b]`` as a list of texts."""
    if isinstance(value, list):
        return [option_text(item) for item in value]
    text = option_text(value).strip()
    parsed = parse_yaml(text)
    if isinstance(parsed, list):
        return [option_text(item) for item in parsed]
    return [item.strip() for item in text.split(";") if item.strip()]


def parse_map(value: Any) -> dict[str, str]:
    """Read ``{k: v, l: w}`` or ``k:v,l:w`` as a map of texts."""
    if not isinstance(value, Mapping):
        text = option_text(value)
        try:
            value = parse_yaml(text)
        except ValueError:
            value = text
        if not isinstance(value, dict):
            return _short_map(text)
    return {option_text(key): option_text(item) for key, item in value.items()}


def _short_map(text: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    position = 0
    while position < len(text):
        key, position = _map_word(text, position, ":")
        item, position = _map_word(text, position, ",")
        entries[key] = item
    return entries


def _map_word(text: str, position: int, end: str) -> tuple[str, int]:
    found = _MAP_ENTRY.match(text, position)
    if found is None or not (
        (found.end() == len(text) and end == ",") or text[found.end() :][:1] == end
    ):
        raise ValueError(f"{text!r} is not a map, such as 'key:value,key:value'")
    word = found[1].strip()
    if word[0] in "\"'":
        word = word[1:-1].replace(word[0] * 2, word[0])
    return word, found.end() + 1
