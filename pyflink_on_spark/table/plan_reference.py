# mypy: disable-error-code="empty-body"
"""Where compiled plans are: names and signatures only."""

from __future__ import annotations

from pathlib import Path

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported_class

__all__ = [
    "PlanReference",
    "FilePlanReference",
    "JsonContentPlanReference",
    "BytesContentPlanReference",
]

_unsupported = unsupported_class(
    kind=Gap.NEVER,
    reason="a compiled plan is a file of Flink's planner",
    instead="Run the INSERT with execute_sql or a StatementSet.",
)


@_unsupported
class PlanReference:
    """The place of a compiled plan."""

    def __init__(self, j_plan_reference): ...

    def __str__(self): ...

    def __hash__(self): ...

    def __eq__(self, other): ...

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference: ...

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference: ...

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference: ...


@_unsupported
class FilePlanReference(PlanReference):
    """A file with a compiled plan."""

    def get_file(self) -> Path: ...


@_unsupported
class JsonContentPlanReference(PlanReference):
    """A compiled plan as JSON."""

    def get_content(self) -> str: ...


@_unsupported
class BytesContentPlanReference(PlanReference):
    """A compiled plan as Smile."""

    def get_content(self) -> bytes: ...


__getattr__ = missing_name(__name__)
