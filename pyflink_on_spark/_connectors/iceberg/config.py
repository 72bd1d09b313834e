"""Descriptions of Iceberg's catalogs and tables, as jobs carry them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


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
    def rows(self, batch: pa.RecordBatch) -> list[Any]:
        """Return the rows of a batch of these columns, in the types of Iceberg."""

    @abstractmethod
    def batch(self, rows: Sequence[Any]) -> pa.RecordBatch:
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
