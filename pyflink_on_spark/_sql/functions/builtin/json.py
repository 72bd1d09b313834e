"""Functions of JSON, and of VARIANT."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NoReturn

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.definitions import calling
from pyflink_on_spark._sql.plan.expressions import Constant, Typed
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
    CallSite,
    Code,
    Nulls,
    Overload,
    ScalarFunction,
    always,
    any_type,
    booleans,
    characters,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import to_decimal
from pyflink_on_spark._sql.types.json_documents import compact_json, read_exactly, read_json
from pyflink_on_spark._sql.types.json_text import value_writer
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.variants import Variant, parse_variant

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_TO_ESCAPE = re.compile(r'["\\/\x08\f\n\r\t]|[^\x00-\x7f]')
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_WELL_FORMED = re.compile(r'(?:[^\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*', re.DOTALL)


def json_quote(text: str) -> str:
    """Return a text as a string of JSON in ASCII."""
    return f'"{_TO_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPED:
        return _ESCAPED[character]
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def json_unquote(text: str) -> str:
    """Return the text of a JSON string; any other text is returned unchanged."""
    inner = text[1:-1]
    if len(text) < 2 or text[0] != '"' or text[-1] != '"' or not _WELL_FORMED.fullmatch(inner):
        return text
    plain = _ESCAPE.sub(_plain, inner)
    return plain.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def _plain(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return _ESCAPES[letter] if code is None else chr(int(code, 16))


_JSON_QUOTES = tuple(
    ScalarFunction(name, (Overload((characters,), always(logical.STRING), calling(function)),))
    for name, function in (("JSON_QUOTE", json_quote), ("JSON_UNQUOTE", json_unquote))
)


_MODE = re.compile(r"\s*(strict|lax)\s+", re.IGNORECASE)
_STEP = re.compile(
    r"\.([A-Za-z_$][\w$]*)|\.\*|\[\*\]|\[(-?\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\.\.(\w+)"
)
_RETURNED = {
    "STRING": logical.STRING,
    "VARCHAR": logical.STRING,
    "BOOLEAN": logical.BOOLEAN,
    "INTEGER": logical.INT,
    "INT": logical.INT,
    "DOUBLE": logical.DOUBLE,
}


class JsonPathError(ValueError):
    """A path leads nowhere in a strict mode, or a text is no JSON."""


@lru_cache(maxsize=512)
def _path(text: str) -> tuple[bool, tuple[object, ...]]:
    """Return whether a path is strict, and its steps: names, positions and None for all."""
    mode = _MODE.match(text)
    path = text[mode.end() :] if mode else text
    if not path.startswith("$"):
        raise ValueError(f"Illegal JSON path: {text}")
    steps: list[object] = []
    position = 1
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            raise ValueError(f"Illegal JSON path: {text}")
        name, index, quoted, deep = found.groups()
        if deep is not None:
            raise ValueError(f"A JSON path with .. is not supported yet: {text}")
        steps.append(int(index) if index is not None else name if name is not None else quoted)
        position = found.end()
    return mode is None or mode[1].lower() == "strict", tuple(steps)


def _find(text: str, path: str) -> object:
    """Return the value at a path, a list if the path names several, and None if it is not there.

    Raises:
        JsonPathError: the text is no JSON, or a strict path does not exist in the document.
    """
    strict, steps = _path(path)
    try:
        found = [read_exactly(text)]
    except ValueError:
        raise JsonPathError(f"{text!r} is no JSON") from None
    for step in steps:
        strict = strict and step is not None
        found = [each for value in found for each in _step(value, step, strict)]
    if None in steps:
        return found
    return found[0] if found else None


def _step(value: object, step: object, strict: bool) -> list[object]:
    if step is None:
        if isinstance(value, dict):
            return list(value.values())
        return value if isinstance(value, list) else []
    if isinstance(step, int):
        if isinstance(value, list) and -len(value) <= step < len(value):
            return [value[step]]
    elif isinstance(value, dict) and step in value:
        return [value[step]]
    if strict:
        raise JsonPathError(f"No results for path step {step!r}")
    return []


def json_value(
    text: str, path: str, on_empty: str, empty: object, on_error: str, error: object
) -> object:
    """Return the scalar that a path leads to; a number with a fraction is a Decimal."""
    try:
        found = _find(text, path)
        if isinstance(found, dict | list) and _path(path)[0]:
            raise JsonPathError(f"The result of JSON_VALUE is no scalar for path {path!r}")
    except JsonPathError:
        if on_error == "ERROR":
            raise
        return error
    if found is None and _path(path)[0]:
        return None
    if found is None or isinstance(found, dict | list):
        if on_empty == "ERROR":
            raise ValueError(f"Empty result of JSON_VALUE function for path {path!r}")
        return empty
    return found


def json_exists(text: str, path: str, on_error: str = "FALSE") -> bool | None:
    """True if a path leads to a value in a document."""
    try:
        return _find(text, path) is not None
    except JsonPathError:
        if on_error == "ERROR":
            raise
        return {"TRUE": True, "FALSE": False}.get(on_error)


_DOCUMENTS = {"EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}


def json_query(
    text: str, path: str, wrapper: str, on_empty: str = "NULL", on_error: str = "NULL"
) -> str | None:
    """Return the object or the array that a path leads to."""
    try:
        found = _find(text, path)
        wrapped = wrapper == "UNCONDITIONAL" or (
            wrapper == "CONDITIONAL" and not isinstance(found, list)
        )
        if found is not None and wrapped:
            found = [found]
        scalar = found is not None and not isinstance(found, dict | list)
        if scalar and _path(path)[0]:
            raise JsonPathError(f"A strict path of JSON_QUERY leads to the scalar {found!r}")
    except JsonPathError:
        if on_error == "ERROR":
            raise
        return _DOCUMENTS.get(on_error)
    if found is None or scalar:
        if on_empty == "ERROR":
            raise ValueError(f"Empty result of JSON_QUERY function for path {path!r}")
        return _DOCUMENTS.get(on_empty)
    return compact_json(found)


def is_json(text: str, kind: str) -> bool:
    """True if a text is JSON of a certain kind."""
    try:
        value = read_json(text)
    except ValueError:
        return False
    if kind == "OBJECT":
        return isinstance(value, dict)
    if kind == "ARRAY":
        return isinstance(value, list)
    return kind != "SCALAR" or not isinstance(value, dict | list)


def _value_type(_args: Sequence[Typed], symbols: tuple[str, ...]) -> LogicalType:
    if not symbols:
        return logical.STRING
    if symbols[0] not in _RETURNED:
        raise ValidationError(f"Unsupported type '{symbols[0]}' for RETURNING in JSON_VALUE().")
    return _RETURNED[symbols[0]]


def _value_code(site: CallSite) -> str:
    """The symbols: the type that is returned, and what happens for nothing and for errors."""
    _, on_empty, on_error = site.symbols or ("STRING", "NULL", "NULL")
    name = site.bind(json_value, "json_value")
    text, path = site.source(0), site.source(1)
    defaults = [_default(site, arg) for arg in site.args[2:]]
    empty = defaults.pop(0) if on_empty == "DEFAULT" else "None"
    error = defaults.pop(0) if on_error == "DEFAULT" else "None"
    call = f"{name}({text}, {path}, {on_empty!r}, {empty}, {on_error!r}, {error})"
    read = site.bind(_READERS[site.type.root], "returned")
    return f"{read}({call})"


def _default(site: CallSite, arg: Typed) -> str:
    if not isinstance(arg, Constant):
        raise ValidationError("A DEFAULT of JSON_VALUE has to be a constant.")
    if site.type.root is Root.DOUBLE:
        return f"float({arg.value!r})"  # it takes no number of SQL
    if arg.type.root is Root.DECIMAL and site.type.root is Root.VARCHAR:
        return repr(str(to_decimal(arg.value, arg.type.scale or 0)))
    return repr(arg.value)


def returned_text(value: object) -> str | None:
    """Return a scalar of JSON as a text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool) else str(value)


