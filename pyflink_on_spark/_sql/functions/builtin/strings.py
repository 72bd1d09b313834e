"""Functions of strings: LIKE, parts, cases, paddings, addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote_plus, unquote_plus, urlsplit

from pyflink_on_spark._sql.codegen.program import Limits
from pyflink_on_spark._sql.functions.definitions import (
    calling,
    calling_limited,
    function_of,
    inline,
    limited,
)
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Code,
    Nulls,
    Overload,
    ScalarFunction,
    always,
    any_type,
    as_bigint,
    as_int,
    as_text,
    characters,
    like,
    of,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str | None = None) -> re.Pattern[str]:
    """Return the regular expression of a pattern of LIKE.

    What stands between two ``%`` is found where it comes first, and is not looked for again
    further on, so that no pattern takes exponential time.

    Raises:
        ValueError: the escape character is not before %, _ or itself.
    """
    pieces = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            following = next(letters, "")
            if following not in {"%", "_", escape}:
                raise ValueError(f"Invalid escape sequence '{pattern}'")
            pieces[-1] += re.escape(following)
        elif letter == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if letter == "_" else re.escape(letter)
    first, *inner = pieces
    last = f".*{inner.pop()}" if inner else ""
    between = "".join(f"(?>.*?{piece})" for piece in inner if piece)
    return re.compile(first + between + last, re.DOTALL)


def matches_like(text: str, pattern: str, escape: str | None = None) -> bool:
    """True if a text is LIKE a pattern."""
    return like_pattern(pattern, escape).fullmatch(text) is not None


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """Return a part; positions count from 1, or from the end if they are negative."""
    if length is not None and length < 0:
        return None
    if start > 0:
        begin = start - 1
    elif start < 0:
        begin = len(text) + start
        if begin < 0:
            return ""
    else:
        begin = 0
    return text[begin:] if length is None else text[begin : begin + length]


def left(text: str, length: int) -> str:
    """Return the first characters."""
    return text[:length] if length > 0 else ""


def right(text: str, length: int) -> str:
    """Return the last characters."""
    return text[-length:] if length > 0 else ""


def pad_left(limits: Limits, text: str, length: int, padding: str) -> str | None:
    """Return a text of some length, filled up before it."""
    filled = _padding(limits, text, length, padding)
    return None if filled is None else filled + text[:length]


def pad_right(limits: Limits, text: str, length: int, padding: str) -> str | None:
    """Return a text of some length, filled up after it."""
    filled = _padding(limits, text, length, padding)
    return None if filled is None else text[:length] + filled


def _padding(limits: Limits, text: str, length: int, padding: str) -> str | None:
    missing = length - len(text)
    if length < 0 or (missing > 0 and not padding):
        return None
    limits.check(length)
    return "" if missing <= 0 else (padding * (missing // len(padding) + 1))[:missing]


def repeat(limits: Limits, text: str, count: int) -> str:
    """Return a text several times."""
    limits.check(len(text) * count)
    return text * count


def reverse(text: str) -> str:
    """Return a text from its end to its beginning."""
    return text[::-1]


def initcap(text: str) -> str:
    """Return a text with a capital at the beginning of each word."""
    return re.sub(r"[^\W_]+", lambda word: word[0][0].upper() + word[0][1:].lower(), text)


def replace(limits: Limits, text: str, searched: str, replacement: str) -> str:
    """Replace a text in another one everywhere."""
    if (len(text) + 1) * len(replacement) > limits.length:
        grown = len(replacement) - len(searched)
        limits.check(len(text) + text.count(searched) * grown)
    return text.replace(searched, replacement)


def position(searched: str, text: str, start: int = 1) -> int:
    """Return where a text is found in another one, counted from 1; 0 if nowhere."""
    if start < 1:
        return 0
    return text.find(searched, start - 1) + 1


def instr(text: str, searched: str, start: int = 1, occurrence: int = 1) -> int:
    """Return where a text is found for the nth time, counted from 1; 0 if nowhere."""
    found = start - 2
    for _ in range(occurrence):
        found = text.find(searched, found + 1)
        if found < 0:
            return 0
    return found + 1


def trim_both(text: str, characters: str = " ") -> str:
    """Remove some characters at both ends."""
    return text.strip(characters)


def trim_left(text: str, characters: str = " ") -> str:
    """Remove some characters at the beginning."""
    return text.lstrip(characters)


def trim_right(text: str, characters: str = " ") -> str:
    """Remove some characters at the end."""
    return text.rstrip(characters)


def split(text: str, separator: str) -> tuple[str, ...]:
    """Return the parts between separators; an empty text has none."""
    if not text:
        return ()
    if not separator:
        return tuple(text)
    return tuple(text.split(separator))


def split_index(text: str, separator: str, index: int) -> str | None:
    """Return a part between separators, counted from 0; an empty text has none."""
    if index < 0 or not text:
        return None
    parts = text.split(separator) if separator else [text]
    return parts[index] if index < len(parts) else None


def split_index_at_code(text: str, code: int, index: int) -> str | None:
    """Return a part between separators of which the code is given: one from 1 to 255."""
    return split_index(text, chr(code), index) if 1 <= code <= 255 else None


def overlay(text: str, placed: str, start: int, length: int | None = None) -> str:
    """Replace some characters of a text, from a position on."""
    size = len(placed) if length is None else length
    if start <= 0 or start > len(text):
        return text
    return text[: start - 1] + placed + text[start - 1 + max(size, 0) :]


def first_code(text: str) -> int:
    """Return the first byte of a text, with its sign as in Java."""
    first = text.encode()[0] if text else 0
    return first - 256 if first > 127 else first


def character(code: int) -> str:
    """Return the character of a code."""
    return chr(code & 255) if code >= 0 else ""


def concat(*texts: str) -> str:
    """Return texts one after the other."""
    return "".join(texts)


def concat_with(separator: str | None, *texts: str | None) -> str | None:
    """Return texts with a separator between them; NULL is left out."""
    if separator is None:
        return None
    return separator.join([text for text in texts if text is not None])


def is_alpha(text: str) -> bool:
    """True for a text of letters only."""
    return bool(text) and text.isalpha()


def is_digit(text: str) -> bool:
    """True for a text of digits only."""
    return bool(text) and text.isdigit()


def is_decimal(text: str) -> bool:
    """True for the text of a decimal number."""
    return re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text.strip()) is not None


def translate(text: str, searched: str, replacement: str) -> str:
    """Replace characters, each by the one at its place; those without one go."""
    table: dict[int, int | None] = {}
    for index, letter in enumerate(searched):
        replaced = ord(replacement[index]) if index < len(replacement) else None
        table.setdefault(ord(letter), replaced)
    return text.translate(table)


def starts_with(text: str, beginning: str) -> bool:
    """True if a text begins with another one."""
    return text.startswith(beginning)


def ends_with(text: str, end: str) -> bool:
    """True if a text ends with another one."""
    return text.endswith(end)


def encode_url(text: str) -> str:
    """Write a text as a part of a URL."""
    return quote_plus(text, safe="*-._")


def decode_url(text: str) -> str | None:
    """Read a part of a URL."""
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        return None


def parse_url(url: str, part: str, key: str | None = None) -> str | None:
    """Return a part of a URL, or the value of a key of its query."""
    parts = urlsplit(url)
    if not parts.scheme:
        return None
    if key is not None:
        if part != "QUERY":
            return None
        found = re.search(rf"(?:^|&){re.escape(key)}=([^&]*)", parts.query)
        return None if found is None else found[1]
    query = f"?{parts.query}" if parts.query else ""
    known = {
        "HOST": parts.hostname,
        "PATH": parts.path,
        "QUERY": parts.query or None,
        "REF": parts.fragment or None,
        "PROTOCOL": parts.scheme,
        "FILE": parts.path + query,
        "AUTHORITY": parts.netloc,
        "USERINFO": parts.netloc.rpartition("@")[0] or None,
    }
    return known.get(part)


def _joined(types: Sequence[LogicalType]) -> LogicalType:
    length = min(sum(kind.precision or 1 for kind in types), logical.MAX_LENGTH)
    if all(kind.root is Root.CHAR for kind in types):
        return logical.char(length)
    return logical.varchar(length)


def _overlaid(types: Sequence[LogicalType]) -> LogicalType:
    length = sum(kind.precision or 1 for kind in types[:2])
    return logical.varchar(min(length, logical.MAX_LENGTH))


def _like_code(negated: bool) -> Code:
    """Return code for LIKE; a constant pattern becomes a regular expression, or less."""

    def code(site: CallSite) -> str:
        try:
            pattern = site.constant(1)
            escape = site.constant(2) if len(site.args) > 2 else None
        except LookupError:
            call = f"{site.bind(matches_like, 'like')}({', '.join(site.sources())})"
            return f"not {call}" if negated else call
        test = _like_test(site, pattern, escape)
        return f"not {test}" if negated else test

    return code


def _split_index_code(site: CallSite) -> str:
    """Return code for SPLIT_INDEX; with constants it splits no further than it has to."""
    try:
        separator, index = site.constant(1), site.constant(2)
    except LookupError:
        separator = index = None
    if not separator or index is None or index < 0:
        return calling(split_index)(site)
    parts = site.temporary()
    split = f"{parts} := {site.source(0)}.split({separator!r}, {index + 1})"
    some = "" if index else f" and {parts} != ['']"  # an empty text has no parts
    return f"({parts}[{index}] if len({split}) > {index}{some} else None)"


def _like_test(site: CallSite, pattern: str, escape: str | None) -> str:
    value, inner = site.source(0), pattern.strip("%")
    plain = escape is None and "_" not in pattern and "%" not in inner
    if plain and pattern == inner:
        return f"({value} == {pattern!r})"
    if plain and pattern == f"%{inner}%":
        return f"({inner!r} in {value})"
    if plain and pattern == f"{inner}%":
        return f"{value}.startswith({inner!r})"
    if plain and pattern == f"%{inner}":
        return f"{value}.endswith({inner!r})"
    match = site.bind(like_pattern(pattern, escape).fullmatch, "match")
    return f"({match}({value}) is not None)"


def _elt_type(types: Sequence[LogicalType]) -> LogicalType:
    found = common_type(types[1:])
    assert found is not None
    return found.with_nullable(True)


def _first(types: Sequence[LogicalType]) -> LogicalType:
    return logical.varchar(types[0].precision or logical.MAX_LENGTH)


def _concat_code(site: CallSite) -> str:
    return " + ".join(site.sources())


def _concat_ws_code(site: CallSite) -> str:
    join = site.bind(concat_with, "concat_with")
    return f"{join}({', '.join(site.sources())})"


def _concat_ws_type(types: Sequence[LogicalType]) -> LogicalType:
    return logical.STRING.with_nullable(any(kind.nullable for kind in types))


def _trim_code(site: CallSite) -> str:
    where = site.symbols[0] if site.symbols else "BOTH"
    method = {"BOTH": "strip", "LEADING": "lstrip", "TRAILING": "rstrip"}[where]
    sources = site.sources()
    return f"{sources[0]}.{method}({sources[1] if len(sources) > 1 else repr(' ')})"


_DIGITS = 20
_FORMATS = re.compile(r"%[^%a-zA-Z]*")


def printed(limits: Limits, form: str | None, *values: object) -> str | None:
    """Return a text with values in their formats; NULL if a format does not fit."""
    if form is None:
        return None
    formats = _FORMATS.findall(form)
    if any("*" in found for found in formats):
        return None
    widths = [digits for found in formats for digits in re.findall(r"\d+", found)]
    limits.check(sum(int(digits[:_DIGITS]) for digits in widths))
    try:
        return form % tuple("null" if value is None else value for value in values)
    except (TypeError, ValueError):
        return None


def _elt(index: int | None, *texts_: str | None) -> str | None:
    return texts_[index - 1] if index is not None and 0 < index <= len(texts_) else None


_TEXT = logical.STRING
_TWO, _THREE = (characters, characters), (characters, characters, characters)


_STRINGS = (
    ScalarFunction(
        "||",
        (Overload((characters, characters), _joined, inline("{0} + {1}")),),
        ("'<STRING> || <STRING>'", "'<EQUIVALENT_TYPE> || <EQUIVALENT_TYPE>'"),
    ),
    ScalarFunction(
        "UPPER",
        (Overload((characters,), like(), inline("{0}.upper()")),),
        ("'UPPER(<CHARACTER>)'",),
        aliases=("UCASE",),
    ),
    ScalarFunction(
        "LOWER",
        (Overload((characters,), like(), inline("{0}.lower()")),),
        ("'LOWER(<CHARACTER>)'",),
        aliases=("LCASE",),
    ),
    ScalarFunction(
        "CHAR_LENGTH",
        (Overload((characters,), always(logical.INT), inline("len({0})")),),
        ("'CHAR_LENGTH(<CHARACTER>)'",),
        aliases=("CHARACTER_LENGTH",),
    ),
    ScalarFunction("CONCAT", (Overload((as_text,), always(_TEXT), _concat_code, variadic=True),)),
    ScalarFunction(
        "CONCAT_WS",
        (
            Overload(
                (characters, as_text), _concat_ws_type, _concat_ws_code, Nulls.CALLED, variadic=True
            ),
        ),
    ),
    ScalarFunction(
        "TRIM",
        (Overload((characters, characters), _first, _trim_code, optional=1),),
        ("'TRIM([BOTH|LEADING|TRAILING] <STRING1> FROM <STRING2>)'",),
    ),
    function_of("LTRIM", _TWO, _first, trim_left, optional=1),
    function_of("RTRIM", _TWO, _first, trim_right, optional=1),
    function_of("BTRIM", _TWO, _TEXT, trim_both, optional=1),
    function_of(
        "SUBSTRING",
        (characters, as_int, as_int),
        _first,
        substring,
        optional=1,
        nullable=True,
        aliases=("SUBSTR",),
    ),
    function_of("LEFT", (characters, as_int), _first, left, nullable=True),
    function_of("RIGHT", (characters, as_int), _first, right, nullable=True),
    limited("LPAD", (characters, as_int, characters), _TEXT, pad_left),
    limited("RPAD", (characters, as_int, characters), _TEXT, pad_right),
    limited("REPEAT", (characters, as_int), _TEXT, repeat),
    function_of("REVERSE", (characters,), _TEXT, reverse, nullable=True),
    function_of("INITCAP", (characters,), like(), initcap),
    limited("REPLACE", _THREE, _TEXT, replace),
    function_of("POSITION", _TWO, logical.INT, position),
    function_of("LOCATE", (*_TWO, as_int), logical.INT, position, optional=1),
    function_of("INSTR", (*_TWO, as_int, as_int), logical.INT, instr, optional=2),
    function_of("SPLIT", _TWO, logical.array(_TEXT), split),
    ScalarFunction(
        "SPLIT_INDEX",
        (
            Overload(
                (*_TWO, as_int),
                lambda types: _TEXT.with_nullable(True),
                _split_index_code,
                Nulls.STRICT_NULLABLE,
            ),
            Overload(
                (characters, as_int, as_int),
                lambda types: _TEXT.with_nullable(True),
                calling(split_index_at_code),
                Nulls.STRICT_NULLABLE,
            ),
        ),
    ),
    function_of("OVERLAY", (*_TWO, as_int, as_int), _overlaid, overlay, optional=1),
    function_of("ASCII", (characters,), logical.INT, first_code),
    function_of("CHR", (as_bigint,), _TEXT, character, nullable=True),
    function_of("TRANSLATE", _THREE, _TEXT, translate, aliases=("TRANSLATE3",)),
    function_of("STARTSWITH", _TWO, logical.BOOLEAN, starts_with),
    function_of("ENDSWITH", _TWO, logical.BOOLEAN, ends_with),
    function_of("URL_ENCODE", (characters,), _TEXT, encode_url, nullable=True),
    function_of("URL_DECODE", (characters,), _TEXT, decode_url, nullable=True),
    function_of("PARSE_URL", _THREE, _TEXT, parse_url, optional=1, nullable=True),
    function_of("IS_ALPHA", (characters,), logical.BOOLEAN, is_alpha),
    function_of("IS_DIGIT", (characters,), logical.BOOLEAN, is_digit),
    function_of("IS_DECIMAL", (characters,), logical.BOOLEAN, is_decimal),
    ScalarFunction(
        "ELT",
        (Overload((as_int, characters), _elt_type, calling(_elt), Nulls.CALLED, variadic=True),),
    ),
    ScalarFunction(
        "PRINTF",
        (
            Overload(
                (characters, any_type),
                always(_TEXT),
                calling_limited(printed),
                Nulls.CALLED,
                variadic=True,
            ),
        ),
    ),
    ScalarFunction(
        "LIKE",
        (Overload(_THREE, always(logical.BOOLEAN), _like_code(False), optional=1),),
        ("'LIKE(<STRING>, <STRING>, <STRING>)'",),
    ),
    ScalarFunction(
        "NOT LIKE",
        (Overload(_THREE, always(logical.BOOLEAN), _like_code(True), optional=1),),
        ("'NOT LIKE(<STRING>, <STRING>, <STRING>)'",),
    ),
)


_PARTS = re.compile(r"[0-9]+(\.[0-9]+){0,3}")
_LAST = 2**32 - 1


def inet_aton(text: str) -> int | None:
    """Return the number of an address of one to four parts, the last of which stands alone."""
    if not _PARTS.fullmatch(text):
        return None
    *first, last = map(int, text.split("."))
    if last > 255 or any(part > 255 for part in first):
        return None
    return sum(part << (24 - 8 * index) for index, part in enumerate(first)) + last


def inet_ntoa(number: int) -> str | None:
    """Return the address of a number."""
    if not 0 <= number <= _LAST:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


_ADDRESSES = (
    ScalarFunction(
        "INET_ATON",
        (
            Overload(
                (characters,), always(logical.BIGINT), calling(inet_aton), Nulls.STRICT_NULLABLE
            ),
        ),
    ),
    ScalarFunction(
        "INET_NTOA",
        (
            Overload(
                (of(Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT),),
                always(logical.STRING),
                calling(inet_ntoa),
                Nulls.STRICT_NULLABLE,
            ),
        ),
    ),
)


FUNCTIONS = (*_STRINGS, *_ADDRESSES)
