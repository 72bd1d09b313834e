"""What a TableEnvironment has to do with modules, functions and models of catalogs."""

from __future__ import annotations

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.session import Session
from pyflink_on_spark.table.module import ModuleEntry

_CORE = "core"


class Modules:
    """The part of a TableEnvironment that says where SQL's functions come from."""

    _session: Session

    def list_modules(self) -> list[str]:
        """Return the names of the modules: Flink's own functions."""
        return [_CORE]

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return the modules: Flink's own functions."""
        return [ModuleEntry(_CORE, True)]

    def use_modules(self, *module_names: str):
        """Choose the modules in which SQL looks for functions.

        Raises:
            ValidationError: there is no such module.
        """
        for name in module_names:
            if name != _CORE:
                raise ValidationError(f"No module with name '{name}' exists")
        if not module_names:
            raise_unsupported(
                "use_modules()",
                kind=Gap.NOT_YET,
                reason="Flink's own functions are always there",
                instead="Leave the call out.",
            )

    def list_functions(self) -> list[str]:
        """Return the names of all functions, Flink's own and those of the user's.

        On Spark: without the functions that Flink keeps for itself and those not there yet.
        """
        return self._session.functions.names()

    def drop_function(self, path: str) -> bool:
        """Remove a function from a catalog; tell whether there was one.

        On Spark: always False. Functions of a program last as long as its session.
        """
        return False

    def list_models(self) -> list[str]:
        """Return the names of the models: there are none."""
        return []

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models: there are none."""
        return []

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model; tell whether there was one.

        Raises:
            ValidationError: there is none, and that is not to be ignored.
        """
        if not ignore_if_not_exists:
            raise ValidationError(f"Model with identifier '{model_path}' does not exist.")
        return False

    def drop_temporary_model(self, model_path: str) -> bool:
        """Remove a temporary model; tell whether there was one."""
        return False
