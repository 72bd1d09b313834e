"""A place in a list of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyflink_on_spark._sql.errors import Span, SqlParseError
from pyflink_on_spark._sql.parser.keywords import RESERVED
from pyflink_on_spark._sql.parser.tokens import Kind, Token, tokenize

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
        """Tell whether the next tokens are certain keywords or symbols, one after the other."""
        return all(self.peek(index).upper == word for index, word in enumerate(words))

    def at_any(self, *words: str) -> bool:
        """Tell whether the next token is one of some keywords or symbols."""
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
        written = "<EOF>" if token.kind is Kind.END else str(token.span)
        message = f'SQL parse failed. Encountered "{written}" at {token.span.place()}.'
        if token.kind is Kind.WORD and token.upper in RESERVED:
            message += f" The word is reserved: a name has to be in back-ticks, `{token.text}`"
        return SqlParseError(message)

    def at_name(self) -> bool:
        """Tell whether a name comes next."""
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
            raise SqlParseError(
                f"only single statement supported: another one begins at {self.token.span.place()}"
            )
        if self.token.kind is not Kind.END:
            raise self.unexpected()
