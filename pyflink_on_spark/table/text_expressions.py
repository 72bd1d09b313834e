"""Reads expressions that are texts, as PyFlink 1.13 has them: ``"a, b.sum as total"``."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pyflink_on_spark._sql.errors import SqlParseError
from pyflink_on_spark.common.data_types import DataType, DataTypes
from pyflink_on_spark.table import expressions
from pyflink_on_spark.table._inner import syntax_of
from pyflink_on_spark.table.expression import Expression, TimeIntervalUnit

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[lLfFdDpP]?(?![\w]))
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<name>`[^`]+`|[^\W\d][\w$]*)
    |(?P<symbol>===|!==|==|!=|<>|<=|>=|&&|\|\||[-+*/%=<>!().,?{}\[\]])
    )""",
    re.VERBOSE,
)

_COMPARISONS: dict[str, Callable[[Any, Any], object]] = {
    "===": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "=": lambda a, b: a == b,
    "!==": lambda a, b: a != b,
    "!=": lambda a, b: a != b,
    "<>": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}
_TERMS: dict[str, Callable[[Any, Any], object]] = {"+": lambda a, b: a + b, "-": lambda a, b: a - b}
_FACTORS: dict[str, Callable[[Any, Any], object]] = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}
_TYPES: dict[str, Callable[[], DataType]] = {
    "BYTE": DataTypes.TINYINT,
    "SHORT": DataTypes.SMALLINT,
    "INT": DataTypes.INT,
    "LONG": DataTypes.BIGINT,
    "FLOAT": DataTypes.FLOAT,
    "DOUBLE": DataTypes.DOUBLE,
    "BOOLEAN": DataTypes.BOOLEAN,
    "BOOL": DataTypes.BOOLEAN,
    "STRING": DataTypes.STRING,
    "DECIMAL": lambda: DataTypes.DECIMAL(38, 18),
    "SQL_DATE": DataTypes.DATE,
    "SQL_TIME": lambda: DataTypes.TIME(0),
    "SQL_TIMESTAMP": lambda: DataTypes.TIMESTAMP(3),
}
# The names of methods and functions that Scala has and Python cannot have, or calls otherwise.
_METHODS = {"in": "in_", "as": "alias", "ceil": "ceil", "milli": "milli", "upper": "upper_case"}
_FUNCTIONS = {"map": "map_", "range": "range_", "not": "not_", "and": "and_", "or": "or_"}
_ALIAS_WORD = "as"
# The functions that texts know; a text has any other name from the catalog of functions, where a
# user may have given it to a function that has become Flink's own since.
_KNOWN_METHODS = frozenset(
    {
        "abs", "acos", "alias", "asc", "asin", "at", "atan", "avg", "between", "bin", "cardinality",
        "cast", "ceil", "char_length", "collect", "cos", "cosh", "cot", "count", "day", "days",
        "degrees", "desc", "distinct", "element", "end", "exp", "extract", "flatten", "floor",
        "from_base64", "get", "hex", "hour", "hours", "if_null", "in_", "init_cap", "is_false",
        "is_not_false", "is_not_null", "is_not_true", "is_null", "is_true", "like", "ln", "log",
        "log10", "log2", "lower_case", "lpad", "ltrim", "max", "md5", "milli", "millis", "min",
        "minute", "minutes", "month", "months", "not_between", "over", "overlay", "position",
        "proctime", "quarter", "quarters", "radians", "regexp_extract", "regexp_replace", "repeat",
        "replace", "round", "rowtime", "rpad", "rtrim", "second", "seconds", "sha1", "sha2",
        "sha224", "sha256", "sha384", "sha512", "sign", "similar", "sin", "sinh", "sqrt", "start",
        "stddev_pop", "stddev_samp", "substring", "sum", "sum0", "tan", "tanh", "then", "to_base64",
        "to_date", "to_time", "to_timestamp", "trim", "trim_leading", "trim_trailing", "truncate",
        "upper_case", "var_pop", "var_samp", "week", "weeks", "year", "years",
    }
)  # fmt: skip
_KNOWN_FUNCTIONS = frozenset(
    {
        "and_", "or_", "not_", "if_then_else", "array", "map_", "row", "current_date",
        "current_time", "current_timestamp", "local_time", "local_timestamp", "date_format",
        "timestamp_diff", "temporal_overlaps", "pi", "e", "rand", "rand_integer", "atan2",
        "negative", "concat", "concat_ws", "uuid", "log", "range_", "with_columns",
        "without_columns", "row_interval",
    }
)  # fmt: skip


