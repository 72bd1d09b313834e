"""Statements that change the objects of a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

from pyflink_on_spark._sql.binder.aggregates import parts
from pyflink_on_spark._sql.binder.tables import TableDescription
from pyflink_on_spark._sql.catalog import Partition, Relation
from pyflink_on_spark._sql.errors import TableError, ValidationError
from pyflink_on_spark._sql.functions.catalog import PythonFunction
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView, ObjectPath
from pyflink_on_spark._sql.session.creation import (
    check_catalog_options,
    check_language,
    column_definition,
    primary_key,
    view_of,
    watermark_definitions,
)
from pyflink_on_spark._sql.session.session import Session, check_distribution
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.syntax.expressions import Expression, Name
from pyflink_on_spark._sql.syntax.statements import ColumnDefinition, ColumnKind, ObjectKind


def rename(session: Session, statement: syntax.Rename) -> None:
    """Give a table or view another name in its database.

    Raises:
        ValidationError: there is no such table or view, or there is one of the new name.
    """
    path = session.catalog.qualify(statement.path)
    if _permanent(session, path, statement.kind, statement.if_exists) is None:
        return
    new = session.catalog.qualify(statement.new_path)
    relations = session.catalog.database(path).relations
    if new.name in relations:
        raise ValidationError(
            f"Could not execute ALTER {statement.kind.value} {path} RENAME TO {new}: "
            f"Table (or view) {path.database}.{new.name} already exists in Catalog {path.catalog}."
        )
    session.catalog.database(path).rename(path.name, new.name)


def set_options(session: Session, statement: syntax.AlterOptions) -> None:
    """Change options of a table.

    Raises:
        ValidationError: there is no such table, or an option cannot be reset.
    """
    path, table = _table(session, statement)
    if table is None:
        return
    removed = statement.removed
    if removed is not None and not removed:
        raise ValidationError("ALTER TABLE RESET does not support empty key")
    if removed is not None and "connector" in removed:
        raise ValidationError("ALTER TABLE RESET does not support changing 'connector'")
    options = {**table.options, **dict(statement.options)}
    for key in removed or ():
        options.pop(key, None)
    relations = session.catalog.database(path).relations
    relations[path.name] = replace(table, options=options)


# -- columns -------------------------------------------------------------------------------------


def place_columns(session: Session, statement: syntax.AlterColumns) -> None:
    """Add columns, a watermark or a primary key to a table, or change them.

    Raises:
        ValidationError: there is no such table, or what is written does not fit.
    """
    path, table = _table(session, statement)
    if table is None:
        return
    before = _description(table)
    _check_placed(statement, before)
    columns = list(before.columns)
    for placed in statement.columns:
        _place(columns, placed, statement.modify)
    description = TableDescription(
        tuple(columns),
        statement.watermarks or before.watermarks,
        statement.primary_key or before.primary_key,
    )
    _describe_anew(session, path, table, description)


def drop_columns(session: Session, statement: syntax.DropColumns) -> None:
    """Remove columns, the watermark or the primary key of a table.

    Raises:
        ValidationError: there is no such table, or something else needs what goes.
    """
    path, table = _table(session, statement)
    if table is None:
        return
    before = _description(table)
    watermarks, key = before.watermarks, before.primary_key
    if statement.watermark:
        if not watermarks:
            _fail("The current table does not define any watermark strategy.")
        watermarks = ()
    if statement.primary_key:
        if key is None:
            _fail("The current table does not define any primary key.")
        _check_constraint(statement.constraint, key)
        key = None
    for index, name in enumerate(statement.columns):
        if name in statement.columns[:index]:
            _fail(f"Duplicate column `{name}`.")
        _check_unused(name, table, before, statement.columns)
    columns = tuple(each for each in before.columns if each.name not in statement.columns)
    _describe_anew(session, path, table, TableDescription(columns, watermarks, key))


def rename_column(session: Session, statement: syntax.RenameColumn) -> None:
    """Give a column of a table another name.

    Raises:
        ValidationError: there is no such table or column, or something else needs the column.
    """
    path, table = _table(session, statement)
    if table is None:
        return
    before = _description(table)
    _check_unused(statement.column, table, before, ())
    if statement.name in table.schema.row.names:
        _fail(f"The column `{statement.name}` already existed in table schema.")
    columns = tuple(
        replace(each, name=statement.name) if each.name == statement.column else each
        for each in before.columns
    )
    _describe_anew(session, path, table, replace(before, columns=columns))


def _description(table: CatalogTable) -> TableDescription:
    schema = table.schema
    columns = tuple(column_definition(column) for column in schema.columns)
    return TableDescription(columns, watermark_definitions(schema), primary_key(schema))


def _describe_anew(
    session: Session, path: ObjectPath, table: CatalogTable, description: TableDescription
) -> None:
    """Put a table with other columns in the place of a table."""
    try:
        described = session.described_table(
            description, table.options, table.partition_by, table.comment, table.distribution
        )
    except ValidationError as error:
        _fail(error.message)
    session.catalog.database(path).relations[path.name] = described


def _check_placed(statement: syntax.AlterColumns, before: TableDescription) -> None:
    """Check that added columns are new, and that changed columns exist."""
    there = {column.name for column in before.columns}
    seen: set[str] = set()
    for placed in statement.columns:
        name = placed.definition.name
        if name in seen:
            _fail(f"Encounter duplicate column `{name}`.")
        if statement.modify and name not in there:
            _fail(f"Column `{name}` does not exist in the table.")
        if not statement.modify and name in there:
            _fail(f"Column `{name}` already exists in the table.")
        seen.add(name)
    if statement.primary_key is not None:
        _check_change(statement, before.primary_key is not None, _key_text(before))
    if statement.watermarks:
        _check_change(statement, bool(before.watermarks), _watermark_text(before))


def _check_change(statement: syntax.AlterColumns, is_there: bool, what: str) -> None:
    if statement.modify and not is_there:
        kind = what.partition(" [")[0].partition(" strategy")[0]
        _fail(f"The current table does not define any {kind}. You might want to add a new one.")
    if is_there and not statement.modify:
        _fail(
            f"The current table has already defined the {what}. You might want to drop it before "
            "adding a new one."
        )


def _key_text(description: TableDescription) -> str:
    key = description.primary_key
    names = "" if key is None else ", ".join(f"`{column.parts[0]}`" for column in key.columns)
    return f"primary key constraint [{names}]"


def _watermark_text(description: TableDescription) -> str:
    if not description.watermarks:
        return "watermark strategy"
    (watermark,) = description.watermarks
    return f"watermark strategy `{watermark.column.parts[0]}` AS {watermark.expression.span}"


def _place(columns: list[ColumnDefinition], placed: syntax.PlacedColumn, modify: bool) -> None:
    """Put a column where it belongs."""
    definition = placed.definition
    index = len(columns)
    if modify:
        index = next(i for i, each in enumerate(columns) if each.name == definition.name)
        if definition.comment is None:
            definition = replace(definition, comment=columns[index].comment)
        del columns[index]
    if placed.first:
        index = 0
    elif placed.after is not None:
        names = [each.name for each in columns]
        if placed.after not in names:
            _fail(f"Referenced column `{placed.after}` by 'AFTER' does not exist in the table.")
        index = names.index(placed.after) + 1
    columns.insert(index, definition)


def _check_constraint(name: str | None, key: syntax.PrimaryKey) -> None:
    own = key.name or f"PK_{'_'.join(column.parts[0] for column in key.columns)}"
    if name is not None and name != own:
        _fail(
            f"The current table does not define a primary key constraint named '{name}'. Available "
            f"constraint name: ['{own}']."
        )


def _check_unused(
    name: str, table: CatalogTable, description: TableDescription, dropped: Sequence[str]
) -> None:
    """Check that a column is there, and that nothing that stays needs the column."""
    if name not in table.schema.row.names:
        _fail(f"The column `{name}` does not exist in the base table.")
    users = sorted(
        f"`{column.name}`"
        for column in description.columns
        if column.kind is ColumnKind.COMPUTED
        and column.name not in dropped
        and name in _names_in(column.expression)
    )
    if users:
        _fail(f"The column `{name}` is referenced by computed column {', '.join(users)}.")
    if name in table.partition_by:
        _fail(f"The column `{name}` is used as the partition keys.")
    if name in (table.schema.primary_key or ()):
        _fail(f"The column `{name}` is used as the primary key.")
    if table.distribution is not None and name in table.distribution.columns:
        _fail(f"The column `{name}` is used as a distribution key.")
    for watermark in description.watermarks:
        if name == watermark.column.parts[0] or name in _names_in(watermark.expression):
            _fail(f"The column `{name}` is referenced by watermark expression.")


def _names_in(expression: Expression | None) -> set[str]:
    return {part.parts[0] for part in parts(expression) if isinstance(part, Name)}


def _fail(reason: str) -> NoReturn:
    raise ValidationError(f"Failed to execute ALTER TABLE statement.\n{reason}") from None


# -- buckets and partitions ----------------------------------------------------------------------


def distribute(session: Session, statement: syntax.AlterDistribution) -> None:
    """Change the buckets of a table.

    Raises:
        ValidationError: there is no such table, or it has buckets already, or has none.
        TableError: the buckets do not fit the table.
    """
    path = session.catalog.qualify(statement.path)
    table = _permanent(session, path, ObjectKind.TABLE, if_exists=False)
    assert isinstance(table, CatalogTable)
    there, wanted = table.distribution, statement.distribution
    if wanted is None and there is None:
        raise ValidationError(f"Table {path.quoted} does not have a distribution to drop.")
    if statement.modify and there is None:
        _fail("The base table does not define any distribution. You might want to add a new one.")
    if wanted is not None and there is not None and not statement.modify:
        _fail(
            f"The current table has already defined the distribution '{there}'. You can modify it "
            "or drop it before adding a new one."
        )
    if wanted is not None:
        try:
            check_distribution(wanted, table.schema)
        except ValidationError as error:
            raise TableError(
                f"Could not execute AlterTable in path {path.quoted}\n{error.message}"
            ) from None
    relations = session.catalog.database(path).relations
    relations[path.name] = replace(table, distribution=wanted)


def alter_partitions(session: Session, statement: syntax.AlterPartitions) -> None:
    """Add partitions to what the catalog knows of a table, or remove some; files stay as they are.

    Raises:
        ValidationError: there is no such table.
        TableError: it has no partitions, the values are those of other columns, or a partition is
            there, or is missing. Those before stay added or removed.
    """
    path = session.catalog.qualify(statement.path)
    word = "DROP" if statement.drop else "ADD"
    texts = (f"PARTITION ({_values_text(values)})" for values, _ in statement.partitions)
    told = f"Could not execute ALTER TABLE {path} {word} {' '.join(texts)}"
    found = session.catalog.database(path).relations.get(path.name)
    place = f"{path.database}.{path.name}"
    if found is None and not statement.drop:
        raise ValidationError(
            f"{told}\nTable (or view) {place} does not exist in Catalog {path.catalog}."
        )
    known = {} if found is None else session.catalog.database(path).annex(path.name).partitions
    keys = found.partition_by if isinstance(found, CatalogTable) else ()
    for values, options in statement.partitions:
        key, spec = frozenset(values.items()), _spec_text(values)
        partition = f"{told}\nPartition {spec} of table {place} in catalog {path.catalog}"
        if statement.drop:
            if key not in known and not statement.lenient:
                raise TableError(f"{partition} does not exist.")
            known.pop(key, None)
            continue
        if not keys:
            raise TableError(f"{told}\nTable {place} in catalog {path.catalog} is not partitioned.")
        if values.keys() != set(keys):
            raise TableError(
                f"{told}\nPartitionSpec {spec} does not match partition keys "
                f"[{', '.join(keys)}] of table {place} in catalog {path.catalog}."
            )
        if key in known and not statement.lenient:
            raise TableError(f"{partition} already exists.")
        before = known.get(key)
        known[key] = Partition(before.values if before else values, dict(options))


def _spec_text(values: Mapping[str, str]) -> str:
    return f"CatalogPartitionSpec{{{{{_values_text(values)}}}}}"


def _values_text(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


# -- others --------------------------------------------------------------------------------------


def alter_view(session: Session, statement: syntax.AlterView) -> None:
    """Let a view stand for another query.

    Raises:
        ValidationError: there is no such view, or something in the query is wrong.
    """
    path = session.catalog.qualify(statement.path)
    view = _permanent(session, path, ObjectKind.VIEW, if_exists=False)
    assert isinstance(view, CatalogView)
    session.catalog.database(path).relations[path.name] = view_of(
        session, statement.query, comment=view.comment
    )


def alter_database(session: Session, statement: syntax.AlterDatabase) -> None:
    """Change properties of a database.

    Raises:
        ValidationError: there is no such database.
    """
    catalog, name = (session.catalog.current_catalog, *statement.path)[-2:]
    if catalog not in session.catalog.catalogs:
        raise ValidationError(f"Catalog {catalog} not exists")
    database = session.catalog.catalogs[catalog].databases.get(name)
    if database is None:
        raise ValidationError(f"Database {name} not exists")
    database.properties.update(statement.options)


def alter_catalog(session: Session, statement: syntax.AlterCatalog) -> None:
    """Change the options or the comment of a catalog.

    Raises:
        ValidationError: there is no such catalog, or it cannot have these options.
    """
    catalog = session.catalog.catalogs.get(statement.name)
    if catalog is None or catalog.properties is None:
        raise ValidationError(
            f"Could not execute ALTER CATALOG {statement.name}: Catalog {statement.name} does not "
            "exist in the catalog store."
        )
    if statement.comment is not None:
        catalog.comment = statement.comment
        return
    removed = statement.removed
    if removed is not None and not removed:
        raise ValidationError("ALTER CATALOG RESET does not support empty key")
    if removed is not None and "type" in removed:
        raise ValidationError("ALTER CATALOG RESET does not support changing 'type'")
    properties = {**catalog.properties, **dict(statement.options)}
    for key in removed or ():
        properties.pop(key, None)
    check_catalog_options(statement.name, properties)
    catalog.properties = properties


def alter_function(session: Session, statement: syntax.AlterFunction) -> None:
    """Let a function of a catalog be another Python object.

    Raises:
        ValidationError: there is no such function, or it is a temporary one.
        UnsupportedFlinkFeature: the function is one of Java.
    """
    if statement.temporary:
        kind = "system" if statement.system else "catalog"
        raise ValidationError(f"Alter temporary {kind} function is not supported")
    check_language("ALTER FUNCTION", statement.language)
    function = PythonFunction(statement.implementation)
    session.functions.alter(".".join(statement.path), function, if_exists=statement.if_exists)


def use_modules(session: Session, statement: syntax.UseModules) -> None:
    """Choose the modules in which functions are looked for.

    Raises:
        ValidationError: one of them is not there, or stands twice.
    """
    names = ", ".join(statement.names)
    with _told(f"USE MODULES: [{names}]"):
        session.functions.modules.use(*statement.names)


def load_module(session: Session, statement: syntax.LoadModule) -> None:
    """Add a module.

    Raises:
        ValidationError: it is there already, or there is no such module.
    """
    options = ", ".join(f"'{key}' = '{value}'" for key, value in statement.options)
    given = f" WITH ({options})" if options else ""
    with _told(f"LOAD MODULE `{statement.name}`{given}"):
        session.functions.modules.load(statement.name)


def unload_module(session: Session, statement: syntax.UnloadModule) -> None:
    """Remove a module.

    Raises:
        ValidationError: it is not there.
    """
    with _told(f"UNLOAD MODULE {statement.name}"):
        session.functions.modules.unload(statement.name)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say in errors what could not be done."""
    try:
        yield
    except ValidationError as error:
        raise ValidationError(f"Could not execute {what}. {error.message}") from None


def _table(
    session: Session,
    statement: syntax.AlterOptions | syntax.AlterColumns | syntax.DropColumns | syntax.RenameColumn,
) -> tuple[ObjectPath, CatalogTable | None]:
    """Return the name of the table that a statement changes, and the table.

    The table is None if it may be missing and is.
    """
    path = session.catalog.qualify(statement.path)
    table = _permanent(session, path, ObjectKind.TABLE, statement.if_exists)
    assert table is None or isinstance(table, CatalogTable)
    return path, table


def _permanent(
    session: Session, path: ObjectPath, kind: ObjectKind, if_exists: bool
) -> Relation | None:
    """Return a table or view that is not temporary, or None if it may be missing and is."""
    word = kind.value
    found = None if path in session.catalog.temporary else session.catalog.find(path)
    if found is None:
        if if_exists:
            return None
        raise ValidationError(
            f"{word.capitalize()} {path.quoted} doesn't exist or is a temporary {word.lower()}."
        )
    if isinstance(found, CatalogView) is not (kind is ObjectKind.VIEW):
        other = "table" if kind is ObjectKind.VIEW else "view"
        raise ValidationError(f"ALTER {word} for a {other} is not allowed")
    return found
