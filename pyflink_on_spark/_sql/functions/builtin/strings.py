"""Functions of texts."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.functions.builtin import patterns, texts
from pyflink_on_spark._sql.functions.parameters import (
    always,
    any_type,
    as_bigint,
    as_int,
    as_text,
    calling,
    characters,
    inline,
    like,
)
from pyflink_on_spark._sql.functions.shorthand import function_of
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root


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
            call = f"{site.bind(patterns.like, 'like')}({', '.join(site.sources())})"
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
        return calling(texts.split_index)(site)
    parts = site.temporary()
    split = f"{parts} := {site.source(0)}.split({separator!r}, {index + 1})"
    return f"({parts}[{index}] if len({split}) > {index} else None)"


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
    match = site.bind(patterns.like_pattern(pattern, escape).fullmatch, "match")
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
    join = site.bind(texts.concat_with, "concat_with")
    return f"{join}({', '.join(site.sources())})"


def _concat_ws_type(types: Sequence[LogicalType]) -> LogicalType:
    return logical.STRING.with_nullable(any(kind.nullable for kind in types))


def _trim_code(site: CallSite) -> str:
    where = site.symbols[0] if site.symbols else "BOTH"
    method = {"BOTH": "strip", "LEADING": "lstrip", "TRAILING": "rstrip"}[where]
    sources = site.sources()
    return f"{sources[0]}.{method}({sources[1] if len(sources) > 1 else repr(' ')})"


def _similar_code(negated: bool) -> Code:
    def code(site: CallSite) -> str:
        call = f"{site.bind(patterns.similar, 'similar')}({', '.join(site.sources())})"
        return f"not {call}" if negated else call

    return code


def _printed(form: str | None, *values: object) -> str | None:
    if form is None:
        return None
    try:
        return form % tuple("null" if value is None else value for value in values)
    except (TypeError, ValueError):
        return None


def _elt(index: int | None, *texts_: str | None) -> str | None:
    return texts_[index - 1] if index is not None and 0 < index <= len(texts_) else None


_TEXT = logical.STRING
_TWO, _THREE = (characters, characters), (characters, characters, characters)


FUNCTIONS = (
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
    function_of("LTRIM", _TWO, _first, texts.trim_left, optional=1),
    function_of("RTRIM", _TWO, _first, texts.trim_right, optional=1),
    function_of("BTRIM", _TWO, _TEXT, texts.trim_both, optional=1),
    function_of(
        "SUBSTRING",
        (characters, as_int, as_int),
        _first,
        texts.substring,
        optional=1,
        nullable=True,
        aliases=("SUBSTR",),
    ),
    function_of("LEFT", (characters, as_int), _first, texts.left, nullable=True),
    function_of("RIGHT", (characters, as_int), _first, texts.right, nullable=True),
    function_of("LPAD", (characters, as_int, characters), _TEXT, texts.pad_left),
    function_of("RPAD", (characters, as_int, characters), _TEXT, texts.pad_right),
    function_of("REPEAT", (characters, as_int), _TEXT, texts.repeat),
    function_of("REVERSE", (characters,), _TEXT, texts.reverse, nullable=True),
    function_of("INITCAP", (characters,), like(), texts.initcap),
    function_of("REPLACE", _THREE, _TEXT, texts.replace),
    function_of("POSITION", _TWO, logical.INT, texts.position),
    function_of("LOCATE", (*_TWO, as_int), logical.INT, texts.position, optional=1),
    function_of("INSTR", (*_TWO, as_int, as_int), logical.INT, texts.instr, optional=2),
    function_of("SPLIT", _TWO, logical.array(_TEXT), texts.split),
    ScalarFunction(
        "SPLIT_INDEX",
        (
            Overload(
                (*_TWO, as_int),
                lambda types: _TEXT.with_nullable(True),
                _split_index_code,
                Nulls.STRICT_NULLABLE,
            ),
        ),
    ),
    function_of(
        "STR_TO_MAP",
        _THREE,
        logical.mapping(_TEXT, _TEXT),
        texts.text_to_map,
        optional=2,
        nullable=True,
    ),
    function_of("OVERLAY", (*_TWO, as_int, as_int), _overlaid, texts.overlay, optional=1),
    function_of("ASCII", (characters,), logical.INT, texts.first_code),
    function_of("CHR", (as_bigint,), _TEXT, texts.character, nullable=True),
    function_of("TRANSLATE", _THREE, _TEXT, texts.translate, aliases=("TRANSLATE3",)),
    function_of("STARTSWITH", _TWO, logical.BOOLEAN, texts.starts_with),
    function_of("ENDSWITH", _TWO, logical.BOOLEAN, texts.ends_with),
    function_of("URL_ENCODE", (characters,), _TEXT, texts.encode_url, nullable=True),
    function_of("URL_DECODE", (characters,), _TEXT, texts.decode_url, nullable=True),
    function_of("PARSE_URL", _THREE, _TEXT, texts.parse_url, optional=1, nullable=True),
    function_of("IS_ALPHA", (characters,), logical.BOOLEAN, texts.is_alpha),
    function_of("IS_DIGIT", (characters,), logical.BOOLEAN, texts.is_digit),
    function_of("IS_DECIMAL", (characters,), logical.BOOLEAN, texts.is_decimal),
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
                calling(_printed),
                Nulls.CALLED,
                variadic=True,
            ),
        ),
    ),
    function_of("REGEXP", _TWO, logical.BOOLEAN, patterns.regexp),
    function_of("REGEXP_REPLACE", _THREE, _TEXT, patterns.regexp_replace),
    function_of(
        "REGEXP_EXTRACT", (*_TWO, as_int), _TEXT, patterns.regexp_extract, optional=1, nullable=True
    ),
    function_of(
        "REGEXP_EXTRACT_ALL",
        (*_TWO, as_int),
        logical.array(_TEXT),
        patterns.regexp_extract_all,
        optional=1,
        nullable=True,
    ),
    function_of("REGEXP_COUNT", _TWO, logical.INT, patterns.regexp_count, nullable=True),
    function_of("REGEXP_INSTR", _TWO, logical.INT, patterns.regexp_position, nullable=True),
    function_of("REGEXP_SUBSTR", _TWO, _TEXT, patterns.regexp_part, nullable=True),
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
    ScalarFunction(
        "SIMILAR TO",
        (Overload(_THREE, always(logical.BOOLEAN), _similar_code(False), optional=1),),
        ("'SIMILAR TO(<STRING>, <STRING>, <STRING>)'",),
    ),
    ScalarFunction(
        "NOT SIMILAR TO",
        (Overload(_THREE, always(logical.BOOLEAN), _similar_code(True), optional=1),),
        ("'NOT SIMILAR TO(<STRING>, <STRING>, <STRING>)'",),
    ),
)
