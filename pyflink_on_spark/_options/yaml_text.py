"""The YAML in which Flink writes and reads the values of options."""

from __future__ import annotations

import base64
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
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

_LONGEST_SIMPLE_KEY = 122
_WIDTH = 80
"""Of a line, and as the length of a key in the characters of Java, which are those of UTF-16."""


def yaml_text(value: Any) -> str:
    """Write a value as Flink writes the value of an option: on one line, apart from long keys.

    Args:
        value: a map, list, text, number, truth value, bytes or None.
    """
    writer = _Writer()
    writer.value(value)
    return writer.text()


class _Writer:
    """Writes values one after the other."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._column = 0
        self._depth = 0

    def text(self) -> str:
        """Return the written text."""
        return "".join(self._parts)

    def value(self, value: Any) -> None:
        """Write a value."""
        if isinstance(value, Mapping):
            self._enclosed("{", value.items(), self._entry, "}")
        elif isinstance(value, list | tuple):
            self._enclosed("[", value, self.value, "]")
        else:
            self._write(_scalar_text(value))

    def _write(self, text: str) -> None:
        self._parts.append(text)
        _, line_end, after = text.rpartition("\n")
        self._column = _java_length(after) + (0 if line_end else self._column)

    def _enclosed(
        self, begin: str, items: Iterable[Any], write: Callable[[Any], None], end: str
    ) -> None:
        self._write(begin)
        self._depth += 1
        for number, item in enumerate(items):
            if number:
                self._write(", ")
            write(item)
        self._depth -= 1
        self._write(end)

    def _entry(self, entry: tuple[Any, Any]) -> None:
        key, value = entry
        if _needs_question_mark(key):
            self._write("? ")
            self.value(key)
            fits = self._column <= _WIDTH
            self._write(" " if fits else "\n" + "  " * self._depth)
        else:
            self.value(key)
        self._write(": ")
        self.value(value)


def _needs_question_mark(key: Any) -> bool:
    """True for a YAML key that needs a question mark: it is empty, long or has several lines."""
    if not isinstance(key, str):
        return False
    return key == "" or "\n" in key or _java_length(key) > _LONGEST_SIMPLE_KEY


def _java_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _scalar_text(value: Any) -> str:
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
    """Return the resolver of YAML 1.2's scalars; the library's own knows more kinds."""
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
