"""The words of a text, a parser's place among them, and the types that all parsers read."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pyflink_on_spark._sql.errors import (
    IllegalArgumentError,
    Span,
    SqlParseEndError,
    SqlParseError,
    at_place,
    invalid,
)
from pyflink_on_spark._sql.parser.keywords import RESERVED
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, check_class_name


class Kind(enum.Enum):
    """Kinds of tokens."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "string"
    BYTES = "binary string"
    UNICODE = "string with escapes"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    SYMBOL = "symbol"
    HINT = "hint"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A token.

    Args:
        kind: what it is.
        text: as it is written; of a quoted name or a string what is inside the quotes.
        span: where it is.
        upper: the text in capitals if it is a word or a symbol, else nothing.
    """

    kind: Kind
    text: str
    span: Span
    upper: str = ""


_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*|//[^\n]*|/\*(?!\+).*?\*/)
  | (?P<hint>/\*\+.*?\*/)
  | (?P<bytes>[xX]'(?:[^']|'')*')
  | (?P<unicode>[uU]&'(?:[^']|'')*')
  | (?P<string>'(?:[^']|'')*')
  | (?P<double>(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+)
  | (?P<decimal>\d+\.\d*|\.\d+)
  | (?P<integer>\d+)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<symbol><>|!=|<=|>=|\|\||=>|->|[-+*/%=<>()\[\]{},.;:?|^$])
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN = {
    "double": Kind.DOUBLE,
    "decimal": Kind.DECIMAL,
    "integer": Kind.INTEGER,
}


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, and one for its end.

    Raises:
        SqlParseError: a character belongs to no token.
    """
    tokens: list[Token] = []
    index, length = 0, len(text)
    while index < length:
        match = _TOKEN.match(text, index)
        if match is None or (match.group() == "/" and text.startswith("/*", index)):
            raise _lexical_error(text, index)
        if match.lastgroup != "blank":
            tokens.append(_token(match, text))
        index = match.end()
    end = tokens[-1].span.end if tokens else 0
    tokens.append(Token(Kind.END, "<EOF>", Span(text, max(end - 1, 0), max(end, 1))))
    return tokens


def _token(match: re.Match[str], text: str) -> Token:
    group, written = match.lastgroup, match.group()
    span = Span(text, match.start(), match.end())
    if group == "word":
        return Token(Kind.WORD, written, span, written.upper())
    if group == "symbol":
        return Token(Kind.SYMBOL, written, span, written)
    if group == "string":
        return Token(Kind.STRING, written[1:-1].replace("''", "'"), span)
    if group == "unicode":
        return Token(Kind.UNICODE, written[3:-1].replace("''", "'"), span)
    if group == "quoted":
        return Token(Kind.QUOTED, written[1:-1].replace("``", "`"), span)
    if group == "bytes":
        return Token(Kind.BYTES, written[2:-1], span)
    if group == "hint":
        return Token(Kind.HINT, written[3:-2], span)
    assert group is not None
    return Token(_PLAIN[group], written, span)


def _lexical_error(text: str, index: int) -> SqlParseError:
    span, character = Span(text, index, index + 1), text[index]
    if character in "'`" or text.startswith("/*", index):
        opened = "/*" if character == "/" else character
        return SqlParseError(
            f'SQL parse failed. Encountered "{opened}" at {span.place()}. '
            "What begins there has no end"
        )
    return SqlParseError(
        f"SQL parse failed. Lexical error at {span.place()}.  "
        f'Encountered: "{character}" ({ord(character)})'
    )


Item = TypeVar("Item")


