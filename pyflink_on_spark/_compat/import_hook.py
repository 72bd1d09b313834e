"""Lets ``import pyflink...`` find this package."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Sequence
from types import ModuleType

from pyflink_on_spark._compat.own_frames import install_short_tracebacks

_REAL = "pyflink"
_OURS = "pyflink_on_spark"
OWN_ONLY = {"errors", "extensions", "flink_state", "state", "tools"}
# Where a module of this package is not in the place of PyFlink's, since that is taken.
_ELSEWHERE = {"pyflink.testing": "pyflink_on_spark.testing.of_pyflink"}
OF_THE_JVM = {
    "find_flink_home",
    "fn_execution",
    "pyflink_callback_server",
    "pyflink_gateway_server",
    "shell",
}
_lock = threading.RLock()


class PyFlinkFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers imports of ``pyflink`` and its modules with this package's modules.

    A module under PyFlink's name and the one under ours are the same object, except for the
    package itself, whose ``__version__`` is PyFlink's.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the module of ours that stands for one of PyFlink's."""
        if fullname != _REAL and not fullname.startswith(_REAL + "."):
            return None
        ours = own_name(fullname)
        top = ours.split(".")[1] if "." in ours else ""
        if top.startswith("_") or top in OWN_ONLY or not _exists(ours):
            raise ModuleNotFoundError(_no_module(fullname), name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=_is_package(ours))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return our module."""
        ours = importlib.import_module(own_name(spec.name))
        return _PyFlinkPackage(ours) if spec.name == _REAL else ours

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: our module was run when it was imported under its own name.

        The import system has just written PyFlink's name into it; the old name comes back, so that
        pickles name our module, which workers find without this hook.
        """
        spec = module.__spec__
        if spec is not None and spec.name.split(".")[0] == _REAL:
            ours = own_name(spec.name)
            module.__spec__ = _specs.get(ours, spec)
            module.__name__ = ours
            module.__loader__ = module.__spec__.loader
            module.__package__ = ours if hasattr(module, "__path__") else ours.rpartition(".")[0]

    def __repr__(self) -> str:
        return "<PyFlinkFinder: pyflink is pyflink_on_spark>"


class _PyFlinkPackage(ModuleType):
    """The package ``pyflink``: this package, with PyFlink's version.

    Args:
        ours: this package.
    """

    def __init__(self, ours: ModuleType) -> None:
        super().__init__(ours.__name__, ours.__doc__)
        self.__file__, self.__path__ = ours.__file__, ours.__path__
        self.__version__ = ours.__pyflink_version__

    def __getattr__(self, name: str) -> object:
        return getattr(sys.modules[_OURS], name)

    def __reduce__(self) -> tuple[object, ...]:
        return importlib.import_module, (self.__name__,)


_specs: dict[str, importlib.machinery.ModuleSpec] = {}


def own_name(name: str) -> str:
    """Return the name of the module of this package that stands for one of PyFlink's."""
    for real, ours in _ELSEWHERE.items():
        if name == real or name.startswith(real + "."):
            return ours + name.removeprefix(real)
    return _OURS + name.removeprefix(_REAL)


def install() -> None:
    """Make ``import pyflink`` and all below it import this package, in this process.

    Raises:
        ImportError: if the real PyFlink is imported already.
    """
    with _lock:
        loaded = sys.modules.get(_REAL)
        if loaded is not None and loaded.__name__ != _OURS:
            where = getattr(loaded, "__file__", "somewhere")
            raise ImportError(
                f"the real pyflink is imported already, from {where}: call "
                "pyflink_on_spark.install() before the first import of pyflink"
            )
        if not is_installed():
            sys.meta_path.insert(0, PyFlinkFinder())
            install_short_tracebacks()


def is_installed() -> bool:
    """True if ``import pyflink`` imports this package."""
    return any(type(finder).__name__ == PyFlinkFinder.__name__ for finder in sys.meta_path)


def _exists(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return False
    if spec is not None:
        _specs[name] = spec
    return spec is not None


def _is_package(name: str) -> bool:
    return _specs[name].submodule_search_locations is not None


def _no_module(name: str) -> str:
    if name.split(".")[1:2] == ["table"]:
        return (
            f"No module named {name!r}: this part of the Table API is not in pyflink_on_spark yet. "
            "Use the modules that there are, or a DataStream."
        )
    if name.split(".")[1] in OF_THE_JVM:
        return (
            f"No module named {name!r} in pyflink_on_spark, which stands for pyflink here: "
            "PyFlink's own works with Flink's JVM, which does not exist here."
        )
    return (
        f"No module named {name!r} in pyflink_on_spark, which stands for pyflink here. It is "
        "missing in PyFlink too, or not supported on Spark."
    )
