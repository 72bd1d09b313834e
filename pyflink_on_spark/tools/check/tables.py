"""Verdicts on the tables of a script: connectors, formats and catalogs in its texts of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError, UnsupportedFlinkFeature
from pyflink_on_spark._sql.errors import SqlParseError, did_you_mean
from pyflink_on_spark._sql.parser import parse_statement
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
from pyflink_on_spark._sql.tables.connectors.former_options import FORMER_CONNECTORS
from pyflink_on_spark._sql.tables.connectors.registry import CONNECTORS
from pyflink_on_spark._sql.tables.formats.registry import FORMATS
from pyflink_on_spark.table.text_expressions import parse_expressions
from pyflink_on_spark.tools.check.values import HOLE
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
    rf"\s*=\s*'(?P<value>[^'%${{}}{HOLE}]+)'"
)
_OF_A_CATALOG = re.compile(r"\bCREATE\s+CATALOG\b(?!.*\bCREATE\s)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"('(?:[^']|'')*')|--[^\n]*|/\*(?!\+).*?\*/", re.DOTALL)


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


_LONGEST = 50
