"""Modules: the sets of functions that SQL knows."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported_class

__all__ = ["HiveModule", "Module", "ModuleEntry"]

_unsupported = unsupported_class(
    kind=Gap.NEVER,
    reason="a module is a class of Java",
    instead="Add functions with create_temporary_system_function.",
)


@_unsupported
class Module:
    """A set of functions of SQL."""

    def __init__(self, j_module): ...


@_unsupported
class HiveModule(Module):
    """Hive's functions."""

    def __init__(self, hive_version: str | None = None): ...


class ModuleEntry:
    """A module, and whether SQL looks for functions in it.

    Args:
        name: its name.
        used: whether it is used.
        j_module_entry: not used.
    """

    def __init__(self, name: str, used: bool, j_module_entry=None):
        self._name, self._used = name, used

    def name(self) -> str:
        """Return the name."""
        return self._name

    def used(self) -> bool:
        """True if the module is used."""
        return self._used

    def __repr__(self):
        return f"ModuleEntry{{name='{self._name}', used={str(self._used).lower()}}}"

    def __eq__(self, other):
        return isinstance(other, ModuleEntry) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return not self == other


__getattr__ = missing_name(__name__)
