"""Options, their kinds, and how values are read from a configuration and written into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from pyflink_on_spark._options.option_text import (
    AmountOfTime,
    memory_text,
    option_text,
    parse_boolean,
    parse_double,
    parse_duration_ms,
    parse_int,
    parse_list,
    parse_long,
    parse_map,
    parse_memory_bytes,
)

T = TypeVar("T")
Int = TypeVar("Int", bound=int | None)
Float = TypeVar("Float", bound=float | None)
Text = TypeVar("Text", bound=str | None)


class Details(TypedDict, total=False):
    """The optional details of an option of any type: see ``Option``."""

    effect: Effect
    former: tuple[str, ...]
    check: Callable[[Any], None]


def boolean(key: str, default: bool, **details: Unpack[Details]) -> Option[bool]:
    """Declare an option that is true or false."""
    return Option(key, "boolean", parse_boolean, default, _only(bool), **details)


def integer(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an integer of 32 bits."""
    return Option(key, "integer", parse_int, default, **details)


def long(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an integer of 64 bits."""
    return Option(key, "long", parse_long, default, **details)


def double(key: str, default: Float, **details: Unpack[Details]) -> Option[float | Float]:
    """Declare an option that is a floating-point number."""
    return Option(key, "double", parse_double, default, **details)


def text(key: str, default: Text, **details: Unpack[Details]) -> Option[str | Text]:
    """Declare an option that is any text."""
    return Option(key, "string", option_text, default, _only(str), **details)


def choice(
    key: str, names: tuple[str, ...], default: Text, **details: Unpack[Details]
) -> Option[str | Text]:
    """Declare an option that is one of some names, in upper or lower case.

    Args:
        key: the option's key.
        names: the names, in upper case; a value is one of them.
        default: the value when the option is not set.
        details: see ``Option``.
    """

    def parse(value: object) -> str:
        name = option_text(value).upper()
        if name not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return name

    return Option(key, " | ".join(names), parse, default, **details)


def duration(key: str, default_ms: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an amount of time; its value is in milliseconds."""
    return Option(
        key, "duration", parse_duration_ms, default_ms, AmountOfTime.from_millis, **details
    )


def memory(key: str, default: Int, **details: Unpack[Details]) -> Option[int | Int]:
    """Declare an option that is an amount of memory; its value is in bytes."""
    return Option(key, "memory size", parse_memory_bytes, default, memory_text, **details)


def text_list(key: str, **details: Unpack[Details]) -> Option[list[str]]:
    """Declare an option that is a list of texts, empty when it is not set."""
    return Option(key, "list", parse_list, [], list, **details)


def text_map(key: str, **details: Unpack[Details]) -> Option[dict[str, str]]:
    """Declare an option that is a map of texts, empty when it is not set."""
    return Option(key, "map", parse_map, {}, dict, spread=True, **details)


def _only(kind: type[T]) -> Callable[[Any], T]:
    """Return a function that stores values of one type, and raises TypeError for others."""

    def store(value: object) -> T:
        if not isinstance(value, kind):
            raise TypeError(f"expected a {kind.__name__}, not {value!r}")
        return value

    return store


def at_least(least: int, message: str) -> Callable[[int | None], None]:
    """Return a check that raises ValueError with a message for smaller values."""

    def check(value: int | None) -> None:
        if value is not None and value < least:
            raise ValueError(message)

    return check


@dataclass(frozen=True)
class Effect:
    """The effect of an option on Spark.

    Args:
        recorded: whether the option is only kept, and does nothing.
        text: for a recorded option, why it has no effect; otherwise what the reader of
            ``docs/reference/options.md`` has to know beyond Flink's own description, or nothing.
        harmless: values, other than the default, that a recorded option may have without a note.
        needs: the option that has to be set for this one to work.
    """

    recorded: bool = False
    text: str = ""
    harmless: tuple[object, ...] = ()
    needs: Option[Any] | None = None


def works(text: str = "", needs: Option[Any] | None = None) -> Effect:
    """Describe the effect of an option that works.

    Args:
        text: what differs from Flink, or for an own option what it does.
        needs: the option without which this one has no effect; ``text`` then says why.
    """
    return Effect(text=text, needs=needs)


def recorded(reason: str, harmless: tuple[object, ...] = ()) -> Effect:
    """Describe an option that has no effect.

    A job whose configuration gives the option another value than the default logs the reason.

    Args:
        reason: why the option has no effect, or what to use instead.
        harmless: other values for which nothing is lost and nothing is logged.
    """
    return Effect(True, reason, harmless)


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option of a configuration.

    Args:
        key: its name.
        kind: its type, as the documentation names it.
        parse: turns what a configuration holds into a value; raises ValueError.
        default: its value when it is not set.
        store: turns a value into what a configuration holds.
        former: other keys that are read when the key is not set, in this order.
        effect: what the option does on Spark.
        check: raises ValueError if a value is out of bounds.
        spread: whether the value may be spread over keys that begin with ``<key>.``.
    """

    key: str
    kind: str
    parse: Callable[[Any], T]
    default: T
    store: Callable[[Any], object] = field(default=lambda value: value)
    former: tuple[str, ...] = ()
    effect: Effect = Effect()
    check: Callable[[T], None] = field(default=lambda value: None)
    spread: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The key and the former keys, in the order in which they are looked up."""
        return (self.key, *self.former)

    def key_in(self, values: Mapping[str, object]) -> str | None:
        """Return the key under which a configuration has the option; None if it is not set."""
        return next((key for key in self.keys if key in values), None)

    def is_set(self, values: Mapping[str, object]) -> bool:
        """True if a configuration has the option, under any of its keys."""
        return self.key_in(values) is not None or bool(self._spread(values))

    def read(self, values: Mapping[str, object]) -> T:
        """Return the option's value in a configuration, or the default.

        Raises:
            ValueError: the configuration holds a value that the option cannot have.
        """
        key = self.key_in(values)
        if key is not None:
            value = parsed(key, values[key], self.parse)
        elif entries := self._spread(values):
            value = parsed(self.key, entries, self.parse)
        else:
            return self.default
        self.check(value)
        return value

    def write(self, values: MutableMapping[str, object], value: T) -> None:
        """Set the option in a configuration.

        Raises:
            ValueError: the option cannot have the value.
        """
        self.check(value)
        if self.spread:
            self.remove(values)
        values[self.key] = self.store(value)

    def remove(self, values: MutableMapping[str, Any]) -> None:
        """Unset the option, under all of its keys."""
        spread = [f"{self.key}.{name}" for name in self._spread(values)]
        for key in (*self.keys, *spread):
            values.pop(key, None)

    def _spread(self, values: Mapping[str, object]) -> dict[str, object]:
        if not self.spread:
            return {}
        start = f"{self.key}."
        return {key[len(start) :]: item for key, item in values.items() if key.startswith(start)}


@dataclass(frozen=True)
class OptionPrefix:
    """Options whose keys end with a name that the user chooses, such as that of an account.

    Args:
        prefix: what all the keys begin with.
        name: what the rest of a key stands for.
        effect: what the options do on Spark.
    """

    prefix: str
    name: str
    effect: Effect = Effect()

    def read(self, name: str, values: Mapping[str, object]) -> str | None:
        """Return the text of the option for a name, or None if it is not set."""
        value = values.get(f"{self.prefix}{name}")
        return None if value is None else option_text(value)


def parsed(key: str, value: object, parse: Callable[[Any], T]) -> T:
    """Return the value of an option.

    Args:
        key: the option's key, for the message.
        value: what the configuration holds.
        parse: turns it into the option's value.

    Raises:
        ValueError: it names the key and the value.
    """
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(
            f"Could not parse value '{option_text(value)}' for key '{key}': {error}"
        ) from error
