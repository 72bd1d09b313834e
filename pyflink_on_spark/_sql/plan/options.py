"""The options of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pyflink_on_spark._options.memory_text import parse_memory_bytes
from pyflink_on_spark._options.option_text import (
    parse_boolean,
    parse_duration_ms,
    parse_long,
)
from pyflink_on_spark._sql.errors import ValidationError, did_you_mean

Value = TypeVar("Value")


@dataclass(frozen=True)
class Option(Generic[Value]):
    """An option that a connector or a format understands.

    Args:
        key: its key; a ``#`` in it stands for the name of a column.
        read: makes its value of a text; raises ValueError.
        default: its value where it is not given.
        required: whether it has to be given.
    """

    key: str
    read: Callable[[str], Value]
    default: Value | None = None
    required: bool = False


def text(value: str) -> str:
    """Read a text."""
    return value


boolean = parse_boolean
integer = parse_long
memory_size = parse_memory_bytes
duration = parse_duration_ms
"""Reads a time, and gives it in ms."""


def one_of(*values: str) -> Callable[[str], str]:
    """Read one of some words, in any case."""

    def read(value: str) -> str:
        word = value.strip().lower()
        if word not in values:
            raise ValueError(f"it has to be one of {', '.join(values)}")
        return word

    return read


class TableOptions:
    """The options of a table, and the keys among them that were understood.

    Args:
        given: of ``WITH``.
        prefix: what stands before the keys of a format, ``csv.`` for example.
        used: the keys that were understood; shared with the options of formats.
    """

    def __init__(
        self, given: Mapping[str, str], prefix: str = "", used: set[str] | None = None
    ) -> None:
        self.given, self.prefix = given, prefix
        self.used = set() if used is None else used

    def __getitem__(self, option: Option[Value]) -> Value:
        """Return an option's value.

        Raises:
            ValidationError: it is missing, or its text is wrong.
        """
        key = self.prefix + option.key
        self.used.add(key)
        written = self.given.get(key)
        if written is None:
            if option.required:
                raise ValidationError(
                    "One or more required options are missing.\n\n"
                    f"Missing required options are:\n\n{key}"
                )
            return option.default  # type: ignore[return-value]
        try:
            return option.read(written)
        except ValueError as error:
            raise ValidationError(
                f"Invalid value for option '{key}': '{written}': {error}"
            ) from None

    def note(self, options: Iterable[Option[Any]]) -> None:
        """Count options as understood, also those without a part in the current use.

        Raises:
            ValidationError: the text of one is wrong.
        """
        for option in options:
            self.used.add(self.prefix + option.key)
            if self.has(option):
                self[option]

    def has(self, option: Option[Any]) -> bool:
        """True if the table has this option."""
        return self.prefix + option.key in self.given

    def under(self, prefix: str) -> TableOptions:
        """Return the options whose keys begin with something more, as those of a format."""
        return TableOptions(self.given, self.prefix + prefix, self.used)

    def beginning_with(self, prefix: str) -> dict[str, str]:
        """Return all options whose keys begin so, without that beginning; all are understood."""
        found = {key: value for key, value in self.given.items() if key.startswith(prefix)}
        self.used.update(found)
        return {key.removeprefix(prefix): value for key, value in found.items()}

    def with_default(self, key: str, value: str) -> TableOptions:
        """Return the same options with a value for one that was not given."""
        return TableOptions({key: value, **self.given}, self.prefix, self.used)

    def require(self, options: Iterable[Option[Any]]) -> None:
        """Check that all required options are there.

        Raises:
            ValidationError: some are missing.
        """
        wanted = {self.prefix + option.key for option in options if option.required}
        missing = sorted(wanted - self.given.keys())
        if missing:
            raise ValidationError(
                "One or more required options are missing.\n\nMissing required options are:\n\n"
                + "\n".join(missing)
            )

    def check_all_used(self, connector: str, known: Iterable[str]) -> None:
        """Check that every option was understood.

        Args:
            connector: its identifier.
            known: the keys that it understands, for the message.

        Raises:
            ValidationError: some were not.
        """
        unknown, known = sorted(set(self.given) - self.used), sorted({*known, *self.used})
        if unknown:
            raise ValidationError(
                f"Unsupported options found for '{connector}'.\n\nUnsupported options:\n\n"
                + "\n".join(key + did_you_mean(key, known).replace(";", " -") for key in unknown)
                + "\n\nSupported options:\n\n"
                + "\n".join(known)
            )
