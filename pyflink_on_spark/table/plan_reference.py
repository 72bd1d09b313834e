"""References to compiled plans: as a file, as JSON and as bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.session.session import read_plan

__all__ = [
    "PlanReference",
    "FilePlanReference",
    "JsonContentPlanReference",
    "BytesContentPlanReference",
]


class PlanReference:
    """A reference to a compiled plan.

    Args:
        j_plan_reference: use ``from_file``, ``from_json_string`` and ``from_smile_bytes``.
    """

    def __init__(self, j_plan_reference):
        self._place: Any = j_plan_reference

    def __str__(self):
        return f"Plan:\n{self._place}"

    def __hash__(self):
        return hash((type(self), self._place))

    def __eq__(self, other):
        return type(self) is type(other) and self._place == other._place

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        """Refer to a file."""
        return FilePlanReference(str(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Refer to JSON."""
        return JsonContentPlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference:
        """Refer to bytes, of ``CompiledPlan.as_smile_bytes``."""
        return BytesContentPlanReference(smile_bytes)

    def _text(self) -> str:
        return str(self._place)


class FilePlanReference(PlanReference):
    """A file with a compiled plan."""

    def __str__(self):
        return f"Plan from file '{self._place}'"

    def get_file(self) -> Path:
        """Return the file."""
        return Path(self._place)

    def _text(self) -> str:
        return read_plan(self._place)


class JsonContentPlanReference(PlanReference):
    """A compiled plan as JSON."""

    def get_content(self) -> str:
        """Return the JSON."""
        return str(self._place)


class BytesContentPlanReference(PlanReference):
    """A compiled plan as bytes."""

    def __str__(self):
        return f"Plan:\n{list(self._place)}"

    def get_content(self) -> bytes:
        """Return the bytes."""
        return bytes(self._place)

    def _text(self) -> str:
        return bytes(self._place).decode(errors="replace")


__getattr__ = missing_name(__name__)
