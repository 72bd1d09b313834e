"""How many examples and cases a run of tests tries: a part of them, or all, as at night.

The environment variable CRASH_POINTS, with the value ``all``, asks for all.
"""

from __future__ import annotations

import os

TRIES_ALL = os.environ.get("CRASH_POINTS") == "all"


def share(count: int) -> int:
    """A third of a number of random examples, or the number itself where all are tried."""
    return count if TRIES_ALL else -(-count // 3)