def parse_expressions(text: str) -> list[Expression]:
    """Return the expressions that a text has, with commas between them.

    Args:
        text: ``"a, b.sum as total, upperCase(c) + 'x'"`` for example. Functions have the names of
            Flink's Scala API, in camel case.

    Raises:
        SqlParseError: the text cannot be read.
    """
    return _Parser(text).all()


def parse_expression(text: str) -> Expression:
    """Return the expression that a text has.

    Raises:
        SqlParseError: the text cannot be read, or has several.
    """
    found = parse_expressions(text)
    if len(found) != 1:
        raise SqlParseError(f"one expression is needed, not {len(found)}: {text!r}")
    return found[0]


def as_expression(given: object) -> Any:
    """Return the expression of a text; anything else as it is."""
    return parse_expression(given) if isinstance(given, str) else given


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._place = 0

    def _split(self) -> list[tuple[str, str, int]]:
        tokens, place = [], 0
        end = len(self._text.rstrip())
        while place < end:
            found = _TOKEN.match(self._text, place)
            if found is None or found.lastgroup is None:
                raise self._error(place)
            tokens.append((found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)))
            place = found.end()
        return [*tokens, ("end", "", end)]

    def _error(self, place: int) -> SqlParseError:
        mark = " " * place + "^"
        return SqlParseError(
            f"the text of an expression cannot be read at column {place + 1}:\n"
            f"  {self._text}\n  {mark}\n"
            "Write it with col() and lit() of pyflink.table.expressions."
        )

    # -- tokens ----------------------------------------------------------------------------------

    def _is(self, *symbols: str) -> bool:
        kind, text, _ = self._tokens[self._place]
        return kind == "symbol" and text in symbols

    def _word(self, place: int = 0) -> str | None:
        """The name at a place, or None."""
        index = min(self._place + place, len(self._tokens) - 1)
        kind, text, _ = self._tokens[index]
        return text if kind == "name" else None

    def _next(self) -> str:
        text = self._tokens[self._place][1]
        self._place += 1
        return text

    def _expect(self, symbol: str) -> None:
        if not self._is(symbol):
            raise self._error(self._tokens[self._place][2])
        self._next()

    def _name(self) -> str:
        if self._word() is None:
            raise self._error(self._tokens[self._place][2])
        return self._next().strip("`")

    # -- grammar ---------------------------------------------------------------------------------

    def all(self) -> list[Expression]:
        found = [self._named()]
        while self._is(","):
            self._next()
            found.append(self._named())
        if self._tokens[self._place][0] != "end":
            raise self._error(self._tokens[self._place][2])
        return found

    def _named(self) -> Expression:
        value = _expression(self._either())
        if (self._word() or "").lower() != _ALIAS_WORD:
            return value
        self._next()
        if not self._is("("):
            return value.alias(self._name())
        return value.alias(*self._names())

    def _names(self) -> list[str]:
        self._expect("(")
        names = [self._name()]
        while self._is(","):
            self._next()
            names.append(self._name())
        self._expect(")")
        return names

    def _either(self) -> object:
        value = self._both()
        while self._is("||"):
            self._next()
            value = _expression(value) | self._both()
        return value

    def _both(self) -> object:
        value = self._comparison()
        while self._is("&&"):
            self._next()
            value = _expression(value) & self._comparison()
        return value

    def _comparison(self) -> object:
        value = self._sum()
        while self._is(*_COMPARISONS):
            value = _COMPARISONS[self._next()](_expression(value), self._sum())
        return value

    def _sum(self) -> object:
        value = self._product()
        while self._is(*_TERMS):
            value = _TERMS[self._next()](_expression(value), self._product())
        return value

    def _product(self) -> object:
        value = self._unary()
        while self._is(*_FACTORS):
            value = _FACTORS[self._next()](_expression(value), self._unary())
        return value

    def _unary(self) -> Any:
        if self._is("-"):
            self._next()
            value = self._unary()
            return -value
        if self._is("+"):
            self._next()
            return self._unary()
        if self._is("!"):
            self._next()
            return expressions.not_(_expression(self._unary()))
        return self._suffixed()

    def _suffixed(self) -> object:
        value = self._atom()
        while True:
            if self._is("."):
                self._next()
                value = self._suffix(value)
            elif (self._word() or "").lower() == "over" and self._word(1) is not None:
                self._next()
                value = value.over(expressions.col(self._name()))
            else:
                return value

    def _suffix(self, value: Any) -> object:
        if self._is("?"):
            self._next()
            return expressions.if_then_else(value, *self._arguments())
        name = self._name()
        operand = _expression(value)
        if name.lower() == _ALIAS_WORD:
            return operand.alias(*self._names())
        if name.lower() == "cast" and self._is("("):
            return operand.cast(self._type())
        if name.lower() in {"extract", "floor", "ceil"} and self._unit_follows():
            return getattr(operand, name.lower())(self._unit())
        args = self._arguments() if self._is("(") else []
        if name.lower() == "rows" and not args:
            return expressions.row_interval(value)
        return _method(operand, name, args)

    def _atom(self) -> Any:
        kind, text, place = self._tokens[self._place]
        if kind == "number":
            return _number(self._next())
        if kind == "text":
            quote = text[0]
            return expressions.lit(self._next()[1:-1].replace(quote * 2, quote))
        if self._is("("):
            self._next()
            value = self._either()
            self._expect(")")
            return value
        if self._is("*"):
            self._next()
            return expressions.col("*")
        if kind != "name":
            raise self._error(place)
        return self._prefixed(self._next())

    def _prefixed(self, name: str) -> object:
        if not self._is("("):
            if name.lower() in {"true", "false"}:
                return expressions.lit(name.lower() == "true")
            return expressions.col(name.strip("`"))
        if name.lower() == "nullof":
            return expressions.null_of(self._type())
        if name.lower() == "cast":
            self._next()
            value = _expression(self._either())
            self._expect(",")
            self._place -= 1
            return value.cast(self._type())
        return _function(name, self._arguments())

    def _arguments(self) -> list[object]:
        self._expect("(")
        found: list[Any] = []
        while not self._is(")"):
            found.append(self._either())
            if not self._is(")"):
                self._expect(",")
        self._next()
        return found

    def _type(self) -> DataType:
        """Read the name of a type; the parenthesis, or comma, before it is the next token."""
        self._next()
        place = self._tokens[self._place][2]
        made = _TYPES.get(self._name().upper())
        if made is None:
            raise self._error(place)
        self._expect(")")
        return made()

    def _unit_follows(self) -> bool:
        unit = (self._word(1) or "").upper()
        return self._is("(") and unit in TimeIntervalUnit.__members__

    def _unit(self) -> object:
        self._next()
        unit = TimeIntervalUnit[self._name().upper()]
        self._expect(")")
        return unit


