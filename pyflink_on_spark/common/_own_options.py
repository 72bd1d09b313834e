"""The options that this package adds to Flink's."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_PREFIX = "pyflink-on-spark."
_NAMES = (
    "checkpoint-storage.max-state-size",
    "default-kryo-serializers",
    "epoch-elements",
    "execution-mode",
    "input-dependency-constraint",
    "progress",
    "types-with-kryo-serializers",
    "watermark-interval-elements",
)
OWN_OPTIONS = frozenset(_PREFIX + name for name in _NAMES)


def check_own_options(keys: Iterable[str]) -> None:
    """Refuse an option that has this package's prefix, and that it does not have.

    Args:
        keys: the names of the options that are set.

    Raises:
        ValueError: it names the option, and the one that was probably meant.
    """
    for key in keys:
        if key in OWN_OPTIONS or not key.replace("_", "-").startswith(_PREFIX):
            continue
        close = get_close_matches(key[len(_PREFIX) :], _NAMES, n=1)
        hint = f"did you mean {_PREFIX}{close[0]}?" if close else f"it has {', '.join(_NAMES)}"
        raise ValueError(f"pyflink_on_spark has no option {key!r}: {hint}")