def returned_boolean(value: object) -> bool | None:
    """Return a scalar of JSON that is true or false.

    Raises:
        TypeError: it is something else.
    """
    return _returned(value, "Boolean", value is None or isinstance(value, bool))  # type: ignore[return-value]


def returned_integer(value: object) -> int | None:
    """Return a scalar of JSON that is a whole number of 32 bits.

    Raises:
        TypeError: it is something else.
    """
    fits = value is None or (type(value) is int and -(2**31) <= value < 2**31)
    return _returned(value, "Integer", fits)  # type: ignore[return-value]


def returned_double(value: object) -> float | None:
    """Return a scalar of JSON that is a number with a fraction or an exponent.

    Raises:
        TypeError: it is something else, a whole number as well.
    """
    found = _returned(value, "Double", value is None or isinstance(value, Decimal))
    return None if found is None else float(found)  # type: ignore[arg-type]


def _returned(value: object, kind: str, fits: bool) -> object:
    if not fits:
        raise TypeError(f"JSON_VALUE found {value!r}, which cannot be cast to java.lang.{kind}")
    return value


_READERS: dict[Root, Callable[[object], object]] = {
    Root.VARCHAR: returned_text,
    Root.BOOLEAN: returned_boolean,
    Root.INT: returned_integer,
    Root.DOUBLE: returned_double,
}


def _query_code(site: CallSite) -> str:
    symbols = site.symbols or ("WITHOUT",)
    name = site.bind(json_query, "json_query")
    return f"{name}({', '.join([*site.sources(), *map(repr, symbols)])})"