def _expression(value: object) -> Expression:
    return value if isinstance(value, Expression) else expressions.lit(value)


def _number(text: str) -> Expression:
    suffix = text[-1].lower()
    if suffix == "l":
        return expressions.lit(int(text[:-1]), DataTypes.BIGINT().not_null())
    if suffix == "p":
        return expressions.lit(Decimal(text[:-1]))
    if suffix == "f":
        return expressions.lit(float(text[:-1]), DataTypes.FLOAT().not_null())
    digits = text.rstrip("dD")
    return expressions.lit(int(digits) if digits.isdigit() else float(digits))


def _python_name(name: str) -> str:
    """Return the name that Python has for one of Scala: ``upperCase`` is ``upper_case``."""
    if name.isupper():
        return name.lower()
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: "_" + found[0].lower(), name).lower()


def _method(operand: Expression, name: str, args: list[Any]) -> object:
    python = _python_name(name)
    python = _METHODS.get(python, python)
    if python not in _KNOWN_METHODS:
        return expressions.call(name, operand, *args)
    if python == "get":
        return operand.get(*map(_constant, args))
    found = getattr(operand, python)
    return found if isinstance(found, Expression) and not args else found(*args)


def _function(name: str, args: list[Any]) -> Any:
    python = _python_name(name)
    python = _FUNCTIONS.get(python, python)
    if python in _KNOWN_FUNCTIONS:
        return getattr(expressions, python)(*args)
    if args and _METHODS.get(python, python) in _KNOWN_METHODS:
        return _method(_expression(args[0]), name, args[1:])
    return expressions.call(name, *args)


def _constant(value: Expression) -> Any:
    """Return the value of a constant, as ``get`` takes it."""
    return getattr(syntax_of(value), "value", value)
