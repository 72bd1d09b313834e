"""Values of options as text, as Flink writes and reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._options.yaml_text import parse_yaml, yaml_text

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
_MOST_NANOS = (2**63) * 10**9 - 1
_ISO_DURATION = re.compile(
    r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{0,9}))?S)?)?", re.IGNORECASE
)
_JAVA_DOUBLE = re.compile(
    r"[-+]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)[dDfF]?)", re.ASCII
)
_JAVA_HEX_DOUBLE = re.compile(r"[-+]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][-+]?\d+[dDfF]?", re.ASCII)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


class AmountOfTime:
    """An amount of time that a configuration holds, exact to the nanosecond.

    The mirror's ``Duration`` is one.

    Args:
        nanos: the whole amount in nanoseconds.
    """

    def __init__(self, nanos: int) -> None:
        if not -_MOST_NANOS <= nanos <= _MOST_NANOS:
            raise OverflowError("long overflow: a duration has at most 2**63 - 1 seconds")
        self._nanos = nanos

    @staticmethod
    def from_millis(millis: int) -> AmountOfTime:
        """Return an amount of the given number of milliseconds."""
        return AmountOfTime(checked_long(millis, "Duration.of_millis(millis)") * 10**6)

    def _to_millis(self) -> int:
        """Return the whole milliseconds; fractions are cut off, towards zero."""
        millis = abs(self._nanos) // 10**6
        return millis if self._nanos >= 0 else -millis

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AmountOfTime) and self._nanos == other._nanos

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Duration {self._nanos / 10**9:g} s>"


def checked_long(value: Any, call: str) -> int:
    """Return a whole number of 64 bits as it is.

    Args:
        value: what the user gave.
        call: the call as the user wrote it.

    Raises:
        TypeError: it is no int.
        OverflowError: it does not fit.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{call} takes an int, not a {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"{call}: {value} does not fit into 64 bits")
    return value


def option_text(value: Any) -> str:
    """Write the value of an option as ``Configuration.to_dict()`` shows it."""
    if isinstance(value, str):
        return value
    return (
        duration_text(value._to_millis()) if isinstance(value, AmountOfTime) else yaml_text(value)
    )


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
    if isinstance(value, AmountOfTime):
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
    """Read ``a;b``, ``[a, b]`` or one ``- a`` a line as a list of texts."""
    if not isinstance(value, list):
        text = option_text(value)
        value = _yaml_or_none(text)
        if not isinstance(value, list):
            return [item.strip() for item in text.split(";") if item.strip()]
    return [option_text(item) for item in value]


def parse_map(value: Any) -> dict[str, str]:
    """Read ``{k: v, l: w}``, one ``k: v`` a line, or ``k:v,l:w`` as a map of texts."""
    if not isinstance(value, Mapping):
        text = option_text(value)
        value = _yaml_or_none(text)
        if not isinstance(value, dict) or None in (*value, *value.values()):
            return dict(_entry(item) for item in _split(text, ","))
    return {option_text(key): option_text(item) for key, item in value.items()}


def _yaml_or_none(text: str) -> Any:
    try:
        return parse_yaml(text)
    except ValueError:
        return None


def _entry(text: str) -> tuple[str, str]:
    words = _split(text, ":")
    if len(words) != 2:
        raise ValueError(f"{text!r} is not a pair 'key:value'")
    return words[0], words[1]


def _split(text: str, delimiter: str) -> list[str]:
    """Return the words between delimiters; a word that begins with a quote ends with one.

    Raises:
        ValueError: a quote is not closed, or text follows the quote.
    """
    words = []
    position = 0
    while position < len(text):
        if text[position] in "\"'":
            found = _QUOTED.match(text, position)
            if found is None or not re.match(rf"\s*({delimiter}|$)", text[found.end() :]):
                raise ValueError(f"{text!r} has a quote that does not end before {delimiter!r}")
            quote = found[0][0]
            words.append(found[0][1:-1].replace(quote * 2, quote))
            position = found.end()
        elif text[position] == delimiter:
            if text[position + 1 :].lstrip().startswith(delimiter):
                words.append("")
            position += 1
        elif text[position].isspace():
            position += 1
        else:
            end = text.find(delimiter, position)
            end = len(text) if end < 0 else end
            words.append(text[position:end].strip())
            position = end
    return words