def _exists_code(site: CallSite) -> str:
    name = site.bind(json_exists, "json_exists")
    return f"{name}({', '.join([*site.sources(), *map(repr, site.symbols)])})"


def _is_json(negated: bool) -> Code:
    def code(site: CallSite) -> str:
        kind = (site.symbols or ("VALUE",))[0]
        call = f"{site.bind(is_json, 'is_json')}({site.source(0)}, {kind!r})"
        return f"not {call}" if negated else call

    return code


def _written(site: CallSite, index: int) -> str:
    kind = site.types[index]
    source = site.source(index)
    if _is_json_call(site.args[index]):
        return source
    if kind.root is Root.NULL:
        raise ValidationError("Type is not supported: ANY")
    if kind.root in {Root.DATE, Root.TIME}:
        raise ValidationError(f"Type '{kind}' is not scalar or cannot be converted into JSON.")
    writer = site.bind(value_writer(kind), "json_text")
    return f"{writer}({source})"


def _is_json_call(arg: Typed) -> bool:
    """True for an argument that is JSON already, and must not be quoted inside other JSON."""
    function = getattr(arg, "function", None)
    return function is not None and function.name in {
        "JSON_OBJECT", "JSON_ARRAY", "JSON_QUERY", "$JSON",
    }  # fmt: skip


def _object_code(site: CallSite) -> str:
    absent = "ABSENT" in site.symbols
    pairs = [
        f"({site.source(index)}, {_written(site, index + 1)})"
        for index in range(0, len(site.args), 2)
    ]
    name = site.bind(made_object, "made_object")
    return f"{name}(({''.join(pair + ', ' for pair in pairs)}), {absent})"


def made_object(pairs: tuple[tuple[str, str], ...], absent: bool) -> str:
    """Return an object of names and JSON."""
    kept = [(key, value) for key, value in pairs if not (absent and value in {"null", None})]
    written = [f"{json.dumps(key, ensure_ascii=False)}:{value or 'null'}" for key, value in kept]
    return "{" + ",".join(written) + "}"


def _array_code(site: CallSite) -> str:
    keeps_null = "NULL" in site.symbols
    items = [_written(site, index) for index in range(len(site.args))]
    name = site.bind(made_array, "made_array")
    return f"{name}(({''.join(item + ', ' for item in items)}), {keeps_null})"


def made_array(items: tuple[str, ...], keeps_null: bool) -> str:
    """Return an array of JSON."""
    kept = [item or "null" for item in items if keeps_null or item not in {"null", None}]
    return "[" + ",".join(kept) + "]"


def compact(text: str) -> str:
    """Return JSON without spaces.

    Raises:
        ValueError: the text is no JSON.
    """
    return compact_json(read_json(text))


def _no_json_here(_site: CallSite) -> NoReturn:
    raise ValidationError(
        "The JSON() function is currently only supported inside JSON_ARRAY() or as the VALUE "
        "param of JSON_OBJECT(). Example: JSON_OBJECT('a', JSON('{\"key\": \"value\"}')) or "
        'JSON_ARRAY(JSON(\'{"key": "value"}\')).'
    )


def _string_code(site: CallSite) -> str:
    return "None" if site.types[0].root is Root.NULL else _written(site, 0)


_STRING = logical.STRING
_NOT_NULL = logical.STRING.with_nullable(False)

_JSON = (
    ScalarFunction(
        "JSON_VALUE",
        (
            Overload(
                (characters, characters, any_type, any_type),
                always(_STRING),
                _value_code,
                Nulls.STRICT_NULLABLE,
                optional=2,
                shape=_value_type,
            ),
        ),
    ),
    ScalarFunction(
        "JSON_EXISTS",
        (
            Overload(
                (characters, characters),
                always(logical.BOOLEAN),
                _exists_code,
                Nulls.STRICT_NULLABLE,
            ),
        ),
    ),
    ScalarFunction(
        "JSON_QUERY",
        (Overload((characters, characters), always(_STRING), _query_code, Nulls.STRICT_NULLABLE),),
    ),
    ScalarFunction("JSON_STRING", (Overload((any_type,), always(_STRING), _string_code),)),
    ScalarFunction(
        "JSON", (Overload((characters,), always(_STRING), _no_json_here),), foldable=False
    ),
    ScalarFunction(
        "$JSON", (Overload((characters,), always(_STRING), calling(compact)),), foldable=False
    ),
    ScalarFunction(
        "JSON_OBJECT",
        (
            Overload((), always(_NOT_NULL), _object_code, Nulls.CALLED),
            Overload(
                (characters, any_type),
                always(_NOT_NULL),
                _object_code,
                Nulls.CALLED,
                variadic=True,
                alternating=True,
            ),
        ),
    ),
    ScalarFunction(
        "JSON_ARRAY",
        (
            Overload((), always(_NOT_NULL), _array_code, Nulls.CALLED),
            Overload((any_type,), always(_NOT_NULL), _array_code, Nulls.CALLED, variadic=True),
        ),
    ),
    ScalarFunction("IS JSON", (Overload((characters,), always(logical.BOOLEAN), _is_json(False)),)),
    ScalarFunction(
        "IS NOT JSON", (Overload((characters,), always(logical.BOOLEAN), _is_json(True)),)
    ),
)


