"""What is said of a field whose type a format has nothing for."""

from __future__ import annotations

from typing import Any, NoReturn

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported


def refuse_field(type_info: Any, format_name: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a type that a format does not have."""
    raise_unsupported(
        f"a field of type {type_info} in {format_name}",
        kind=Gap.NOT_YET,
        reason="it is neither read nor written",
        instead="Declare it as a STRING, and convert it in a map().",
    )
