"""What to do about mistakes that many make, of which Python's own message says little."""

from __future__ import annotations

import re

from pyflink_on_spark._runtime.diagnosis.blame import Culprit
from pyflink_on_spark._runtime.types.errors import NullValueError

_NOT_ITERABLE = re.compile(r"'(\w+)' object is not iterable")


def advice(error: BaseException, culprit: Culprit | None) -> str | None:
    """Return a line to stand below an error; None for most."""
    if isinstance(error, StopIteration):
        return (
            "next() raises StopIteration when an iterator is exhausted: give it a default, as in "
            "next(iterator, None), or catch it"
        )
    if culprit is None:
        return None
    if isinstance(error, NullValueError):
        return f"did the function of {culprit.plan.name!r} return nothing?"
    if isinstance(error, TypeError) and culprit.direct:
        return _about_results(str(error), culprit)
    if isinstance(error, (TypeError, AttributeError)) and "'NoneType'" in str(error):
        return _about_none(culprit)
    return None


def _about_results(message: str, culprit: Culprit) -> str | None:
    found = _NOT_ITERABLE.search(message)
    if found is None:
        return None
    returned = "nothing" if found[1] == "NoneType" else f"an object of type {found[1]}"
    return (
        f"the function of {culprit.plan.name!r} returned {returned}: let it yield its results, or "
        "return a list of them"
    )


def _about_none(culprit: Culprit) -> str | None:
    kind, thing = culprit.subject or ("", "")
    if kind != "value" or thing is not None:
        return None
    before = culprit.before
    if before is None:
        return "the element is None: did the function before return nothing?"
    place = f", added at {before.call_site}," if before.call_site else ""
    return f"the element is None: did the function of {before.name!r}{place} return nothing?"
