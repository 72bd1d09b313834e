"""SQL text becomes statements and expressions.

The parser is our own: Flink's grammar refuses what general SQL parsers accept, reserves words, and
names the place where a text stops being SQL.
"""

from __future__ import annotations

from pyflink_on_spark._sql.errors import SqlParseError, at_any_depth
from pyflink_on_spark._sql.parser.statements import StatementParser
from pyflink_on_spark._sql.syntax.expressions import Expression
from pyflink_on_spark._sql.syntax.statements import Statement
from pyflink_on_spark._sql.types.logical import LogicalType


@at_any_depth
def parse_statement(text: str) -> Statement:
    """Return the statement of a text.

    Raises:
        SqlParseError: the text is not valid.
    """
    parser = StatementParser(text)
    statement = parser.statement()
    parser.expect_end()
    return statement


@at_any_depth
def parse_expression(text: str) -> Expression:
    """Return the expression of a text.

    Raises:
        SqlParseError: the text is not valid.
    """
    parser = StatementParser(text)
    expression = parser.expression()
    parser.expect_end()
    return expression


@at_any_depth
def parse_type(text: str) -> LogicalType:
    """Return the type of a text.

    Raises:
        SqlParseError: the text is not valid.
    """
    parser = StatementParser(text)
    parser.takes_intervals = True
    parsed = parser.type()
    parser.expect_end()
    return parsed


def parse_path(text: str) -> tuple[str, ...]:
    """Return the parts of a table's name, as methods take it: reserved words are names, too.

    Raises:
        SqlParseError: the text is not valid.
    """
    try:
        parser = StatementParser(text)
        parts, _ = parser.path(of_api=True)
        parser.expect_end()
    except SqlParseError as error:
        reason = error.message.removeprefix("SQL parse failed. ")
        raise SqlParseError(f"Invalid SQL identifier {text}. {reason}") from None
    return parts
