"""Errors in statements and expressions, with their position, and a limit for nested ones."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn, ParamSpec, TypeVar

from pyflink_on_spark._compat.errors import RaisedByJava
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._options.flink import STATE_TTL
from pyflink_on_spark.util.exceptions import CatalogException, TableException

_FAILED = "SQL validation failed."
_SIMILAR = 0.65
"""From which similarity on a name is suggested, from 0 to 1."""
_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")
_STACK_BYTES = 1 << 29
"""Address space; memory is taken for what is used."""
_FRAMES = 400_000
_calls = threading.local()


class ValidationError(RaisedByJava, ValueError):
    """A statement, an expression or a table's description is wrong."""

    java_class = "org.apache.flink.table.api.ValidationException"


class SqlParseError(ValidationError):
    """A text is no SQL."""

    java_class = "org.apache.flink.table.api.SqlParserException"


class SqlParseEndError(SqlParseError):
    """A text of SQL ends too soon."""

    java_class = "org.apache.flink.table.api.SqlParserEOFException"


class IllegalArgumentError(ValidationError):
    """An argument is wrong, whatever the tables are."""

    java_class = "java.lang.IllegalArgumentException"


class AssertionFailedError(ValidationError):
    """A statement that no check of Flink's refuses, and that its planner fails on."""

    java_class = "java.lang.AssertionError"


class UnsupportedOperationError(RaisedByJava, RuntimeError):
    """The catalog cannot do this; neither can PyFlink's."""

    java_class = "java.lang.UnsupportedOperationException"


class TableError(TableException):
    """A query cannot be planned; what PyFlink raises as TableException."""

    def __init__(self, message: str) -> None:
        super().__init__(f"org.apache.flink.table.api.TableException: {message}")


class TableRuntimeError(RaisedByJava, RuntimeError):
    """A table cannot take the rows of a query."""

    java_class = "org.apache.flink.table.api.TableRuntimeException"


class CatalogError(CatalogException):
    """A catalog, database or table is not there; what PyFlink raises as CatalogException."""

    def __init__(self, message: str) -> None:
        super().__init__(f"org.apache.flink.table.catalog.exceptions.CatalogException: {message}")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a SQL text.

    Args:
        text: the whole text.
        start: the index of the first character.
        end: the index after the last character.
    """

    text: str
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Return the piece from the beginning of this one to the end of another one."""
        return Span(self.text, self.start, max(self.end, other.end))

    def place(self) -> str:
        """Return the place of the first character."""
        line, column = self._position(self.start)
        return f"line {line}, column {column}"

    def range(self) -> str:
        """Return the places of the first and the last character, or of the only one."""
        if self.end - 1 <= self.start:
            return f"At {self.place()}"
        line, column = self._position(self.end - 1)
        return f"From {self.place()} to line {line}, column {column}"

    def __str__(self) -> str:
        return self.text[self.start : self.end]

    def _position(self, index: int) -> tuple[int, int]:
        before = self.text[:index]
        return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1


def invalid(message: str, span: Span | None) -> ValidationError:
    """Return the error for something wrong at a place.

    Args:
        message: what is wrong, as a sentence without its full stop.
        span: where in a SQL text; None for an expression of the DSL.
    """
    if span is None:
        return ValidationError(message)
    return ValidationError(f"SQL validation failed. {span.range()}: {message}")


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """Return the end of a message, with the most similar name that there is; or nothing.

    Args:
        wanted: the name that there is not.
        known: the names that there are.
    """
    by_case: dict[str, str] = {}
    for name in known:
        by_case.setdefault(name.lower(), name)
    close = get_close_matches(wanted.lower(), by_case, n=1, cutoff=_SIMILAR)
    return f"; did you mean '{by_case[close[0]]}'?" if close else ""


def unresolved_field(wanted: str, known: Sequence[str]) -> ValidationError:
    """The error of an expression that names a column that its table lacks.

    Args:
        wanted: the column.
        known: those of the table.
    """
    hint = as_sentence(did_you_mean(wanted, known))
    return ValidationError(
        f"Cannot resolve field [{wanted}], input field list:[{', '.join(known)}].{hint}"
    )


def as_sentence(hint: str) -> str:
    """The result of ``did_you_mean`` as a sentence of its own."""
    return hint.replace("; did", " Did", 1)


def not_yet(what: str, span: Span | None, instead: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a part of SQL that does not work yet.

    Args:
        what: the part, as a noun.
        span: where in a SQL text; None for an expression of the DSL.
        instead: what a user can do now, as a sentence.
    """
    place = "" if span is None else f" at {span.place()}"
    raise_unsupported(
        f"{what}{place}", kind=Gap.NOT_YET, reason="no operator does this", instead=instead
    )


@contextmanager
def at_place(span: Span | None) -> Iterator[None]:
    """Say where in a SQL text something wrong is, if the message does not say it.

    Args:
        span: where it is.
    """
    try:
        yield
    except ValidationError as error:
        if span is None or isinstance(error, SqlParseError) or error.message.startswith(_FAILED):
            raise
        raise invalid(error.message, span) from None


def at_any_depth(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """Let a function recurse as deep as its arguments need.

    A call that does not fit into the stack of its thread is repeated in a thread with a large one.
    So the function must not change anything before it has recursed.

    Raises:
        ValidationError: even that stack is too small.
    """

    @functools.wraps(function)
    def called(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        if getattr(_calls, "inside", False):
            return function(*args, **kwargs)  # the outermost call is repeated
        _calls.inside = True
        try:
            return function(*args, **kwargs)
        except RecursionError:
            pass
        finally:
            _calls.inside = False
        try:
            return _with_large_stack(lambda: function(*args, **kwargs))
        except RecursionError:
            raise ValidationError(
                "SQL validation failed. The statement is nested too deeply. Divide it into views, "
                "or replace a long chain of one operator by IN, or by a join with a table."
            ) from None

    return called


def _with_large_stack(function: Callable[[], _Result]) -> _Result:
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        _calls.inside = True
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            errors.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    try:
        sys.setrecursionlimit(max(limit, _FRAMES))
        thread = threading.Thread(target=run, name="deep-statement", daemon=True)
        thread.start()
    finally:
        threading.stack_size(stack)
    try:
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]


@dataclass(frozen=True)
class QuerySettings:
    """The settings of a session at the moment when a query is planned.

    Args:
        configuration: all of it.
        time_zone: by name.
        batch: whether the query runs in batch mode.
        parallelism: of operators, or None for the environment's.
    """

    configuration: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"
    batch: bool = False
    parallelism: int | None = None

    @property
    def state_ttl(self) -> int:
        """After how long without a change (ms) state is forgotten; 0 for never."""
        return STATE_TTL.read(self.configuration)
