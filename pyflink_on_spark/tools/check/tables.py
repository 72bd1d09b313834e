"""Verdicts on the tables of a script, from its texts of SQL: connectors, formats and catalogs."""

from __future__ import annotations

import ast
import re
import string
import textwrap
from collections.abc import Callable, Iterator

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError, UnsupportedFlinkFeature
from pyflink_on_spark._sql.errors import SqlParseError, did_you_mean
from pyflink_on_spark._sql.parser.statements import parse_statement
from pyflink_on_spark._sql.session.creation import (
    CATALOG_TYPES,
    check_catalog_options,
    check_language,
)
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.tables.connectors.absent import (
    way_out_of_catalog,
    way_out_of_connector,
    way_out_of_format,
)
from pyflink_on_spark._sql.tables.connectors.registry import CONNECTORS, FORMER_CONNECTORS
from pyflink_on_spark._sql.tables.formats.format import FORMATS
from pyflink_on_spark.table.text_expressions import parse_expressions
from pyflink_on_spark.tools.check import containers
from pyflink_on_spark.tools.check.values import HOLE, Pairs, Text, Value
from pyflink_on_spark.tools.check.verdict import WORKS, Status, Verdict

Found = tuple[str, Verdict, int]
"""A name, the verdict on it, and its index in the text."""
STATEMENTS = {"execute_sql", "sql_query", "sql_update", "add_insert_sql", "explain_sql"}
"""The methods that take a statement."""
EXPRESSIONS = {
    "select", "filter", "where", "group_by", "order_by", "add_columns", "add_or_replace_columns"
}  # fmt: skip
"""The methods of tables that take a text of expressions."""
_OPTION = re.compile(
    r"'(?P<key>connector|connector\.type|format|key\.format|value\.format|format\.type|type)'"
    r"\s*=\s*'(?P<value>[A-Za-z0-9][\w.-]*)'"
)
_OF_A_CATALOG = re.compile(r"\bCREATE\s+CATALOG\b(?!.*\bCREATE\s)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"('(?:[^']|'')*')|--[^\n]*|/\*(?!\+).*?\*/", re.DOTALL)
_LONGEST = 50
_ValueOf = Callable[[ast.expr], Value]
_PERCENT = re.compile(r"%(?:\((?P<name>\w+)\))?[-#0 +]*\d*(?:\.\d+)?(?P<kind>[diouxXeEfFgGcrsa%])")
_PLAIN_METHODS: dict[str, Callable[[str], str]] = {
    "strip": str.strip,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "lower": str.lower,
    "upper": str.upper,
}
_MESSAGES = {
    "print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log",
    "add_argument", "ArgumentParser",
}  # fmt: skip
FILLED = {"format", "replace"}
"""The methods of texts that have places for other texts."""


def connector(identifier: str) -> tuple[str, Verdict]:
    """Return the name of a connector as the report has it, and the verdict on it."""
    return _judged("connector", identifier, CONNECTORS, way_out_of_connector)


def format_of_tables(identifier: str, key: str = "format") -> tuple[str, Verdict]:
    """Return the name of a format as the report has it, and the verdict on it."""
    return _judged(key, identifier, FORMATS, way_out_of_format)


def in_text(text: str) -> Iterator[Found]:
    """Yield the connectors, formats and catalogs that the options in a text of SQL name.

    Args:
        text: with ``HOLE`` for each part that is not known.
    """
    if "'" not in text:
        return
    text = _COMMENT.sub(lambda found: found[1] or " " * len(found[0]), text)
    for option in _OPTION.finditer(text):
        key, value = option["key"], option["value"]
        if key == "type":
            if _OF_A_CATALOG.search(text[: option.start()]):
                yield (*_catalog(value), option.start())
        elif key == "connector.type":
            known = dict.fromkeys(FORMER_CONNECTORS, "")
            yield (*_judged(key, value, known, way_out_of_connector), option.start())
        elif key == "connector":
            yield (*connector(value), option.start())
        else:
            yield (*format_of_tables(value, key), option.start())


def in_statement(text: str) -> Iterator[Found]:
    """Yield the statement with the reason why it cannot work, whatever its options are.

    Args:
        text: the statement, all of which is known.
    """
    try:
        statement = parse_statement(text)
        if isinstance(statement, syntax.CreateFunction):
            check_language("CREATE FUNCTION", statement.language)
        if isinstance(statement, syntax.CreateCatalog):
            options = dict(statement.options)
            if options.get("type") in {None, *CATALOG_TYPES}:
                check_catalog_options(statement.name, options)
    except UnsupportedFlinkFeature as error:
        reason = str(error).partition(" (called at ")[0]
        yield _first_words(text), Verdict(Status.NOT_YET, reason), 0
    except PyFlinkOnSparkError as error:
        reason = str(getattr(error, "message", error)).partition("\n")[0]
        yield _first_words(text), Verdict(Status.WRONG, reason, "Correct the statement."), 0


def in_expressions(text: str) -> Iterator[Found]:
    """Yield the mistake in a text of expressions, as PyFlink 1.13 has them."""
    try:
        parse_expressions(text)
    except SqlParseError as error:
        reason = error.message.partition("\n")[0]
        advice = "Write it with col() and lit() of pyflink.table.expressions."
        yield _first_words(text), Verdict(Status.WRONG, reason, advice), 0


