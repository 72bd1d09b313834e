"""What is said when a format is used that nothing reads or writes yet."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, unsupported_use


def format_gap(what: str) -> Any:
    """Return what stands for a format's runtime until there is one.

    Args:
        what: what does not work, as the subject of a sentence: ``"CSV files"``.
    """
    return unsupported_use(
        kind=Gap.NOT_YET,
        reason=f"{what} are not read and written yet",
        instead="Read and write text, and convert it in a map() with a Python library.",
    )
