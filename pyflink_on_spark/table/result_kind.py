"""The kinds of results: with rows, or only successful."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["ResultKind"]


class ResultKind:
    """Kinds of results."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1


__getattr__ = missing_name(__name__)
