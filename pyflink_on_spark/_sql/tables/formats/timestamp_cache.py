"""Reads many timestamps as they are usually written."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.types.temporal import cut_micros, is_plain_timestamp, parse_timestamp

_MOST = 20_000
_DAY, _HOUR, _TO_THE_SECOND = 10, 11, 19
_WITH_POINT = 20


class BoundedCache(dict[str, int]):
    """A bounded cache of a function of texts.

    Args:
        find: the function.
    """

    def __init__(self, find: Callable[[str], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, text: str) -> int:
        value = self._find(text)
        if len(self) >= _MOST:
            self.clear()
        self[text] = value
        return value

    def all(self, texts: list[str]) -> list[int]:
        """Return the results for some texts."""
        return list(map(self.__getitem__, texts))


def usual_timestamps(digits: int, zone: bool) -> Callable[[list[str]], list[int]]:
    """Return the parser of texts like ``2024-01-01 00:00:00.123``.

    It returns microseconds, and raises ValueError if a text has another form, also one that means
    a timestamp.

    Args:
        digits: how many of the fraction of a second count.
        zone: whether there is a Z after them.
    """
    ends = {"Z", "."} if zone else {"", "."}

    def second(text: str) -> int:
        if text[_TO_THE_SECOND:] not in ends or text[_DAY:_HOUR] != " ":
            raise ValueError(f"{text!r} is unusual")
        return _second(text)

    def fraction(text: str) -> int:
        if text and text.endswith("Z") is not zone:
            raise ValueError(f"{text!r} is unusual")
        return cut_micros(_fraction(text), digits)

    seconds, fractions = BoundedCache(second), BoundedCache(fraction)
    return lambda texts: [
        seconds[text[:_WITH_POINT]] + fractions[text[_WITH_POINT:]] for text in texts
    ]


def timestamp_reader(digits: int, otherwise: Callable[[str], int]) -> Callable[[str], int]:
    """Return the parser of one text as ``usual_timestamps`` has it, with a fallback."""
    seconds, fractions = _parts(digits)

    def read(text: str) -> int:
        try:
            return seconds[text[:_WITH_POINT]] + fractions[text[_WITH_POINT:]]
        except (ValueError, TypeError):
            return otherwise(text)

    return read


def _parts(digits: int) -> tuple[BoundedCache, BoundedCache]:
    return BoundedCache(_second), BoundedCache(lambda text: cut_micros(_fraction(text), digits))


def _second(text: str) -> int:
    """Return the microseconds of the beginning of a text, up to the point."""
    moment, end = text[:_TO_THE_SECOND], text[_TO_THE_SECOND:]
    if len(moment) == _TO_THE_SECOND and end in {"", ".", "Z"} and is_plain_timestamp(moment):
        found = parse_timestamp(moment)
        if found is not None:
            return found
    raise ValueError(f"{text!r} is unusual")


def _fraction(text: str) -> int:
    digits = text.removesuffix("Z")
    if not text:
        return 0
    if digits.isascii() and digits.isdigit():
        return int(f"{digits}000000"[:6])
    raise ValueError(f"{text!r} is unusual")