class Cursor:
    """Reads one token after the other.

    Args:
        text: the SQL text.

    Raises:
        SqlParseError: a character belongs to no token.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokenize(text)
        self._index = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._index]

    def peek(self, distance: int = 1) -> Token:
        """Return a token further on."""
        return self._tokens[min(self._index + distance, len(self._tokens) - 1)]

    def next(self) -> Token:
        """Return the next token, and advance to the one after it."""
        token = self._tokens[self._index]
        if token.kind is not Kind.END:
            self._index += 1
        return token

    def at(self, *words: str) -> bool:
        """True if the next tokens are these keywords or symbols, in this order."""
        return all(self.peek(index).upper == word for index, word in enumerate(words))

    def at_any(self, *words: str) -> bool:
        """True if the next token is one of these keywords or symbols."""
        return self.token.upper in words

    def accept(self, *words: str) -> bool:
        """Go past certain keywords or symbols if they come next."""
        if not self.at(*words):
            return False
        self._index += len(words)
        return True

    def accept_any(self, *words: str) -> str | None:
        """Go past one of some keywords or symbols, and return which, or None."""
        return self.next().upper if self.token.upper in words else None

    def expect(self, *words: str) -> Token:
        """Go past certain keywords or symbols, and return the last one.

        Raises:
            SqlParseError: something else comes next.
        """
        last = self.token
        for word in words:
            last = self.token
            if last.upper != word:
                raise self.unexpected()
            self._index += 1
        return last

    def unexpected(self, token: Token | None = None) -> SqlParseError:
        """Return the error for a token that cannot stand where it is; the next one if not given."""
        token = token or self.token
        if token.kind is Kind.END:
            return SqlParseEndError(f'Encountered "<EOF>" at {token.span.place()}.')
        written = str(token.span)
        message = f'SQL parse failed. Encountered "{written}" at {token.span.place()}.'
        if token.kind is Kind.WORD and token.upper in RESERVED:
            message += f" The word is reserved: a name has to be in back-ticks, `{token.text}`"
        return SqlParseError(message)

    def at_name(self) -> bool:
        """True if the next token is a name."""
        token = self.token
        return token.kind is Kind.QUOTED or (
            token.kind is Kind.WORD and token.upper not in RESERVED
        )

    def name(self) -> str:
        """Read a name.

        Raises:
            SqlParseError: something else comes next, a reserved word for example.
        """
        if not self.at_name():
            raise self.unexpected()
        return self.next().text

    def name_of_api(self) -> str:
        """Read a name, which may be a reserved word: the API of tables takes those.

        Raises:
            SqlParseError: something else comes next.
        """
        return self.next().text if self.token.kind is Kind.WORD else self.name()

    def path(self, *, of_api: bool = False) -> tuple[tuple[str, ...], Span]:
        """Read names with points between them; return them, and where they are.

        Args:
            of_api: whether reserved words are names.
        """
        name = self.name_of_api if of_api else self.name
        first = self.token.span
        parts = [name()]
        while self.at(".") and self.peek().kind in {Kind.WORD, Kind.QUOTED}:
            self.next()
            parts.append(name())
        return tuple(parts), self.since(first)

    def string(self) -> str:
        """Read a string."""
        if self.token.kind is not Kind.STRING:
            raise self.unexpected()
        return self.next().text

    def integer(self) -> int:
        """Read a whole number without a sign."""
        if self.token.kind is not Kind.INTEGER:
            raise self.unexpected()
        return int(self.next().text)

    def since(self, first: Span) -> Span:
        """Return the piece of the text from a token to the last one that was read."""
        return first.to(self._tokens[max(self._index - 1, 0)].span)

    def listed(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Read items with commas between them, at least one."""
        items = [item()]
        while self.accept(","):
            items.append(item())
        return tuple(items)

    def in_parentheses(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Read items with commas between them and parentheses around them."""
        self.expect("(")
        items = self.listed(item)
        self.expect(")")
        return items

    def any_in_parentheses(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Read items with commas between them and parentheses around them, perhaps none."""
        return () if self.accept("(", ")") else self.in_parentheses(item)

    def expect_end(self) -> None:
        """Check that nothing follows, a semicolon aside.

        Raises:
            SqlParseError: something follows.
        """
        if self.accept(";") and self.token.kind is not Kind.END:
            raise IllegalArgumentError(
                f"only single statement supported: another one begins at {self.token.span.place()}"
            )
        if self.token.kind is not Kind.END:
            raise self.unexpected()


_TIGHT_BEFORE = {")", "]", ",", "."}
_TIGHT_AFTER = {"(", "[", "."}


def canonical_text(text: str) -> str:
    """Return an expression as Flink shows it: ``ts - interval '1' second`` with ``` `ts` ```.

    Args:
        text: an expression that the parser can read.
    """
    tokens = tokenize(text)[:-1]
    written = ""
    before: Token | None = None
    for token, after in zip(tokens, [*tokens[1:], None]):
        if before is not None and not _is_tight(before, token):
            written += " "
        written += _written(token, after)
        before = token
    return written


def _is_tight(before: Token, token: Token) -> bool:
    if token.upper == "(":
        return before.kind is Kind.WORD and before.upper not in {"AND", "OR", "NOT", "IN", "AS"}
    if token.upper == "[":
        return True
    return token.upper in _TIGHT_BEFORE or before.upper in _TIGHT_AFTER


def _written(token: Token, after: Token | None) -> str:
    if token.kind is Kind.QUOTED:
        return f"`{token.text.replace('`', '``')}`"
    if token.kind is Kind.WORD:
        called = after is not None and after.upper == "("
        return token.upper if called or token.upper in RESERVED else f"`{token.text}`"
    return str(token.span)


_LENGTHS: dict[str, Callable[[int], LogicalType]] = {
    "CHAR": logical.char,
    "VARCHAR": logical.varchar,
    "BINARY": logical.binary,
    "VARBINARY": logical.varbinary,
}
_DEFAULT_LENGTHS = {
    "CHAR": 1,
    "VARCHAR": logical.MAX_LENGTH,
    "BINARY": 1,
    "VARBINARY": logical.MAX_LENGTH,
}
_MONTHS = frozenset({"YEAR", "QUARTER", "MONTH"})
_SECONDS = frozenset({"WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})
_SIMPLE = {
    "BOOLEAN": logical.BOOLEAN,
    "TINYINT": logical.TINYINT,
    "SMALLINT": logical.SMALLINT,
    "INT": logical.INT,
    "INTEGER": logical.INT,
    "BIGINT": logical.BIGINT,
    "FLOAT": logical.FLOAT,
    "STRING": logical.STRING,
    "BYTES": logical.BYTES,
    "DATE": logical.DATE,
    "NULL": logical.NULL,
    "VARIANT": logical.VARIANT,
    "BITMAP": logical.BITMAP,
}


class TypeParser(Cursor):
    """Reads types."""

    takes_intervals = False
    """True if a type may be an interval; in SQL only that of a CAST may."""

    def type(self) -> LogicalType:
        """Read a type, and whether it has NULL."""
        parsed = self._nullability(self._base_type())
        while word := self.accept_any("ARRAY", "MULTISET"):
            make = logical.array if word == "ARRAY" else logical.multiset
            parsed = self._nullability(make(parsed))
        return parsed

    def _nullability(self, parsed: LogicalType) -> LogicalType:
        if self.accept("NOT", "NULL"):
            return parsed.with_nullable(False)
        self.accept("NULL")
        return parsed

    def _base_type(self) -> LogicalType:
        token = self.token
        word = token.upper
        if token.kind is not Kind.WORD or (word == "INTERVAL" and not self.takes_intervals):
            raise self.unexpected()
        self.next()
        if word in _SIMPLE:
            return _SIMPLE[word]
        if word == "CHARACTER":
            word = "VARCHAR" if self.accept("VARYING") else "CHAR"
        elif word == "CHAR" and self.accept("VARYING"):
            word = "VARCHAR"
        if word in _LENGTHS:
            return self._sized(word)
        if word == "DOUBLE":
            self.accept("PRECISION")
            return logical.DOUBLE
        read = {
            "DECIMAL": self._decimal,
            "DEC": self._decimal,
            "NUMERIC": self._decimal,
            "TIME": self._time,
            "TIMESTAMP": self._timestamp,
            "TIMESTAMP_LTZ": lambda: logical.timestamp_ltz(self._fraction(6)),
            "INTERVAL": self.interval_type,
            "ARRAY": lambda: logical.array(self._bracketed()),
            "MULTISET": lambda: logical.multiset(self._bracketed()),
            "MAP": self._map,
            "ROW": self._row_type,
            "STRUCTURED": self._structured_type,
        }.get(word)
        if read is None:
            raise invalid(f"Unknown identifier '{token.text}'", token.span)
        return read()

    def _sized(self, word: str) -> LogicalType:
        span = self.token.span
        length = self._size(_DEFAULT_LENGTHS[word])
        if length < 1:
            raise invalid(f"The length of {word} has to be at least 1", self.since(span))
        return _LENGTHS[word](length)

    def _size(self, default: int) -> int:
        if not self.accept("("):
            return default
        value = self.integer()
        self.expect(")")
        return value

    def _fraction(self, default: int) -> int:
        span = self.token.span
        digits = self._size(default)
        if digits > 9:
            raise invalid("A fraction of a second has at most 9 digits", self.since(span))
        return digits

    def _decimal(self) -> LogicalType:
        span = self.token.span
        precision, scale = 10, 0
        if self.accept("("):
            precision = self.integer()
            scale = self.integer() if self.accept(",") else 0
            self.expect(")")
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise invalid(
                "A DECIMAL has 1 to 38 digits, and no more than these after the point",
                self.since(span),
            )
        return logical.decimal(precision, scale)

    def _time(self) -> LogicalType:
        parsed = logical.time(self._fraction(0))
        self.accept("WITHOUT", "TIME", "ZONE")
        return parsed

    def _timestamp(self) -> LogicalType:
        digits = self._fraction(6)
        if self.accept("WITH", "LOCAL", "TIME", "ZONE"):
            return logical.timestamp_ltz(digits)
        self.accept("WITHOUT", "TIME", "ZONE")
        return logical.timestamp(digits)

    def interval_type(self) -> LogicalType:
        """Read what follows INTERVAL."""
        first = self.token
        if first.upper not in _MONTHS | _SECONDS:
            raise self.unexpected()
        self.next()
        self._size(0)
        if self.accept("TO"):
            if self.token.upper not in _MONTHS | _SECONDS:
                raise self.unexpected()
            self.next()
            self._size(0)
        return logical.INTERVAL_MONTH if first.upper in _MONTHS else logical.INTERVAL_SECOND

    def _bracketed(self) -> LogicalType:
        self.expect("<")
        element = self.type()
        self._close_bracket()
        return element

    def _map(self) -> LogicalType:
        self.expect("<")
        key = self.type()
        self.expect(",")
        value = self.type()
        self._close_bracket()
        return logical.mapping(key, value)

    def _row_type(self) -> LogicalType:
        closing = ">"
        if self.accept("("):
            closing = ")"
        elif self.accept("<>"):
            return logical.row((), ())
        else:
            self.expect("<")
        fields = self.listed(self._field)
        if closing == ")":
            self.expect(")")
        else:
            self._close_bracket()
        return logical.row(tuple(name for name, _ in fields), tuple(kind for _, kind in fields))

    def _structured_type(self) -> LogicalType:
        self.expect("<")
        span = self.token.span
        class_name = self.string()
        with at_place(span):
            check_class_name(class_name)
        fields = []
        while self.accept(","):
            fields.append(self._field())
        self._close_bracket()
        return logical.structured(
            class_name, tuple(name for name, _ in fields), tuple(kind for _, kind in fields)
        )

    def _field(self) -> tuple[str, LogicalType]:
        name = self.name()
        parsed = self.type()
        if self.token.kind is Kind.STRING:
            self.next()
        return name, parsed

    def _close_bracket(self) -> None:
        self.expect(">")
