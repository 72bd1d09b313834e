"""Differences of outcomes."""

from __future__ import annotations

import re
from collections import Counter

from tests.random_programs.outcome import Outcome

_MAP = re.compile(r"\{([^{}]*)\}")


def difference(expected: Outcome, found: Outcome, *, any_order: bool = False) -> str | None:
    """Say in a line how an outcome differs from the expected one; None if it does not.

    Args:
        expected: the one.
        found: the other.
        any_order: whether rows may have another order.
    """
    one, other = expected.failure, found.failure
    if one is not None and other is not None:
        return None  # the engines' own words differ
    if other is not None:
        return f"fails ({other.by}): {other.error}"
    if one is not None:
        return f"does not fail ({one.by}): {one.error}"
    for number, (rows, others) in enumerate(zip(expected.results, found.results)):
        rows, others = (tuple(map(_with_sorted_maps, found)) for found in (rows, others))
        missing, added = Counter(rows), Counter(others)
        missing, added = missing - added, added - missing
        if missing or added:
            return f"{number}: misses {_some(missing)}, has {_some(added)}"
        if rows != others and not any_order:
            return f"{number}: the order is {others}, not {rows}"
    return None


def _with_sorted_maps(row: str) -> str:
    """Return a row in which the entries of maps, which have no order, are sorted."""
    return _MAP.sub(lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", row)


def kind(expected: Outcome, found: Outcome) -> str | None:
    """Return the sort of a difference, which a smaller program has to share."""
    text = difference(expected, found)
    if text is None:
        return None
    if found.failure is not None:
        return f"fails {found.failure.error.split(':')[0]}"
    if expected.failure is not None:
        return f"does not fail {expected.failure.error.split(':')[0][:60]}"
    return "order" if "the order is" in text else "rows"


def _some(counted: Counter[str]) -> str:
    elements = sorted(counted.elements())
    return f"{elements[:4]}{' ...' if len(elements) > 4 else ''}"
