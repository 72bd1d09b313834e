"""Options, and their values: as text and YAML, read from a configuration and written to one."""

from __future__ import annotations

import base64
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, TypedDict, TypeVar, Unpack

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
_LAST = 65535
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


def checked_long(value: object, call: str) -> int:
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


def option_text(value: object) -> str:
    """Write the value of an option as ``Configuration.to_dict()`` shows it."""
    if isinstance(value, str):
        return value
    return (
        duration_text(value._to_millis()) if isinstance(value, AmountOfTime) else yaml_text(value)
    )


def parse_boolean(value: object) -> bool:
    """Read true or false, in any case."""
    text = option_text(value).lower()
    if text not in {"true", "false"}:
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


def parse_int(value: object) -> int:
    """Read a whole number of 32 bits."""
    return _whole_number(value, 31)


def parse_long(value: object) -> int:
    """Read a whole number of 64 bits."""
    return _whole_number(value, 63)


def _whole_number(value: object, bits: int) -> int:
    text = option_text(value)
    if not re.fullmatch(r"[-+]?\d+", text):
        raise ValueError(f"{text!r} is not a whole number")
    number = int(text)
    if not -(2**bits) <= number < 2**bits:
        raise ValueError(f"{text!r} does not fit into {bits + 1} bits")
    return number


def parse_double(value: object) -> float:
    """Read a number as Java does: without underscores, ``NaN`` and ``Infinity`` spelled out."""
    if isinstance(value, float):
        return value
    text = option_text(value).strip()
    if _JAVA_HEX_DOUBLE.fullmatch(text):
        return float.fromhex(text.rstrip("dDfF"))
    if not _JAVA_DOUBLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("dDfF"))


def parse_bytes(value: object) -> bytearray:
    """Return bytes that were stored as bytes."""
    if not isinstance(value, bytes | bytearray):
        raise ValueError("it does not hold bytes")
    return bytearray(value)


def parse_duration_ms(value: object) -> int:
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


def parse_list(value: object) -> list[str]:
    """Read ``a;b``, ``[a, b]`` or one ``- a`` a line as a list of texts."""
    if not isinstance(value, list):
        text = option_text(value)
        value = _yaml_or_none(text)
        if not isinstance(value, list):
            return [item.strip() for item in text.split(";") if item.strip()]
    return [option_text(item) for item in value]


def parse_map(value: object) -> dict[str, str]:
    """Read ``{k: v, l: w}``, one ``k: v`` a line, or ``k:v,l:w`` as a map of texts."""
    if not isinstance(value, Mapping):
        text = option_text(value)
        value = _yaml_or_none(text)
        if not isinstance(value, dict) or None in (*value, *value.values()):
            return dict(_entry(item) for item in _split(text, ","))
    return {option_text(key): option_text(item) for key, item in value.items()}


def _yaml_or_none(text: str) -> object:
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


def memory_text(size: int) -> str:
    """Write a number of bytes in the largest unit that needs no fraction: ``20 kb``."""
    if size == 0:
        return "0 bytes"
    unit, factor = next((u, f) for u, f in _UNITS.items() if size % f == 0)
    return f"{size // factor} {unit}"


def parse_memory_bytes(value: object) -> int:
    """Read ``20 kb`` or ``20480`` as a number of bytes."""
    text = option_text(value).strip()
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.lower())
    if found is None or found[2] not in _BYTES_BY_NAME:
        raise ValueError(f"{text!r} is not an amount of memory, such as '20 kb'")
    return int(found[1]) * _BYTES_BY_NAME[found[2]]


def parse_ports(text: str) -> tuple[int, ...]:
    """Return the ports; 0 stands for any free one.

    Raises:
        ValueError: the text is not a list of ports and ranges.
    """
    ports: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            found = range(int(first), int(last or first) + 1)
        except ValueError:
            found = range(0)
        if not found or found[0] < 0 or found[-1] > _LAST:
            raise ValueError(f"expected ports such as 50100 or 50100-50200, not {text!r}")
        ports += found
    return tuple(ports)


def check_ports(text: str) -> None:
    """Raise ValueError unless a text is a list of ports and ranges."""
    parse_ports(text)


