"""The catalog of Iceberg whose tables are folders, as its catalog for Hadoop has them.

A table is the folder ``warehouse/database/table``. Its versions are the files ``v1.metadata.json``,
``v2.metadata.json`` and so on below ``metadata``, and ``version-hint.text`` has the number of one
that is not old. Whoever makes the next file first has committed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote, urlparse

from pyiceberg.catalog import MetastoreCatalog, PropertiesUpdateSummary
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties

_VERSION = re.compile(r"v(\d+)(\.gz)?\.metadata\.json(\.gz)?")
_HINT = "version-hint.text"


def local_folder(location: str) -> Path | None:
    """Return the local folder of a path or URI; None if it is elsewhere."""
    found = urlparse(location)
    if found.scheme not in ("", "file") or found.netloc not in ("", "localhost"):
        return None
    return Path(unquote(found.path) if found.scheme else location)


class FolderCatalog(MetastoreCatalog):
    """The tables below a local folder, the property ``warehouse``.

    Raises:
        ValueError: the folder is not local: elsewhere two writers could make the same file.
    """

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties)
        self._warehouse = properties["warehouse"].rstrip("/")
        folder = local_folder(self._warehouse)
        if folder is None:
            raise ValueError(f"not a local folder: {self._warehouse}")
        self._folder = folder

    # -- tables ----------------------------------------------------------------------------------

    def create_table(
        self,
        identifier: str | Identifier,
        schema: object,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        database, name = self.identifier_to_database_and_table(identifier)
        self._check_namespace(database)
        own = self._place(database, name)
        if location is not None and location.rstrip("/") != own:
            raise ValueError(f"a table of folders cannot be at {location}: its place is {own}")
        if self._versions(database, name):
            raise TableAlreadyExistsError(f"Table {database}.{name} already exists")
        staged = self._create_staged_table(
            (database, name), schema, own, partition_spec, sort_order, properties
        )
        self._write_version(database, name, 1, staged.metadata)
        return self.load_table((database, name))

    def load_table(self, identifier: str | Identifier) -> Table:
        database, name = self.identifier_to_database_and_table(identifier, NoSuchTableError)
        _, file = self._newest(database, name)
        location = f"{self._place(database, name)}/metadata/{file}"
        io = self._load_file_io(location=location)
        metadata = FromInputFile.table_metadata(io.new_input(location))
        return Table(
            (database, name),
            metadata,
            location,
            self._load_file_io(metadata.properties, location),
            self,
        )

    def commit_table(
        self,
        table: Table,
        requirements: tuple[TableRequirement, ...],
        updates: tuple[TableUpdate, ...],
    ) -> CommitTableResponse:
        database, name = self.identifier_to_database_and_table(table.name())
        before: Table | None = None
        version = 0
        with contextlib.suppress(NoSuchTableError):
            version, _ = self._newest(database, name)
            before = self.load_table((database, name))
        staged = self._update_and_stage_table(before, (database, name), requirements, updates)
        if before is not None and staged.metadata == before.metadata:
            return _response(before.metadata, before.metadata_location)
        file = self._write_version(database, name, version + 1, staged.metadata)
        if before is not None:
            self._delete_old_metadata(staged.io, before.metadata, staged.metadata)
        return _response(staged.metadata, f"{self._place(database, name)}/metadata/{file}")

    def drop_table(self, identifier: str | Identifier) -> None:
        database, name = self.identifier_to_database_and_table(identifier, NoSuchTableError)
        self._newest(database, name)
        shutil.rmtree(self._folder / database / name)

    def purge_table(self, identifier: str | Identifier) -> None:
        self.drop_table(identifier)

    def rename_table(
        self, from_identifier: str | Identifier, to_identifier: str | Identifier
    ) -> NoReturn:
        _refuse("a table has its name from its folder, which its files have in their paths")

    def register_table(
        self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False
    ) -> NoReturn:
        _refuse("the versions of a table are in its folder")

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        database = self.identifier_to_database(namespace, NoSuchNamespaceError)
        self._check_namespace(database)
        found = sorted(entry.name for entry in os.scandir(self._folder / database))
        return [(database, name) for name in found if self._versions(database, name)]

    def _place(self, database: str, name: str) -> str:
        return f"{self._warehouse}/{database}/{name}"

    def _versions(self, database: str, name: str) -> dict[int, str]:
        try:
            files = os.listdir(self._folder / database / name / "metadata")
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {int(found[1]): file for file in files if (found := _VERSION.fullmatch(file))}

    def _newest(self, database: str, name: str) -> tuple[int, str]:
        versions = self._versions(database, name)
        if not versions:
            raise NoSuchTableError(f"Table does not exist: {database}.{name}")
        newest = max(versions)
        return newest, versions[newest]

    def _write_version(
        self, database: str, name: str, version: int, metadata: TableMetadata
    ) -> str:
        """Make the file of a version.

        Raises:
            CommitFailedException: somebody else has made it.
        """
        folder = self._folder / database / name / "metadata"
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{uuid.uuid4()}.metadata.json"
        io = self._load_file_io(location=str(draft))
        ToOutputFile.table_metadata(metadata, io.new_output(str(draft)))
        file = f"v{version}.metadata.json"
        try:
            _sync(draft)
            os.link(draft, folder / file)
        except FileExistsError:
            raise CommitFailedException(
                f"Version {version} of {database}.{name} already exists"
            ) from None
        finally:
            draft.unlink()
        _sync(folder)
        hint = folder / f"{uuid.uuid4()}.{_HINT}"
        hint.write_text(str(version), encoding="ascii")
        hint.replace(folder / _HINT)
        return file

    # -- namespaces ------------------------------------------------------------------------------

    def create_namespace(
        self, namespace: str | Identifier, properties: Properties = EMPTY_DICT
    ) -> None:
        if properties:
            _refuse("a folder has no properties")
        database = self.identifier_to_database(namespace)
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            (self._folder / database).mkdir()
        except FileExistsError:
            raise NamespaceAlreadyExistsError(f"Namespace {database} already exists") from None

    def drop_namespace(self, namespace: str | Identifier) -> None:
        database = self.identifier_to_database(namespace, NoSuchNamespaceError)
        if self.list_tables(database):
            raise NamespaceNotEmptyError(f"Namespace {database} is not empty")
        (self._folder / database).rmdir()

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        if namespace:
            return []
        try:
            return sorted((entry.name,) for entry in os.scandir(self._folder) if entry.is_dir())
        except FileNotFoundError:
            return []

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        self._check_namespace(self.identifier_to_database(namespace, NoSuchNamespaceError))
        return {}

    def update_namespace_properties(
        self,
        namespace: str | Identifier,
        removals: set[str] | None = None,
        updates: Properties = EMPTY_DICT,
    ) -> PropertiesUpdateSummary:
        _refuse("a folder has no properties")

    def _check_namespace(self, database: str) -> None:
        if not (self._folder / database).is_dir():
            raise NoSuchNamespaceError(f"Namespace does not exist: {database}")

    # -- views -----------------------------------------------------------------------------------

    def list_views(self, namespace: str | Identifier) -> list[Identifier]:
        return []

    def view_exists(self, identifier: str | Identifier) -> bool:
        return False

    def load_view(self, identifier: str | Identifier) -> NoReturn:
        _refuse(_NO_VIEWS)

    def create_view(self, *arguments: object, **settings: object) -> NoReturn:
        _refuse(_NO_VIEWS)

    def drop_view(self, identifier: str | Identifier) -> NoReturn:
        _refuse(_NO_VIEWS)

    def register_view(self, identifier: str | Identifier, metadata_location: str) -> NoReturn:
        _refuse(_NO_VIEWS)


_NO_VIEWS = "folders have no views"


def _response(metadata: TableMetadata, location: str) -> CommitTableResponse:
    return CommitTableResponse.model_validate({"metadata": metadata, "metadata-location": location})


def _refuse(reason: str) -> NoReturn:
    raise NotImplementedError(reason)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
