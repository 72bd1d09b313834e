"""Amounts of memory as text, as Flink writes and reads them."""

from __future__ import annotations

import re
from typing import Any

from pyflink_on_spark._options.option_text import option_text

_UNITS = {"tb": 1024**4, "gb": 1024**3, "mb": 1024**2, "kb": 1024, "bytes": 1}
_OTHER_NAMES = {
    "bytes": ("", "b"),
    "kb": ("k", "kibibytes"),
    "mb": ("m", "mebibytes"),
    "gb": ("g", "gibibytes"),
    "tb": ("t", "tebibytes"),
}
_BYTES_BY_NAME = _UNITS | {
    name: _UNITS[unit] for unit, names in _OTHER_NAMES.items() for name in names
}


def memory_text(size: int) -> str:
    """Write a number of bytes in the largest unit that needs no fraction: ``20 kb``."""
    if size == 0:
        return "0 bytes"
    unit, factor = next((u, f) for u, f in _UNITS.items() if size % f == 0)
    return f"{size // factor} {unit}"


def parse_memory_bytes(value: Any) -> int:
    """Read ``20 kb`` or ``20480`` as a number of bytes."""
    text = option_text(value).strip()
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.lower())
    if found is None or found[2] not in _BYTES_BY_NAME:
        raise ValueError(f"{text!r} is not an amount of memory, such as '20 kb'")
    return int(found[1]) * _BYTES_BY_NAME[found[2]]