def _catalog(kind: str) -> tuple[str, Verdict]:
    name = f"CREATE CATALOG with 'type' = '{kind}'"
    if kind in CATALOG_TYPES:
        return name, WORKS
    return name, Verdict(Status.NOT_YET, "This package lacks it.", way_out_of_catalog(kind))


def _judged(
    key: str, identifier: str, known: dict[str, str], way_out: Callable[[str], str]
) -> tuple[str, Verdict]:
    name = f"'{key}' = '{identifier}'"
    if identifier in known:
        return name, WORKS
    similar = did_you_mean(identifier, known)
    reason = f"This package lacks it{similar.rstrip('?')}." if similar else "This package lacks it."
    return name, Verdict(Status.NOT_YET, reason, way_out(identifier))


def _first_words(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."


def is_message(node: ast.Call) -> bool:
    """True if the texts that a call is given are for people."""
    name = _called_name(node)
    return name in _MESSAGES or name.endswith(("Error", "Exception"))


def _called_name(node: ast.Call) -> str:
    """The last part of the name of what is called; nothing if it has no name."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def known_part(value: Value) -> str:
    """The text of a value, or ``HOLE``."""
    return value.text if isinstance(value, Text) else HOLE


def joined(node: ast.JoinedStr, value_of: _ValueOf) -> Text:
    """The text that an f-string makes."""
    return Text("".join(_part(part, value_of) for part in node.values))


def concatenated(left: Value, right: Value) -> Text | None:
    """The text that ``+`` makes of two values; None if neither is a text."""
    if isinstance(left, Text) or isinstance(right, Text):
        return Text(known_part(left) + known_part(right))
    return None


def formatted(left: Value, right: ast.expr, value_of: _ValueOf) -> Text | None:
    """The text that ``%`` makes; None if there is no text on the left."""
    if not isinstance(left, Text):
        return None
    by_name: dict[str, str] = {}
    if isinstance(right, ast.Dict):
        pairs = zip(right.keys, right.values, strict=True)
        by_name = {_name(key): _literal(value, value_of) for key, value in pairs}
    else:
        by_name = _named(value_of(right))
    in_order = right.elts if isinstance(right, ast.Tuple) else [right]
    parts = iter([_literal(part, value_of) for part in in_order])

    def part_of(found: re.Match[str]) -> str:
        if found["kind"] == "%":
            return "%"
        return by_name.get(found["name"], HOLE) if found["name"] else next(parts, HOLE)

    return Text(_PERCENT.sub(part_of, left.text))


def method(owner: Value, node: ast.Call, value_of: _ValueOf) -> Text | None:
    """The text that a method of a text makes, or ``dedent`` and ``str``; None for other calls.

    Args:
        owner: what the method is called on.
        node: the call.
        value_of: returns what is known of an expression.
    """
    if isinstance(node.func, ast.Attribute) and isinstance(owner, Text):
        return _of_method(owner.text, node.func.attr, node, value_of)
    name = _called_name(node)
    if name in {"dedent", "str"} and len(node.args) == 1:
        given = value_of(node.args[0])
        if isinstance(given, Text):
            return Text(textwrap.dedent(given.text)) if name == "dedent" else given
    return None


def _of_method(text: str, name: str, node: ast.Call, value_of: _ValueOf) -> Text | None:
    arguments = [_literal(argument, value_of) for argument in node.args]
    if name in _PLAIN_METHODS and not arguments:
        return Text(_PLAIN_METHODS[name](text))
    if name == "replace" and len(arguments) == 2 and HOLE not in arguments[0]:
        return Text(text.replace(arguments[0], arguments[1]))
    if name == "join" and len(node.args) == 1:
        return _of_join(text, node.args[0], value_of)
    if name == "format":
        named: dict[str, str] = {}
        for word in node.keywords:
            if word.arg is None:
                named |= _named(value_of(word.value))
            else:
                named[word.arg] = _literal(word.value, value_of)
        return Text(_of_format(text, arguments, named))
    return None


def _of_join(text: str, given: ast.expr, value_of: _ValueOf) -> Text | None:
    if isinstance(given, ast.List | ast.Tuple):
        return Text(text.join(_literal(part, value_of) for part in given.elts))
    parts = containers.iterated(value_of(given))
    return None if parts is None else Text(text.join(map(known_part, parts)))


def _named(value: Value) -> dict[str, str]:
    """The texts of a dict by their keys."""
    pairs = value.pairs if isinstance(value, Pairs) else ()
    return {key.text: known_part(part) for key, part in pairs if isinstance(key, Text)}


def _of_format(text: str, in_order: list[str], named: dict[str, str]) -> str:
    made, place = [], 0
    try:
        for before, name, _, _ in string.Formatter().parse(text):
            made.append(before)
            if name is None:
                continue
            if name == "" or name.isdigit():
                index = int(name or place)
                place += 1
                made.append(in_order[index] if index < len(in_order) else HOLE)
            else:
                made.append(named.get(name, HOLE))
    except ValueError:
        return HOLE
    return "".join(made)


def _part(node: ast.expr, value_of: _ValueOf) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.FormattedValue):
        return HOLE
    plain = node.format_spec is None and node.conversion in {-1, ord("s")}
    text = _literal(node.value, value_of)
    return text if plain else HOLE


def _literal(node: ast.expr, value_of: _ValueOf) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | str):
        return str(node.value)
    return known_part(value_of(node))


def _name(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""
