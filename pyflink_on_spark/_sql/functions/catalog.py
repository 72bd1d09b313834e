"""The functions of a session: Flink's own, and those that the user adds."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.functions.library import builtin_functions


class FunctionCatalog:
    """Finds functions by name."""

    def __init__(self) -> None:
        self.system: dict[str, Any] = {}
        """The user's functions that are in no database, by their names in capitals."""

    def find(self, name: str) -> Any:
        """Return the function of a name in any case, or None."""
        found = self.system.get(name.upper())
        return builtin_functions().find(name) if found is None else found
