"""Makes and changes tables of Iceberg."""

from __future__ import annotations

from itertools import count
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.iceberg.client import package
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import CatalogTable, Column
from pyflink_on_spark._sql.syntax.statements import ColumnKind
from pyflink_on_spark._sql.tables.connectors.iceberg.types import (
    iceberg_schema,
    iceberg_type,
    table_columns,
)

_PREFIXES = (
    "write.", "read.", "commit.", "history.", "gc.", "compatibility.", "schema.", "encryption.",
)  # fmt: skip
_FORMAT_VERSION, _COMMENT = "format-version", "comment"
_PARTITION_NUMBERS = 1000


def is_property(key: str) -> bool:
    """True for the key of a property of tables of Iceberg."""
    return key == _FORMAT_VERSION or key.startswith(_PREFIXES)


def create_table(catalog: Any, database: str, name: str, wanted: CatalogTable) -> None:
    """Make a table.

    Args:
        catalog: that of pyiceberg.
        database: the name of its database.
        name: its own name.
        wanted: its columns; its options are the properties.

    Raises:
        ValidationError: Iceberg cannot have such a table.
    """
    _check_columns(wanted)
    schema = iceberg_schema(wanted.schema.columns, wanted.schema.primary_key or ())
    properties = dict(wanted.options)
    if wanted.comment is not None:
        properties[_COMMENT] = wanted.comment
    partitioning: Any = package("pyiceberg.partitioning")
    transforms: Any = package("pyiceberg.transforms")
    spec = partitioning.PartitionSpec(
        *[
            partitioning.PartitionField(
                schema.find_field(column).field_id,
                _PARTITION_NUMBERS + place,
                transforms.IdentityTransform(),
                column,
            )
            for place, column in enumerate(wanted.partition_by)
        ]
    )
    catalog.create_table((database, name), schema, partition_spec=spec, properties=properties)


def _check_columns(wanted: CatalogTable) -> None:
    other = [each.name for each in wanted.schema.columns if each.kind is not ColumnKind.PHYSICAL]
    if other:
        raise ValidationError(
            f"A table of Iceberg has no computed columns or metadata, such as '{other[0]}': "
            "CREATE TEMPORARY TABLE ... LIKE adds them to a table of Iceberg."
        )
    if wanted.schema.watermark is not None:
        raise ValidationError(
            "A table of Iceberg has no watermark: CREATE TEMPORARY TABLE ... LIKE adds one."
        )


def change_properties(table: Any, before: dict[str, str], after: dict[str, str]) -> None:
    """Set and remove properties of a table."""
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    removed = [key for key in before if key not in after]
    if changed or removed:
        with table.transaction() as transaction:
            if changed:
                transaction.set_properties(changed)
            if removed:
                transaction.remove_properties(*removed)


def change_columns(table: Any, wanted: CatalogTable) -> None:
    """Add, remove, rename or change columns of a table.

    Raises:
        ValidationError: Iceberg cannot have such a table.
        UnsupportedFlinkFeature: the primary key would change.
    """
    _check_columns(wanted)
    schema = table.schema()
    if set(wanted.schema.primary_key or ()) != set(schema.identifier_field_names()):
        raise_unsupported(
            "another primary key for a table of Iceberg",
            kind=Gap.NOT_YET,
            reason="rows that are there may not fit",
            instead="Change the key with pyiceberg: table.update_schema().set_identifier_fields().",
        )
    before = {column.name: column for column in table_columns(schema)}
    after = {column.name: column for column in wanted.schema.columns}
    added = [column for name, column in after.items() if name not in before]
    removed = [name for name in before if name not in after]
    with table.update_schema() as update:
        if len(added) == len(removed) == 1 and _place(before, removed[0]) == _place(
            after, added[0].name
        ):
            update.rename_column(removed[0], added[0].name)
            return
        for name in removed:
            update.delete_column(name)
        for column in added:
            _add(update, column, list(after))
        for name, column in after.items():
            if name in before and before[name] != column:
                _change(update, before[name], column)


def _place(columns: dict[str, Column], name: str) -> tuple[int, str]:
    return list(columns).index(name), str(columns[name].type)


def _add(update: Any, column: Column, order: list[str]) -> None:
    kind = iceberg_type(column.type, count(1))
    update.add_column(column.name, kind, column.comment, required=not column.type.nullable)
    place = order.index(column.name)
    if place == 0:
        update.move_first(column.name)
    else:
        update.move_after(column.name, order[place - 1])


def _change(update: Any, before: Column, column: Column) -> None:
    kind = None
    if str(before.type) != str(column.type):
        kind = iceberg_type(column.type, count(1))
    required = not column.type.nullable
    update.update_column(column.name, kind, required, column.comment)
