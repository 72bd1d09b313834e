"""Looks up rows of a table by the values of some columns, with a cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    duration,
    integer,
    one_of,
)
from pyflink_on_spark._sql.plan.ports import Find, Rows

_CACHE = Option("lookup.cache", one_of("none", "partial", "full"))


_MAX_ROWS = Option("lookup.partial-cache.max-rows", integer)


_AFTER_WRITE = Option("lookup.partial-cache.expire-after-write", duration)


_AFTER_ACCESS = Option("lookup.partial-cache.expire-after-access", duration)


_MISSING = Option("lookup.partial-cache.cache-missing-key", boolean, default=True)


_OLD_MAX_ROWS = Option("lookup.cache.max-rows", integer, default=-1)


_OLD_TTL = Option("lookup.cache.ttl", duration, default=0)


_OLD_MISSING = Option("lookup.cache.caching-missing-key", boolean, default=True)


CACHE_OPTIONS = (
    _CACHE, _MAX_ROWS, _AFTER_WRITE, _AFTER_ACCESS, _MISSING,
    _OLD_MAX_ROWS, _OLD_TTL, _OLD_MISSING,
)  # fmt: skip
"""The options of ``CachePolicy``."""


@dataclass(frozen=True)
class CachePolicy:
    """The limits of a subtask's cache of looked-up rows.

    Args:
        max_keys: for how many keys, the ones used last; None for any number.
        after_write: how long, in ms; None for any time.
        after_access: how long without a use, in ms; None for any time.
        missing: whether it is kept that a key has no rows.
    """

    max_keys: int | None = None
    after_write: int | None = None
    after_access: int | None = None
    missing: bool = True

    @classmethod
    def of(cls, options: TableOptions) -> CachePolicy | None:
        """Return the cache policy in the options of a table; None for no cache.

        Raises:
            ValidationError: they ask for what there is not.
        """
        options.note(CACHE_OPTIONS)
        kind = options[_CACHE]
        if kind == "full":
            raise ValidationError("The cache of the lookup can be NONE or PARTIAL, not FULL.")
        if kind == "partial":
            return cls(
                options[_MAX_ROWS],
                options[_AFTER_WRITE],
                options[_AFTER_ACCESS],
                bool(options[_MISSING]),
            )
        rows, ttl = options[_OLD_MAX_ROWS] or 0, options[_OLD_TTL] or 0
        if kind is None and rows > 0 and ttl > 0:
            return cls(rows, ttl, None, bool(options[_OLD_MISSING]))
        return None


class LookupCache:
    """Keeps the rows of keys that were looked up.

    Args:
        policy: what is kept.
        now: the processing time in ms.
    """

    def __init__(self, policy: CachePolicy, now: Callable[[], int]) -> None:
        self._policy, self._now = policy, now
        self._kept: OrderedDict[tuple[Any, ...], list[Any]] = OrderedDict()

    def caching(self, find: Find) -> Find:
        """Return a lookup that uses the cache first."""

        def cached(key: tuple[object, ...]) -> Rows:
            known = self._get(key)
            if known is not None:
                return known
            rows = find(key)
            if rows or self._policy.missing:
                self._put(key, rows)
            return rows

        return cached

    def _get(self, key: tuple[object, ...]) -> Rows | None:
        entry = self._kept.get(key)
        if entry is None:
            return None
        rows, written, used = entry
        now, policy = self._now(), self._policy
        if _is_over(now, written, policy.after_write) or _is_over(now, used, policy.after_access):
            del self._kept[key]
            return None
        entry[2] = now
        self._kept.move_to_end(key)
        found: Rows = rows
        return found

    def _put(self, key: tuple[object, ...], rows: Rows) -> None:
        now = self._now()
        self._kept[key] = [rows, now, now]
        most = self._policy.max_keys
        while most is not None and len(self._kept) > most:
            self._kept.popitem(last=False)


def _is_over(now: int, since: int, limit: int | None) -> bool:
    return limit is not None and now - since >= limit
