"""The YAML in which Flink writes and reads the values of options."""

from __future__ import annotations

import base64
import functools
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_UNSAFE_START = re.compile(r"[ !&*%@`'\"#|>,\[\]{}?:]|-( |$)|---|\.\.\.|$")
_UNSAFE_INSIDE = re.compile(r"[,\[\]{}:]| #| $")
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
_SCALARS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (_FLOAT, list("-+.0123456789")),
}
"""How YAML 1.2 writes what is not a string: a pattern, and the characters that it begins with."""

_NOT_A_STRING = re.compile("|".join(pattern for pattern, _ in _SCALARS.values()))
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ESCAPED = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029"\\\\]')
_ESCAPES = dict(zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\u2028\u2029', '0abtnvfre"\\NLP', strict=True))


def yaml_text(value: Any) -> str:
    """Write a value on one line, as Flink writes the value of an option.

    Args:
        value: a map, list, text, number, truth value, bytes or None.
    """
    if isinstance(value, Mapping):
        entries = (f"{_key_text(key)}: {yaml_text(item)}" for key, item in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_text(item) for item in value) + "]"
    if isinstance(value, bytes | bytearray):
        return f"!!binary |-\n  {base64.b64encode(value).decode()}" if value else '!!binary ""'
    if isinstance(value, str):
        return _string_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = double_text(value)
        return {"NaN": ".nan", "Infinity": ".inf", "-Infinity": "-.inf"}.get(text, text)
    return "null" if value is None else str(value)


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


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML 1.2 text, as Flink's Java reads it: dates remain texts.

    Raises:
        ValueError: the text is not valid YAML.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.Resolver = _core_resolver()
    try:
        return yaml.load(text)
    except YAMLError as error:
        raise ValueError(f"{text!r} is not valid YAML: {error}") from error


def parse_python_yaml(text: str) -> Any:
    """Return the value of a YAML text, as PyFlink's Python reads it.

    Raises:
        ruamel.yaml.error.YAMLError: the text is not valid YAML.
    """
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(text)


def _key_text(key: Any) -> str:
    text = yaml_text(key)
    return f"? {text} " if key == "" or (isinstance(key, str) and "\n" in key) else text


def _string_text(text: str) -> str:
    if _UNPRINTABLE.search(text):
        return f'"{_ESCAPED.sub(_escape, text)}"'
    plain = not (
        _UNSAFE_START.match(text) or _UNSAFE_INSIDE.search(text) or _NOT_A_STRING.fullmatch(text)
    )
    return text if plain else "'" + text.replace("'", "''") + "'"


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return f"\\{_ESCAPES[char]}" if char in _ESCAPES else f"\\x{ord(char):02x}"


@functools.cache
def _core_resolver() -> type:
    """Return what tells YAML 1.2's scalars from texts; the library's own knows more kinds."""
    from ruamel.yaml.resolver import BaseResolver

    class CoreResolver(BaseResolver):
        processing_version = (1, 2)

        def __init__(self, version: Any = None, loader: Any = None, loadumper: Any = None) -> None:
            super().__init__(loader if loadumper is None else loadumper)

    for name, (pattern, first) in _SCALARS.items():
        CoreResolver.add_implicit_resolver_base(
            f"tag:yaml.org,2002:{name}", re.compile(f"^(?:{pattern})$"), first
        )
    return CoreResolver
