"""What is said when a connector is used that has no client behind it yet."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, unsupported_use


def connector_gap(system: str) -> Any:
    """Return what stands for a connector's runtime until there is one.

    Args:
        system: what it would connect to.
    """
    return unsupported_use(
        kind=Gap.NOT_YET,
        reason=f"there is no client for {system} behind it",
        instead="Read and write files, and move them with a tool of that system.",
    )
