"""The dialects of SQL."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["SqlDialect"]


class SqlDialect:
    """The dialect of a statement."""

    DEFAULT = 0
    HIVE = 1


__getattr__ = missing_name(__name__)
