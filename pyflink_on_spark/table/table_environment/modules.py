"""What a TableEnvironment has to do with modules, functions and models of catalogs."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark.table.module import ModuleEntry


class Modules:
    """The part of a TableEnvironment that says where SQL's functions come from."""

    _session: Session

    def list_modules(self) -> list[str]:
        """Return the names of the modules that are used, in the order of their functions."""
        return list(self._session.functions.modules.used)

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return all modules, those that are used first."""
        modules = self._session.functions.modules
        rest = [name for name in modules.loaded if name not in modules.used]
        return [ModuleEntry(name, name in modules.used) for name in (*modules.used, *rest)]

    def use_modules(self, *module_names: str):
        """Choose the modules in which SQL looks for functions.

        Raises:
            ValidationError: there is no such module, or one stands twice.
        """
        self._session.functions.modules.use(*module_names)

    def unload_module(self, module_name: str):
        """Remove a module.

        On Spark: SQL finds all of Flink's functions without the module ``core``, too. Flink's SQL
        finds most of them.

        Raises:
            ValidationError: there is no such module.
        """
        self._session.functions.modules.unload(module_name)

    def list_functions(self) -> list[str]:
        """Return the names of all functions, Flink's own and those of the user's.

        On Spark: without the functions that Flink keeps for itself and those not there yet.
        """
        return self._session.functions.names()

    def drop_function(self, path: str) -> bool:
        """Remove a function from a catalog; tell whether there was one."""
        return self._session.functions.drop(path)

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
