"""Catalogs of pyiceberg: their settings, and their errors."""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

_LOCK = threading.Lock()


class IcebergCatalogKind(Enum):
    """The place in which a catalog keeps where the newest version of each table is."""

    FOLDERS = "hadoop"
    DATABASE = "jdbc"
    SERVER = "rest"


@dataclass(frozen=True)
class IcebergCatalogConfig:
    """The settings of a catalog.

    Args:
        name: its name, under which a database keeps its tables.
        kind: its kind.
        properties: those of pyiceberg.
    """

    name: str
    kind: IcebergCatalogKind
    properties: Mapping[str, str] = field(repr=False)


class BatchRows(ABC):
    """Converts between rows and batches of Arrow. Picklable."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def rows(self, batch: pa.RecordBatch) -> list[object]:
        """Return the rows of a batch of these columns, in the types of Iceberg."""

    @abstractmethod
    def batch(self, rows: Sequence[object]) -> pa.RecordBatch:
        """Return rows as a batch; at least one."""


@dataclass(frozen=True)
class IcebergTableConfig:
    """A table.

    Args:
        catalog: the catalog that has it.
        namespace: the name of its database.
        name: its own name.
        rows: converts rows of the wanted columns.
    """

    catalog: IcebergCatalogConfig
    namespace: str
    name: str
    rows: BatchRows

    @property
    def place(self) -> str:
        """The name of the table, for messages."""
        return f"{self.namespace}.{self.name}"


class IcebergStart(Enum):
    """The snapshot from which a reader of new snapshots begins."""

    TABLE = "TABLE_SCAN_THEN_INCREMENTAL"
    LATEST = "INCREMENTAL_FROM_LATEST_SNAPSHOT"
    EARLIEST = "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"
    SNAPSHOT = "INCREMENTAL_FROM_SNAPSHOT_ID"


@dataclass(frozen=True)
class SnapshotsConfig:
    """The settings of a reader of new snapshots.

    Args:
        interval: how often it looks for snapshots, in ms.
        start: where it begins.
        snapshot: the number of the snapshot after which it begins, if ``start`` says so.
    """

    interval: int
    start: IcebergStart = IcebergStart.TABLE
    snapshot: int | None = None


class IcebergError(PyFlinkOnSparkError):
    """A catalog or a table cannot be reached, or refuses what it is asked for."""


def package(module: str) -> ModuleType:
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


def _folders(config: IcebergCatalogConfig) -> Catalog:
    from pyflink_on_spark._connectors.iceberg.folders import FolderCatalog

    return FolderCatalog(config.name, **config.properties)


def _database(config: IcebergCatalogConfig) -> Catalog:
    sql = package("pyiceberg.catalog.sql")
    made: Catalog = sql.SqlCatalog(config.name, **config.properties)
    return made


def _server(config: IcebergCatalogConfig) -> Catalog:
    rest = package("pyiceberg.catalog.rest")
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
