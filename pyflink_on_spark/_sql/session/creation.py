"""CREATE: makes tables and views, and shows the statements that make them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._options.secrets import all_masked
from pyflink_on_spark._sql.binder.tables import TableDescription
from pyflink_on_spark._sql.catalog import Catalog, Database
from pyflink_on_spark._sql.errors import CatalogError, TableError, ValidationError, invalid
from pyflink_on_spark._sql.functions.catalog import PythonFunction
from pyflink_on_spark._sql.parser.statements import parse_expression
from pyflink_on_spark._sql.plan.options import (
    CatalogTable,
    CatalogView,
    Column,
    ObjectPath,
    ResolvedSchema,
)
from pyflink_on_spark._sql.session import database_catalog, hive_catalog, iceberg_catalog
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.syntax.expressions import Call, Name
from pyflink_on_spark._sql.syntax.queries import Query
from pyflink_on_spark._sql.syntax.statements import ColumnKind, ObjectKind
from pyflink_on_spark._sql.tables.connectors.absent import way_out_of_catalog
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType


def resolved_text(lines: Iterable[str]) -> str:
    """Return columns, watermarks and constraints, a line each."""
    return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"


def column_line(column: Column) -> str:
    """Return the name and type of a column, and what else is to be said of it."""
    extras = column_extras(column)
    line = f"`{column.name}` {column_text(column.type)}"
    if extras is not None:
        line += f" {extras}"
    return line if column.comment is None else f"{line} COMMENT '{column.comment}'"


def column_extras(column: Column) -> str | None:
    """Return where the values of a column come from; None for a physical one."""
    if column.kind is ColumnKind.COMPUTED:
        return f"AS {column.text}"
    if column.kind is ColumnKind.METADATA:
        source = "" if column.metadata_key is None else f" FROM '{column.metadata_key}'"
        return f"METADATA{source}{' VIRTUAL' if column.virtual else ''}"
    return None


def watermark_line(column: str, kind: LogicalType, expression: str) -> str:
    """Return how a table makes watermarks."""
    return f"WATERMARK FOR `{column}`: {kind} AS {expression}"


def key_line(name: str, columns: Iterable[str]) -> str:
    """Return the primary key of a table."""
    listed = ", ".join(f"`{column}`" for column in columns)
    return f"CONSTRAINT `{name}` PRIMARY KEY ({listed}) NOT ENFORCED"


def column_text(kind: LogicalType) -> str:
    """Return the type of a column, with its time attribute."""
    return str(kind) if kind.time is None else f"{kind} *{kind.time.value}*"


def creation_text(path: ObjectPath, table: CatalogTable, temporary: bool) -> str:
    """Return the statement that creates a table.

    Args:
        path: its whole name.
        table: what it is.
        temporary: whether it lasts as long as its session.
    """
    schema = table.schema
    lines = [_column(column) for column in schema.columns]
    if schema.watermark is not None:
        lines.append(f"WATERMARK FOR `{schema.watermark.column}` AS {schema.watermark.text}")
    if schema.primary_key is not None:
        name = schema.key_name or f"PK_{'_'.join(schema.primary_key)}"
        lines.append(key_line(name, schema.primary_key))
    word = "TEMPORARY TABLE" if temporary else "TABLE"
    text = f"CREATE {word} {path.quoted} (\n{_listed(lines)}\n)\n"
    if table.comment is not None:
        text += f"COMMENT {_quoted(table.comment)}\n"
    if table.distribution is not None:
        text += f"{table.distribution}\n"
    if table.partition_by:
        text += f"PARTITIONED BY ({', '.join(f'`{name}`' for name in table.partition_by)})\n"
    return text + _options_text(table.options) if table.options else text


def view_text(path: ObjectPath, view: CatalogView, temporary: bool) -> str:
    """The statement that creates a view.

    Args:
        path: its whole name.
        view: the query under that name.
        temporary: whether it lasts as long as its session.

    Raises:
        TableError: a program has made the view out of a table, which has no text.
    """
    if view.text is None:
        raise TableError("SHOW CREATE VIEW is not supported for views registered by Table API.")
    word = "TEMPORARY VIEW" if temporary else "VIEW"
    schema = view.plan.schema if view.declared is None else view.declared.row
    columns = _listed([f"`{name}`" for name in schema.names])
    comment = f"COMMENT {_quoted(view.comment)}\n" if view.comment else ""
    return f"CREATE {word} {path.quoted} (\n{columns}\n)\n{comment}AS {view.text}\n"


def catalog_text(name: str, catalog: Catalog) -> str:
    """Return the statement that creates a catalog.

    Args:
        name: its name.
        catalog: what it is.
    """
    text = f"CREATE CATALOG `{name}`\n"
    if catalog.comment is not None:
        text += f"COMMENT {_quoted(catalog.comment)}\n"
    return text + _options_text(catalog.properties or {})


def _options_text(options: Mapping[str, str]) -> str:
    """The options of a table or a catalog, without the values of secrets."""
    shown = all_masked(options)
    lines = [f"{_quoted(key)} = {_quoted(shown[key])}" for key in sorted(shown)]
    return f"WITH (\n{_listed(lines)}\n)\n"


def _column(column: Column) -> str:
    comment = "" if column.comment is None else f" COMMENT {_quoted(column.comment)}"
    extras = "" if column.kind is ColumnKind.PHYSICAL else f" {column_extras(column)}"
    # A computed column has no type of its own.
    kind = "" if column.kind is ColumnKind.COMPUTED else f" {column.type.text(string=_STRING)}"
    return f"`{column.name}`{kind}{extras}{comment}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _listed(lines: list[str]) -> str:
    return ",\n".join(f"  {line}" for line in lines)


_STRING = f"VARCHAR({logical.MAX_LENGTH})"


_IN_MEMORY, _DEFAULT_DATABASE = "generic_in_memory", "default-database"


def create_database(session: Session, statement: syntax.CreateDatabase) -> None:
    """Add a database to a catalog.

    Raises:
        ValidationError: it is there already.
        CatalogError: there is no such catalog.
    """
    *before, name = statement.path
    place = before[0] if before else session.catalog.current_catalog
    catalog = session.catalog.catalogs.get(place)
    if catalog is None:
        raise CatalogError(f"A catalog with name [{place}] does not exist.")
    if name in catalog.databases:
        if statement.if_not_exists:
            return
        raise ValidationError(f"Database {name} already exists in Catalog {place}.")
    catalog.databases[name] = Database({}, dict(statement.options), statement.comment)


def create_catalog(session: Session, statement: syntax.CreateCatalog) -> None:
    """Add a catalog.

    Raises:
        ValidationError: it is there already, or its options are wrong.
        UnsupportedFlinkFeature: it is of another kind.
    """
    options = dict(statement.options)
    if statement.name in session.catalog.catalogs:
        if statement.if_not_exists:
            return
        raise ValidationError(f"Catalog {statement.name} already exists.")
    made = new_catalog(statement.name, options, statement.comment)
    made.joined(session)
    session.catalog.catalogs[statement.name] = made


def new_catalog(name: str, options: Mapping[str, str], comment: str | None) -> Catalog:
    """A catalog that lives in memory, that of a database server, or one of Iceberg or Hive.

    Args:
        name: its name, for messages.
        options: those of ``WITH``.
        comment: describes the catalog, or None.

    Raises:
        ValidationError: one of the options is unknown, or the server cannot be asked.
        UnsupportedFlinkFeature: they are those of a catalog of another kind.
    """
    check_catalog_options(name, options)
    if options["type"] == database_catalog.TYPE:
        return database_catalog.catalog_of(name, options, comment)
    if options["type"] == iceberg_catalog.TYPE:
        return iceberg_catalog.catalog_of(name, options, comment)
    if options["type"] == hive_catalog.TYPE:
        return hive_catalog.catalog_of(name, options, comment)
    default = options.get(_DEFAULT_DATABASE, "default")
    return Catalog({default: Database()}, dict(options), comment, default)


def check_catalog_options(name: str, options: Mapping[str, str]) -> None:
    """Check that a catalog can have some options.

    Raises:
        ValidationError: one of them is unknown.
        UnsupportedFlinkFeature: they are those of a catalog of another kind.
    """
    kind = options.get("type")
    if kind is None:
        raise _wrong_options(
            name,
            options,
            "Catalog options do not contain an option key 'type' for discovering a catalog.",
        )
    if kind == iceberg_catalog.TYPE:
        _check_iceberg(name, options)
        return
    known = _KNOWN.get(kind)
    if known is None:
        raise_unsupported(
            f"a catalog of type '{kind}'",
            kind=Gap.NOT_YET,
            reason="this package cannot reach it",
            instead=way_out_of_catalog(kind),
        )
    given = {key: value for key, value in options.items() if key != "type"}
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise _wrong_options(
            name, given, f"Unsupported options found for '{kind}':\n\n" + "\n".join(unknown)
        )
    missing = sorted(set(known) - given.keys()) if kind == database_catalog.TYPE else []
    if missing:
        raise _wrong_options(
            name,
            given,
            "One or more required options are missing.\n\nMissing required options are:\n\n"
            + "\n".join(missing),
        )


def _check_iceberg(name: str, options: Mapping[str, str]) -> None:
    try:
        iceberg_catalog.check_options(name, options)
    except ValidationError as error:
        raise _wrong_options(name, options, error.message) from None


_KNOWN = {
    _IN_MEMORY: (_DEFAULT_DATABASE,),
    database_catalog.TYPE: database_catalog.REQUIRED,
    hive_catalog.TYPE: hive_catalog.OPTIONS,
}


CATALOG_TYPES = (*_KNOWN, iceberg_catalog.TYPE)
"""The types of catalogs that there are."""


def _wrong_options(name: str, options: Mapping[str, str], reason: str) -> ValidationError:
    shown = all_masked(options)
    given = "\n".join(f"'{key}'='{shown[key]}'" for key in sorted(shown))
    return ValidationError(
        f"Unable to create catalog '{name}'.\n\nCatalog options are:\n{given}\n\n{reason}"
    )


def view_of(session: Session, query: Query, comment: str | None) -> CatalogView:
    """Return the view that stands for a query.

    Raises:
        ValidationError: something in the query is wrong.
    """
    return CatalogView(session.bind(query), str(query.span), comment)


def check_language(statement: str, language: str) -> None:
    """Check that a function is one of Python.

    Raises:
        UnsupportedFlinkFeature: it is one of Java.
    """
    if language != "PYTHON":
        raise_unsupported(
            f"{statement} with LANGUAGE {language}",
            kind=Gap.NEVER,
            reason="no Java class can be called",
            instead="Write the function in Python: udf() of pyflink.table.udf.",
        )


def create_function(session: Session, statement: syntax.CreateFunction) -> None:
    """Add a function of a Python module, which is imported when a query uses the function.

    Raises:
        ValidationError: one of that name is there already.
        UnsupportedFlinkFeature: the function is one of Java.
    """
    name = ".".join(statement.path)
    check_language("CREATE FUNCTION", statement.language)
    functions = session.functions
    add = functions.add
    if statement.temporary:
        add = functions.add_system if statement.system else functions.add_temporary
    add(name, PythonFunction(statement.implementation), if_not_exists=statement.if_not_exists)


def drop(session: Session, statement: syntax.Drop) -> None:
    """Remove a database, a catalog or a function.

    Raises:
        ValidationError: it is not there, or it is not empty.
    """
    if statement.kind is ObjectKind.FUNCTION:
        found = _drop_function(session, statement)
    elif statement.kind is ObjectKind.CATALOG:
        found = _drop_catalog(session, statement)
    else:
        found = _drop_database(session, statement)
    if not found and not statement.if_exists:
        raise ValidationError(_missing(session, statement))


def _missing(session: Session, statement: syntax.Drop) -> str:
    name = ".".join(statement.path)
    if statement.kind is not ObjectKind.FUNCTION:
        return f"{statement.kind.value.capitalize()} {name} does not exist."
    if statement.system:
        own = statement.path[-1].lower()
        return f"Could not drop temporary system function. A function named '{own}' doesn't exist."
    path = session.functions.path(name)
    if statement.temporary:
        return f"Temporary catalog function {path.quoted} doesn't exist"
    return f"Function {path.database}.{path.name} does not exist in Catalog {path.catalog}."


def _drop_catalog(session: Session, statement: syntax.Drop) -> bool:
    name = statement.path[0]
    if name == session.catalog.current_catalog:
        raise ValidationError(
            f"Could not execute DROP CATALOG: (catalogName: [{name}]): Cannot drop a catalog which "
            "is currently in use."
        )
    return session.catalog.catalogs.pop(name, None) is not None


def _drop_function(session: Session, statement: syntax.Drop) -> bool:
    name = ".".join(statement.path)
    if statement.system:
        return session.functions.drop_system(name)
    if statement.temporary:
        return session.functions.drop_temporary(name)
    return session.functions.drop(name)


def _drop_database(session: Session, statement: syntax.Drop) -> bool:
    *before, name = statement.path
    place = before[0] if before else session.catalog.current_catalog
    catalog = session.catalog.catalogs.get(place)
    database = None if catalog is None else catalog.databases.get(name)
    if catalog is None or database is None:
        return False
    what = f"DROP DATABASE {place}.{name} {'CASCADE' if statement.cascade else 'RESTRICT'}"
    if place == session.catalog.current_catalog and name == session.catalog.current_database:
        raise TableError(
            f"Could not execute {what}: Cannot drop a database which is currently in use."
        )
    if not database.is_empty and not statement.cascade:
        raise ValidationError(
            f"Could not execute {what}: Database {name} in Catalog {place} is not empty."
        )
    del catalog.databases[name]
    return True


# -- tables like others --------------------------------------------------------------------------


def create_table_like(session: Session, statement: syntax.CreateTable) -> None:
    """Add a table with the columns and options of another one.

    Raises:
        ValidationError: there is no such table, or the clauses do not fit.
    """
    like = statement.like
    assert like is not None
    other = session.catalog.find(session.catalog.qualify(like.path))
    if not isinstance(other, CatalogTable):
        raise invalid(
            f"Source table '{'.'.join(like.path)}' of the LIKE clause not found in the catalog",
            like.path_span,
        )
    chosen = _chosen(like.options)
    own = {definition.name for definition in statement.columns}
    columns = [
        column_definition(column)
        for column in other.schema.columns
        if column.name not in own and _is_taken(column, chosen)
    ]
    watermarks = statement.watermarks
    if not watermarks and chosen["WATERMARKS"]:
        watermarks = watermark_definitions(other.schema)
    key = statement.primary_key
    has_key = key is not None or any(definition.primary_key for definition in statement.columns)
    if not has_key and chosen["CONSTRAINTS"] and other.schema.primary_key:
        key = primary_key(other.schema)
    options = {**(other.options if chosen["OPTIONS"] else {}), **dict(statement.options)}
    partition_by = tuple(column.parts[0] for column in statement.partition_by)
    if not partition_by and chosen["PARTITIONS"]:
        partition_by = other.partition_by
    description = TableDescription((*columns, *statement.columns), watermarks, key)
    distribution = statement.distribution
    if distribution is None:
        distribution = other.distribution  # in Flink even if the clause excludes it
    elif other.distribution is not None and chosen["DISTRIBUTION"]:
        raise ValidationError(
            "The base table already has a distribution defined. You might want to specify "
            "EXCLUDING DISTRIBUTION."
        )
    session.catalog.add(
        session.catalog.qualify(statement.path),
        session.described_table(
            description, options, partition_by, statement.comment, distribution
        ),
        temporary=statement.temporary,
        if_not_exists=statement.if_not_exists,
    )


def _chosen(clauses: tuple[tuple[str, str], ...]) -> dict[str, bool]:
    """Return which parts of the other table are taken over; all if nothing else is said."""
    parts = (
        "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS",
        "WATERMARKS",
    )  # fmt: skip
    given = {part: action != "EXCLUDING" for action, part in clauses}
    everything = given.pop("ALL", True)
    return {part: given.get(part, everything) for part in parts}


def _is_taken(column: Column, chosen: dict[str, bool]) -> bool:
    if column.kind is ColumnKind.COMPUTED:
        return chosen["GENERATED"]
    return column.kind is ColumnKind.PHYSICAL or chosen["METADATA"]


def column_definition(column: Column) -> syntax.ColumnDefinition:
    """Return a column of a table as it can be written."""
    if column.kind is ColumnKind.COMPUTED:
        expression = parse_expression(column.text)
        return syntax.ColumnDefinition(
            column.name, column.kind, expression=expression, comment=column.comment
        )
    return syntax.ColumnDefinition(
        column.name,
        column.kind,
        column.type.plain(),
        metadata_key=column.metadata_key,
        virtual=column.virtual,
        comment=column.comment,
    )


def primary_key(schema: ResolvedSchema) -> syntax.PrimaryKey | None:
    """Return the primary key of a table as it can be written, or None."""
    if schema.primary_key is None:
        return None
    return syntax.PrimaryKey(tuple(Name((name,)) for name in schema.primary_key), schema.key_name)


def watermark_definitions(schema: ResolvedSchema) -> tuple[syntax.WatermarkDefinition, ...]:
    """Return the watermark of a table as it can be written, if there is one."""
    watermark = schema.watermark
    if watermark is None:
        return ()
    expression = (
        Call("SOURCE_WATERMARK")
        if watermark.expression is None
        else parse_expression(watermark.text)
    )
    return (syntax.WatermarkDefinition(Name((watermark.column,)), expression),)