_RESULT = logical.varchar(2000).with_nullable(False)
Slots = Sequence[str]


class _Array(AggregateCode):
    initial = ("[]",)

    def __init__(self, keeps_null: bool) -> None:
        self.takes_null = keeps_null

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}.append({args[0]} or 'null')"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        item = f"({args[0]} or 'null')"
        return [f"if {item} in {slots[0]}: {slots[0]}.remove({item})"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{slots[0]} += {others[0]}"]

    def value(self, slots: Slots) -> str:
        return f"('[' + ','.join({slots[0]}) + ']')"


class _Object(AggregateCode):
    initial = ("{}",)
    takes_null = True

    def __init__(self, keeps_null: bool, binder: Binder) -> None:
        self._keeps_null = keeps_null
        self._put = binder.bind(put, "put")
        self._put_all = binder.bind(put_all, "put_all")
        self._written = binder.bind(written, "written")

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        call = f"{self._put}({slots[0]}, {args[0]}, {args[1]} or 'null')"
        return [call if self._keeps_null else f"if {args[1]} is not None: {call}"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}.pop({args[0]}, None)"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{self._put_all}({slots[0]}, {others[0]})"]

    def value(self, slots: Slots) -> str:
        return f"{self._written}({slots[0]})"


def put(found: dict[str, str], key: str | None, value: str) -> None:
    """Add a field to an object.

    Raises:
        ValueError: there is one of that name, or the name is NULL.
    """
    if key is None:
        raise ValueError("Key must not be NULL")
    if key in found:
        raise ValueError(
            f"Key '{key}' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. "
            "Please ensure that keys are unique."
        )
    found[key] = value


def put_all(found: dict[str, str], others: dict[str, str]) -> None:
    """Add the fields of another object."""
    for key, value in others.items():
        put(found, key, value)


def written(found: dict[str, str]) -> str:
    """Return an object as JSON, with its fields in the order of their names."""
    fields = (
        f"{json.dumps(key, ensure_ascii=False)}:{value}" for key, value in sorted(found.items())
    )
    return "{" + ",".join(fields) + "}"


def _array(keeps_null: bool) -> Callable[..., AggregateCode]:
    return lambda binder, types, result, retracting: _Array(keeps_null)


def _object(keeps_null: bool) -> Callable[..., AggregateCode]:
    return lambda binder, types, result, retracting: _Object(keeps_null, binder)


def _result(_types: Sequence[LogicalType]) -> LogicalType:
    return _RESULT


def _function(name: str, parameters: Any, code: Callable[..., AggregateCode]) -> AggregateFunction:
    overload = AggregateOverload(parameters, _result, code)
    shown = ", ".join("<CHARACTER>" if each is characters else "<ANY>" for each in parameters)
    return AggregateFunction(name, (overload,), forms=(f"'{name}({shown})'",))


_JSON_AGGREGATES = tuple(
    _function(f"{name}_{word}_ON_NULL", parameters, code(word == "NULL"))
    for name, parameters, code in (
        ("JSON_ARRAYAGG", (any_type,), _array),
        ("JSON_OBJECTAGG", (characters, any_type), _object),
    )
    for word in ("NULL", "ABSENT")
)


def parse_json(text: str, allow_duplicates: bool = False) -> Variant:
    """Read JSON.

    Raises:
        ValueError: the text is no JSON.
    """
    try:
        return parse_variant(text, allow_duplicates)
    except ValueError as error:
        raise ValueError(f"Failed to parse json string: {text}: {error}") from None


def try_parse_json(text: str, allow_duplicates: bool = False) -> Variant | None:
    """Read JSON; return None for a text that is not JSON."""
    try:
        return parse_variant(text, allow_duplicates)
    except ValueError:
        return None


_VARIANTS = (
    ScalarFunction(
        "PARSE_JSON",
        (
            Overload(
                (characters, booleans), always(logical.VARIANT), calling(parse_json), optional=1
            ),
        ),
    ),
    ScalarFunction(
        "TRY_PARSE_JSON",
        (
            Overload(
                (characters, booleans),
                always(logical.VARIANT),
                calling(try_parse_json),
                Nulls.STRICT_NULLABLE,
                optional=1,
            ),
        ),
    ),
)


FUNCTIONS = (*_JSON_QUOTES, *_JSON, *_JSON_AGGREGATES, *_VARIANTS)
