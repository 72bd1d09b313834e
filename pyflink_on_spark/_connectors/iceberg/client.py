"""Catalogs of pyiceberg, and their errors."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.iceberg.config import (
    IcebergCatalogConfig,
    IcebergCatalogKind,
    IcebergTableConfig,
)

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table


class IcebergError(PyFlinkOnSparkError):
    """A catalog or a table cannot be reached, or refuses what it is asked for."""


def package(module: str) -> Any:
    """Import a module of pyiceberg.

    Raises:
        ModuleNotFoundError: it is not installed; says how to install it.
    """
    return optional_package(module, "pyiceberg", "Iceberg tables", "iceberg")


@contextlib.contextmanager
def asking(place: str) -> Iterator[None]:
    """Add the name of a catalog or table to errors of pyiceberg.

    Raises:
        IcebergError: instead of errors of pyiceberg, of its database and of files.
    """
    try:
        yield
    except (IcebergError, ModuleNotFoundError):
        raise
    except Exception as error:
        module = type(error).__module__
        if isinstance(error, OSError) or module.startswith(("pyiceberg", "sqlalchemy", "requests")):
            text = str(error).strip().partition("\n")[0]
            raise IcebergError(f"{place}: {text or type(error).__name__}") from error
        raise


def open_catalog(config: IcebergCatalogConfig) -> Catalog:
    """Open a catalog.

    Raises:
        IcebergError: it cannot be reached.
        ModuleNotFoundError: pyiceberg is not installed.
    """
    # pyiceberg registers its kinds of tables while it is imported, and threads may race for that.
    with _LOCK:
        package("pyiceberg.catalog")
        with asking(f"the Iceberg catalog {config.name}"):
            return _OPEN[config.kind](config)


_LOCK = threading.Lock()


def _folders(config: IcebergCatalogConfig) -> Catalog:
    from pyflink_on_spark._connectors.iceberg.folders import FolderCatalog

    return FolderCatalog(config.name, **config.properties)


def _database(config: IcebergCatalogConfig) -> Catalog:
    sql: Any = package("pyiceberg.catalog.sql")
    made: Catalog = sql.SqlCatalog(config.name, **config.properties)
    return made


def _server(config: IcebergCatalogConfig) -> Catalog:
    rest: Any = package("pyiceberg.catalog.rest")
    made: Catalog = rest.RestCatalog(config.name, **config.properties)
    return made


_OPEN = {
    IcebergCatalogKind.FOLDERS: _folders,
    IcebergCatalogKind.DATABASE: _database,
    IcebergCatalogKind.SERVER: _server,
}


def open_table(config: IcebergTableConfig) -> Table:
    """Open the newest version of a table.

    Raises:
        IcebergError: it is not there, or cannot be reached.
    """
    with (
        contextlib.closing(open_catalog(config.catalog)) as catalog,
        asking(f"the Iceberg table {config.place}"),
    ):
        return catalog.load_table((config.namespace, config.name))
