"""The details that an explanation shows besides the plan."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """Details of an explanation."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3


__getattr__ = missing_name(__name__)
