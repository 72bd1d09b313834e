"""The functions of a session: Flink's own, and those that the user adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.builtin.session import current_database
from pyflink_on_spark._sql.functions.library import builtin_functions

CURRENT_DATABASE = "CURRENT_DATABASE"


class FunctionCatalog:
    """Finds functions by name.

    Args:
        database: gives the name of the current database.
    """

    def __init__(self, database: Callable[[], str]) -> None:
        self._database = database
        self.system: dict[str, Any] = {}
        """The user's functions that are in no database, by their names in capitals."""

    def add(self, name: str, function: Any, *, replace: bool = False) -> None:
        """Add a function of the user's.

        Args:
            name: its name, perhaps with a database before it.
            function: the function.
            replace: whether it takes the place of one with that name.

        Raises:
            ValidationError: there is one of that name.
        """
        key = _key(name)
        if key in self.system and not replace:
            raise ValidationError(f"Could not register temporary function '{name}': it exists")
        self.system[key] = function

    def drop(self, name: str) -> bool:
        """Remove a function; tell whether there was one."""
        return self.system.pop(_key(name), None) is not None

    def find(self, name: str) -> Any:
        """Return the function of a name in any case, or None."""
        key = _key(name)
        found = self.system.get(key)
        if found is not None:
            return found
        if key == CURRENT_DATABASE:
            return current_database(self._database())
        return builtin_functions().find(name)

    def user_names(self) -> list[str]:
        """Return the names of the functions of the session, in order."""
        return sorted(name.lower() for name in self.system)

    def names(self) -> list[str]:
        """Return the names of all functions, Flink's own and those of the session, in order."""
        return sorted({CURRENT_DATABASE, *builtin_functions().names(), *self.user_names()})


def _key(name: str) -> str:
    """Return a function's own name in capitals, without the database that it is in."""
    return name.replace("`", "").rpartition(".")[2].upper()
