"""A session: its catalogs, functions, settings, the plans of its statements, compiled ones too."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyflink_on_spark._filesystem.location import local_path
from pyflink_on_spark._options.flink import DEFAULT_PARALLELISM, LOCAL_TIME_ZONE
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Scope
from pyflink_on_spark._sql.binder.queries import QueryBinder
from pyflink_on_spark._sql.binder.relations import refused_scan, scan
from pyflink_on_spark._sql.binder.tables import (
    TableDescription,
    insert,
    resolve_schema,
    with_partition,
)
from pyflink_on_spark._sql.catalog import CatalogManager, Relation
from pyflink_on_spark._sql.errors import (
    QuerySettings,
    TableError,
    ValidationError,
    as_sentence,
    at_any_depth,
    at_place,
    invalid,
)
from pyflink_on_spark._sql.functions.catalog import FunctionCatalog
from pyflink_on_spark._sql.parser.statements import parse_statement
from pyflink_on_spark._sql.plan.nodes import Node, Schema, Sink, TableScan
from pyflink_on_spark._sql.plan.options import CatalogTable, ObjectPath, ResolvedSchema
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.syntax.queries import Query
from pyflink_on_spark._sql.syntax.statements import (
    ColumnDefinition,
    ColumnKind,
    CreateTable,
    Distribution,
    Insert,
    QueryStatement,
)

_FORMAT = 1
_FLINK_VERSION = "2.3"


class Session:
    """The state of a TableEnvironment: its catalogs, functions and options.

    Args:
        configuration: gives all options, as they are now.
        batch: whether queries run in batch mode.
        catalog: the name of the first catalog.
        database: the name of the first database.
    """

    def __init__(
        self,
        configuration: Callable[[], Mapping[str, str]],
        batch: bool,
        catalog: str = "default_catalog",
        database: str = "default_database",
    ) -> None:
        self._configuration = configuration
        self.batch = batch
        self.catalog = CatalogManager(catalog, database)
        self.functions = FunctionCatalog(self.catalog)
        self._anonymous = 0

    def settings(self) -> QuerySettings:
        """Return the settings as they are now."""
        configuration = dict(self._configuration())
        parallelism = DEFAULT_PARALLELISM.read(configuration)
        return QuerySettings(
            configuration,
            time_zone(LOCAL_TIME_ZONE.read(configuration)),
            self.batch,
            parallelism if parallelism > 0 else None,
        )

    @at_any_depth
    def bind(self, query: Query) -> Node:
        """Return the plan of a query.

        Raises:
            ValidationError: something in it is wrong.
        """
        return QueryBinder(self.catalog, self.functions, self.settings()).bind(query)

    def bind_text(self, text: str) -> Node:
        """The plan of the text of a query.

        Raises:
            ValidationError: the text is no query, or something in it is wrong.
        """
        statement = parse_statement(text)
        if not isinstance(statement, QueryStatement):
            raise ValidationError(f"'{text}' is no query")
        return self.bind(statement.query)

    def table(self, path: ObjectPath) -> CatalogTable:
        """Return a table that can be written.

        Raises:
            ValidationError: it is not there, or it is a view.
        """
        found = self.catalog.find(path)
        if found is None:
            catalogs = ", ".join(sorted(self.catalog.catalogs))
            raise ValidationError(
                f"Cannot find table '{path.quoted}' in any of the catalogs [{catalogs}], "
                f"nor as a temporary table.{as_sentence(self.catalog.similar(path))}"
            )
        if not isinstance(found, CatalogTable):
            raise ValidationError(f"'{path}' is a view: only tables can be written")
        return found

    @at_any_depth
    def bind_insert(self, statement: Insert) -> Sink:
        """Return the plan of an INSERT.

        Raises:
            ValidationError: something in it is wrong.
        """
        path = self.catalog.qualify(statement.path)
        with at_place(statement.path_span):
            table = self.table(path)
        node, columns = self.bind(statement.query), statement.columns
        if statement.partition:
            binder = ExpressionBinder(Scope(()), self.functions)
            values = [(name, binder.bind(value)) for name, value in statement.partition]
            node, columns = with_partition(node, columns, values, table)
        with at_place(statement.query.span):
            made = insert(
                node,
                path,
                table,
                self.settings(),
                columns=columns,
                overwrite=statement.overwrite,
                hints=dict(statement.options),
                fixed=[name for name, _ in statement.partition],
            )
        return replace(made, span=statement.path_span, conflict=statement.conflict)

    def create_table_as(self, statement: CreateTable) -> Sink:
        """Create a table with the columns of a query, and return the plan that fills it.

        Columns of the statement come first; a column of the query with the name of one has its
        type.

        Raises:
            ValidationError: something in it is wrong.
        """
        assert statement.query is not None
        if statement.temporary:
            raise invalid("CREATE TEMPORARY TABLE AS is not supported", statement.span)
        node = self.bind(statement.query)
        declared = {column.name for column in statement.columns}
        own = self.description_of(node.schema).columns
        columns = statement.columns + tuple(each for each in own if each.name not in declared)
        self.create_table(replace(statement, columns=columns, query=None))
        path = self.catalog.qualify(statement.path)
        names = tuple(Name((name,)) for name in node.schema.names)
        return insert(node, path, self.table(path), self.settings(), columns=names)

    def insert_into(
        self, node: Node, path: ObjectPath, table: CatalogTable, overwrite: bool = False
    ) -> Sink:
        """Return the plan that writes rows to a table.

        Raises:
            ValidationError: the rows do not fit.
        """
        return insert(node, path, table, self.settings(), overwrite=overwrite)

    def read(self, path: ObjectPath, relation: Relation) -> Node:
        """Return the plan that reads a table or view.

        Raises:
            ValidationError: the connector refuses the table.
        """
        if isinstance(relation, CatalogTable):
            return scan(path, relation, {}, self.settings())
        return relation.plan

    def described(self, path: ObjectPath, relation: Relation) -> Node:
        """Return the plan that reads a table or view.

        What the connector refuses is an error only when a query is planned.
        """
        try:
            return self.read(path, relation)
        except ValidationError as error:
            if not isinstance(relation, CatalogTable):
                raise
            return refused_scan(path, relation, error)

    def anonymous_path(self, connector: str) -> ObjectPath:
        """Return a name for a table that is in no catalog."""
        self._anonymous += 1
        return self.catalog.qualify((f"*anonymous_{connector}${self._anonymous}*",))

    def described_table(
        self,
        description: TableDescription | None,
        options: Mapping[str, str],
        partition_by: tuple[str, ...],
        comment: str | None,
        distribution: Distribution | None = None,
    ) -> CatalogTable:
        """Return a table that a program describes.

        Raises:
            ValidationError: something in its description is wrong.
        """
        if description is None:
            raise ValidationError("the table has no columns: call schema(...) of its descriptor")
        schema = resolve_schema(description, self.functions)
        for name in partition_by:
            if name not in schema.row.names:
                raise ValidationError(
                    f"Partition column '{name}' not defined in the table schema. "
                    f"Available columns: [{', '.join(map(repr, schema.row.names))}]"
                )
        if distribution is not None:
            check_distribution(distribution, schema)
        return CatalogTable(schema, dict(options), partition_by, comment, distribution)

    @staticmethod
    def description_of(schema: Schema) -> TableDescription:
        """Return the description of a table with the columns of a query."""
        return TableDescription(
            tuple(
                ColumnDefinition(name, ColumnKind.PHYSICAL, kind.plain())
                for name, kind in zip(schema.names, schema.types)
            )
        )

    def create_table(self, statement: CreateTable) -> None:
        """Add a table to the catalog.

        Raises:
            ValidationError: something in its description is wrong, or it is there already.
        """
        description = TableDescription(
            statement.columns, statement.watermarks, statement.primary_key
        )
        partition_by = tuple(column.parts[0] for column in statement.partition_by)
        table = self.described_table(
            description,
            dict(statement.options),
            partition_by,
            statement.comment,
            statement.distribution,
        )
        self.catalog.add(
            self.catalog.qualify(statement.path),
            table,
            temporary=statement.temporary,
            if_not_exists=statement.if_not_exists,
        )


def time_zone(name: str) -> str:
    """Return the name of a session's time zone.

    Args:
        name: as the option has it; ``default`` for the machine's.
    """
    if name != "default":
        return name
    machine = os.environ.get("TZ", "").lstrip(":")
    if machine:
        return machine
    target = os.path.realpath("/etc/localtime")
    _, found, zone = target.partition("zoneinfo/")
    return zone if found and Path(target).exists() else "UTC"


def check_distribution(distribution: Distribution, schema: ResolvedSchema) -> None:
    """Check the buckets of a table.

    Raises:
        ValidationError: there are none, or something else than a column of rows decides on them.
    """
    names = schema.physical.names
    for name in distribution.columns:
        if name not in names:
            raise ValidationError(
                f"Invalid bucket key '{name}'. A bucket key for a distribution must reference a "
                f"physical column in the schema. Available columns are: [{', '.join(names)}]"
            )
    if distribution.buckets is not None and distribution.buckets < 1:
        raise ValidationError(
            f"Invalid bucket count '{distribution.buckets}'. The number of buckets for a "
            "distributed table must be at least 1."
        )


def compiled(session: Session, texts: Sequence[str]) -> str:
    """Return the plan of some INSERTs, as JSON.

    A plan has the statements, the database in which they are read, and the columns of their tables.

    Args:
        session: what plans them.
        texts: of the INSERTs.

    Raises:
        ValidationError: something in them is wrong.
    """
    catalog = session.catalog
    content = {
        "flinkVersion": _FLINK_VERSION,
        "pyflinkOnSpark": _FORMAT,
        "database": [catalog.current_catalog, catalog.current_database],
        "statements": list(texts),
        "tables": _tables(_bound(session, texts)),
    }
    return json.dumps(content, indent=2)


def sinks_of(session: Session, text: str) -> list[Sink]:
    """Return the plans of the INSERTs of a compiled plan.

    Args:
        session: what plans them.
        text: what ``compiled`` has returned.

    Raises:
        TableError: it is no such text, or one of Flink's, or a table has changed since.
        ValidationError: something in the statements is wrong.
    """
    content = _content(text)
    catalog = session.catalog
    before = catalog.current_catalog, catalog.current_database
    try:
        catalog.use_database(content["database"])
        sinks = _bound(session, content["statements"])
    finally:
        catalog.current_catalog, catalog.current_database = before
    now = _tables(sinks)
    for name, columns in content["tables"].items():
        if now.get(name, columns) != columns:
            raise TableError(
                f"The schema of table {name} in the persisted plan does not match the schema "
                f"loaded from the catalog: '{columns}' != '{now[name]}'. Have you modified the "
                "table schema in the catalog before restoring the plan?"
            )
    return sinks


def _content(text: str) -> Any:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise TableError(f"Cannot load Plan:\n{text}\n{error}") from None
    if isinstance(content, dict) and "nodes" in content:
        raise TableError(
            "Cannot load Plan: it is one of Flink's own planner. Compile the INSERT with "
            "compile_plan_sql or COMPILE PLAN of this package."
        )
    if not isinstance(content, dict) or content.get("pyflinkOnSpark") != _FORMAT:
        raise TableError("Cannot load Plan: it is no compiled plan of this version.")
    return content


def _bound(session: Session, texts: Sequence[str]) -> list[Sink]:
    statements = [parse_statement(text) for text in texts]
    return [session.bind_insert(each) for each in statements if isinstance(each, Insert)]


def _tables(sinks: Sequence[Sink]) -> dict[str, str]:
    """Return the columns of the tables that plans read and write, by the tables' names."""
    found = {}
    for node in _nodes(sinks):
        if isinstance(node, TableScan | Sink):
            found[str(node.path)] = str(node.table.schema.row)
    return found


def _nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _nodes(node.inputs)


def flink_version(text: str) -> str:
    """Return the version of Flink whose behaviour a plan is of."""
    return str(_content(text)["flinkVersion"])


def write_plan(text: str, path: str, *, if_not_exists: bool, replaces: bool) -> None:
    """Write a plan to a file of this machine.

    Args:
        text: the plan.
        path: the file.
        if_not_exists: whether a file that is there stays as it is.
        replaces: whether a file that is there goes.

    Raises:
        TableError: the file is there.
    """
    file = Path(local_path(path))
    if file.exists():
        if if_not_exists:
            return
        if not replaces:
            raise TableError(
                f"Cannot overwrite the plan file '{file}'. Either manually remove the file or, if "
                "you're debugging your job, set the option 'table.plan.force-recompile' to true."
            )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def read_plan(path: str) -> str:
    """Return the plan in a file of this machine.

    Raises:
        TableError: it cannot be read.
    """
    try:
        return Path(local_path(path)).read_text(encoding="utf-8")
    except OSError as error:
        raise TableError(f"Cannot load Plan from file '{path}': {error}") from None
