"""Addresses of the internet: numbers of texts, and back."""

from __future__ import annotations

import re

from pyflink_on_spark._sql.functions.parameters import always, calling, characters, of
from pyflink_on_spark._sql.plan.signatures import Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root

_PARTS = re.compile(r"[0-9]+(\.[0-9]+){0,3}")
_LAST = 2**32 - 1


def inet_aton(text: str) -> int | None:
    """Return the number of an address of one to four parts, the last of which stands alone."""
    if not _PARTS.fullmatch(text):
        return None
    *first, last = map(int, text.split("."))
    if last > 255 or any(part > 255 for part in first):
        return None
    return sum(part << (24 - 8 * index) for index, part in enumerate(first)) + last


def inet_ntoa(number: int) -> str | None:
    """Return the address of a number."""
    if not 0 <= number <= _LAST:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


FUNCTIONS = (
    ScalarFunction(
        "INET_ATON",
        (
            Overload(
                (characters,), always(logical.BIGINT), calling(inet_aton), Nulls.STRICT_NULLABLE
            ),
        ),
    ),
    ScalarFunction(
        "INET_NTOA",
        (
            Overload(
                (of(Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT),),
                always(logical.STRING),
                calling(inet_ntoa),
                Nulls.STRICT_NULLABLE,
            ),
        ),
    ),
)