def yaml_text(value: object) -> str:
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

    def value(self, value: object) -> None:
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
        self, begin: str, items: Iterable[object], write: Callable[[Any], None], end: str
    ) -> None:
        self._write(begin)
        self._depth += 1
        for number, item in enumerate(items):
            if number:
                self._write(", ")
            write(item)
        self._depth -= 1
        self._write(end)

    def _entry(self, entry: tuple[object, object]) -> None:
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


def _needs_question_mark(key: object) -> bool:
    """True for a YAML key that needs a question mark: it is empty, long or has several lines."""
    if not isinstance(key, str):
        return False
    return key == "" or "\n" in key or _java_length(key) > _LONGEST_SIMPLE_KEY


def _java_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _scalar_text(value: object) -> str:
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


def parse_yaml(text: str) -> object:
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


def parse_python_yaml(text: str) -> object:
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

        def __init__(
            self, version: object = None, loader: object = None, loadumper: object = None
        ) -> None:
            super().__init__(loader if loadumper is None else loadumper)

    for name, (pattern, first) in _SCALARS.items():
        CoreResolver.add_implicit_resolver_base(
            f"tag:yaml.org,2002:{name}", re.compile(f"^(?:{pattern})$"), first
        )
    return CoreResolver


T = TypeVar("T")
Int = TypeVar("Int", bound=int | None)
Float = TypeVar("Float", bound=float | None)
Text = TypeVar("Text", bound=str | None)


class Details(TypedDict, total=False):
    """The optional details of an option of any type: see ``Option``."""

    effect: Effect
    former: tuple[str, ...]
    check: Callable[[Any], None]


def boolean(key: str, default: bool, **details: Unpack[Details]) -> Option[bool]:
    """Declare an option that is true or false."""
    return Option(key, "boolean", parse_boolean, default, _only(bool), **details)


def integer(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an integer of 32 bits."""
    return Option(key, "integer", parse_int, default, **details)


def long(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an integer of 64 bits."""
    return Option(key, "long", parse_long, default, **details)


def double(key: str, default: Float, **details: Unpack[Details]) -> Option[float | Float]:
    """Declare an option that is a floating-point number."""
    return Option(key, "double", parse_double, default, **details)


def text(key: str, default: Text, **details: Unpack[Details]) -> Option[str | Text]:
    """Declare an option that is any text."""
    return Option(key, "string", option_text, default, _only(str), **details)


def choice(
    key: str, names: tuple[str, ...], default: Text, **details: Unpack[Details]
) -> Option[str | Text]:
    """Declare an option that is one of some names, in upper or lower case.

    Args:
        key: the option's key.
        names: the names, in upper case; a value is one of them.
        default: the value when the option is not set.
        details: see ``Option``.
    """

    def parse(value: object) -> str:
        name = option_text(value).upper()
        if name not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return name

    return Option(key, " | ".join(names), parse, default, **details)


def duration(key: str, default_ms: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an amount of time; its value is in milliseconds."""
    return Option(
        key, "duration", parse_duration_ms, default_ms, AmountOfTime.from_millis, **details
    )


def memory(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an amount of memory; its value is in bytes."""
    return Option(key, "memory size", parse_memory_bytes, default, memory_text, **details)


def text_list(key: str, **details: Unpack[Details]) -> Option[list[str]]:
    """Declare an option that is a list of texts, empty when it is not set."""
    return Option(key, "list", parse_list, [], list, **details)


def text_map(key: str, **details: Unpack[Details]) -> Option[dict[str, str]]:
    """Declare an option that is a map of texts, empty when it is not set."""
    return Option(key, "map", parse_map, {}, dict, spread=True, **details)


def _only(kind: type[T]) -> Callable[[Any], T]:
    """Return a function that stores values of one type, and raises TypeError for others."""

    def store(value: object) -> T:
        if not isinstance(value, kind):
            raise TypeError(f"expected a {kind.__name__}, not {value!r}")
        return value

    return store


def at_least(least: int, message: str, unset: int | None = None) -> Callable[[int | None], None]:
    """Return a check that raises ValueError with a message for smaller values.

    Args:
        least: the smallest value that the check accepts.
        message: of the error.
        unset: a smaller value that stands for none.
    """

    def check(value: int | None) -> None:
        if value is not None and value < least and value != unset:
            raise ValueError(message)

    return check


@dataclass(frozen=True)
class Effect:
    """The effect of an option on Spark.

    Args:
        recorded: whether the option is only kept, and does nothing.
        text: for a recorded option, why it has no effect; otherwise what the reader of
            ``docs/reference/options.md`` has to know beyond Flink's own description, or nothing.
        harmless: values, other than the default, that a recorded option may have without a note.
        needs: the option that has to be set for this one to work.
    """

    recorded: bool = False
    text: str = ""
    harmless: tuple[object, ...] = ()
    needs: Option[object] | None = None


def works(text: str = "", needs: Option[Any] | None = None) -> Effect:
    """Describe the effect of an option that works.

    Args:
        text: what differs from Flink, or for an own option what it does.
        needs: the option without which this one has no effect; ``text`` then says why.
    """
    return Effect(text=text, needs=needs)


def recorded(reason: str, harmless: tuple[object, ...] = ()) -> Effect:
    """Describe an option that has no effect.

    A job whose configuration gives the option another value than the default logs the reason.

    Args:
        reason: why the option has no effect, or what to use instead.
        harmless: other values for which nothing is lost and nothing is logged.
    """
    return Effect(True, reason, harmless)


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option of a configuration.

    Args:
        key: its name.
        kind: its type, as the documentation names it.
        parse: turns what a configuration holds into a value; raises ValueError.
        default: its value when it is not set.
        store: turns a value into what a configuration holds.
        former: other keys that are read when the key is not set, in this order.
        effect: what the option does on Spark.
        check: raises ValueError if a value is out of bounds.
        spread: whether the value may be spread over keys that begin with ``<key>.``.
    """

    key: str
    kind: str
    parse: Callable[[object], T]
    default: T
    store: Callable[[Any], object] = field(default=lambda value: value)
    former: tuple[str, ...] = ()
    effect: Effect = Effect()
    check: Callable[[T], None] = field(default=lambda value: None)
    spread: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The key and the former keys, in the order in which they are looked up."""
        return (self.key, *self.former)

    def key_in(self, values: Mapping[str, object]) -> str | None:
        """Return the key under which a configuration has the option; None if it is not set."""
        return next((key for key in self.keys if key in values), None)

    def is_set(self, values: Mapping[str, object]) -> bool:
        """True if a configuration has the option, under any of its keys."""
        return self.key_in(values) is not None or bool(self._spread(values))

    def read(self, values: Mapping[str, object]) -> T:
        """Return the option's value in a configuration, or the default.

        Raises:
            ValueError: the configuration holds a value that the option cannot have.
        """
        key = self.key_in(values)
        if key is not None:
            value = parsed(key, values[key], self.parse)
        elif entries := self._spread(values):
            value = parsed(self.key, entries, self.parse)
        else:
            return self.default
        self.check(value)
        return value

    def write(self, values: MutableMapping[str, object], value: T) -> None:
        """Set the option in a configuration.

        Raises:
            ValueError: the option cannot have the value.
        """
        self.check(value)
        if self.spread:
            self.remove(values)
        values[self.key] = self.store(value)

    def remove(self, values: MutableMapping[str, object]) -> None:
        """Unset the option, under all of its keys."""
        spread = [f"{self.key}.{name}" for name in self._spread(values)]
        for key in (*self.keys, *spread):
            values.pop(key, None)

    def _spread(self, values: Mapping[str, object]) -> dict[str, object]:
        if not self.spread:
            return {}
        start = f"{self.key}."
        return {key[len(start) :]: item for key, item in values.items() if key.startswith(start)}


@dataclass(frozen=True)
class OptionPrefix:
    """Options whose keys end with a name that the user chooses, such as that of an account.

    Args:
        prefix: what all the keys begin with.
        name: what the rest of a key stands for.
        effect: what the options do on Spark.
    """

    prefix: str
    name: str
    effect: Effect = Effect()

    def read(self, name: str, values: Mapping[str, object]) -> str | None:
        """Return the text of the option for a name, or None if it is not set."""
        value = values.get(f"{self.prefix}{name}")
        return None if value is None else option_text(value)


def parsed(key: str, value: object, parse: Callable[[object], T]) -> T:
    """Return the value of an option.

    Args:
        key: the option's key, for the message.
        value: what the configuration holds.
        parse: turns it into the option's value.

    Raises:
        ValueError: it names the key and the value.
    """
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(
            f"Could not parse value '{option_text(value)}' for key '{key}': {error}"
        ) from error
