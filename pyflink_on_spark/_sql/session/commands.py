"""Commands of a session, explanations of plans as text, and printed results."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pyflink_on_spark._options.secrets import all_masked
from pyflink_on_spark._sql.binder.expressions import calcite_name
from pyflink_on_spark._sql.binder.tables import check_target_column, sink_of
from pyflink_on_spark._sql.catalog import Catalog
from pyflink_on_spark._sql.errors import (
    CatalogError,
    QuerySettings,
    TableError,
    UnsupportedOperationError,
    ValidationError,
    invalid,
    not_yet,
)
from pyflink_on_spark._sql.functions.builtin.strings import like_pattern
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Node, Schema, renamed
from pyflink_on_spark._sql.plan.options import CatalogTable, CatalogView, Column
from pyflink_on_spark._sql.planner.physical import PhysicalNode
from pyflink_on_spark._sql.planner.physical_planner import physical_plan
from pyflink_on_spark._sql.session.alterations import (
    alter_catalog,
    alter_database,
    alter_function,
    alter_partitions,
    alter_view,
    distribute,
    drop_columns,
    load_module,
    place_columns,
    rename,
    rename_column,
    set_options,
    unload_module,
    use_modules,
)
from pyflink_on_spark._sql.session.creation import (
    catalog_text,
    column_extras,
    create_catalog,
    create_database,
    create_function,
    create_table_like,
    creation_text,
    drop,
    view_text,
)
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import statements as syntax
from pyflink_on_spark._sql.syntax.statements import ObjectKind
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import can_insert
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.text import sql_text

Run = Callable[[Session, Any], "Listing | None"]
_KINDS = ("+I", "-U", "+U", "-D")
_WIDEST = 30
_CUT = "..."
_NULL = "<NULL>"


def explain(sinks: Sequence[Node], settings: QuerySettings, *, changelog_mode: bool = False) -> str:
    """Return the logical and the physical plan of some sinks.

    Args:
        sinks: the logical plans.
        settings: the session's.
        changelog_mode: whether each physical node says which changes it makes.

    Raises:
        TableError: a node cannot deal with the changes of its input.
    """
    nodes = physical_plan(sinks, settings)
    parts = [
        ("Abstract Syntax Tree", [_tree(sink, _node_text) for sink in sinks]),
        (
            "Optimized Physical Plan",
            [_tree(node, _with_changes if changelog_mode else _node_text) for node in nodes],
        ),
        ("Optimized Execution Plan", [_tree(node, _node_text) for node in nodes]),
    ]
    return "\n".join(f"== {title} ==\n" + "\n".join(trees) + "\n" for title, trees in parts)


def _tree(node: Any, describe: Any, depth: int = 0) -> str:
    head = "" if not depth else "   " * (depth - 1) + "+- "
    lines = [head + describe(node)]
    lines += [_tree(source, describe, depth + 1) for source in node.inputs]
    return "\n".join(lines)


def _node_text(node: Any) -> str:
    return str(node.describe())


def _with_changes(node: PhysicalNode) -> str:
    letters = ["I"]
    if ChangeKinds.UPDATE in node.changes:
        letters += ["UB", "UA"] if node.emits_update_before else ["UA"]
    if ChangeKinds.DELETE in node.changes:
        letters.append("D")
    return f"{node.describe()[:-1]}, changelogMode=[{','.join(letters)}])"


@dataclass(frozen=True)
class Listing:
    """The rows that a SHOW or DESCRIBE statement lists.

    Args:
        schema: the columns.
        rows: in the form that rows have inside a query.
    """

    schema: Schema
    rows: tuple[tuple[Any, ...], ...]


def run_command(session: Session, statement: syntax.Statement) -> Listing | None:
    """Carry out a statement other than a query or an INSERT; return its rows, if any.

    Raises:
        ValidationError: something in it is wrong.
    """
    run = _COMMANDS.get(type(statement))
    if run is None:
        not_yet(f"the statement '{statement.span}'", None, "Use the methods of the environment.")
    return run(session, statement)


# -- creating and dropping -----------------------------------------------------------------------


def _create_table(session: Session, statement: syntax.CreateTable) -> None:
    if statement.like is not None:
        create_table_like(session, statement)
    else:
        session.create_table(statement)


def _create_view(session: Session, statement: syntax.CreateView) -> None:
    node = session.bind(statement.query)
    if statement.columns:
        if len(statement.columns) != len(node.schema):
            raise invalid("VIEW definition and input fields not match", statement.span)
        node = renamed(node, statement.columns)
    path = session.catalog.qualify(statement.path)
    view = CatalogView(node, str(statement.query.span), statement.comment)
    session.catalog.add(
        path, view, temporary=statement.temporary, if_not_exists=statement.if_not_exists
    )


def _drop(session: Session, statement: syntax.Drop) -> None:
    if statement.kind not in {ObjectKind.TABLE, ObjectKind.VIEW}:
        drop(session, statement)
        return
    kind = CatalogTable if statement.kind is ObjectKind.TABLE else CatalogView
    path = session.catalog.qualify(statement.path)
    session.catalog.drop(path, kind, temporary=statement.temporary, if_exists=statement.if_exists)


def _use(session: Session, statement: syntax.Use) -> None:
    if statement.kind is ObjectKind.CATALOG:
        session.catalog.use_catalog(statement.path[0])
    else:
        session.catalog.use_database(statement.path)


# -- changing rows -------------------------------------------------------------------------------


def _change_rows(session: Session, statement: syntax.ChangeRows) -> NoReturn:
    """Refuse an UPDATE or a DELETE as Flink does, whose connectors cannot change rows either."""
    node = session.bind(statement.query)
    path = session.catalog.qualify(statement.path)
    found = session.catalog.find(path)
    if isinstance(found, CatalogTable):
        _check_assigned(statement, node.schema, found.schema.sink)
        if statement.word == "DELETE":
            sink_of(path, found, session.settings())
    if not session.batch:
        raise TableError(f"{statement.word} statement is not supported for streaming mode now.")
    if not isinstance(found, CatalogTable):
        raise TableError(f"Sink '{path}' does not exists")
    ability = f"SupportsRowLevel{statement.word.capitalize()}"
    raise UnsupportedOperationError(
        f"Can't perform {statement.word.lower()} operation of the table {path} because the "
        "corresponding dynamic table sink has not yet implemented "
        f"org.apache.flink.table.connector.sink.abilities.{ability}."
    )


def _check_assigned(statement: syntax.ChangeRows, given: Schema, target: Schema) -> None:
    known: set[str] = set()
    for index, column in enumerate(statement.columns):
        name = column.parts[0]
        check_target_column(column, target, known)
        known.add(name)
        kind = target.types[target.names.index(name)]
        if not can_insert(given.types[index], kind):
            raise invalid(
                f"Cannot assign to target field '{name}' of type {calcite_name(kind)} from source "
                f"field 'EXPR${index}' of type {calcite_name(given.types[index])}",
                statement.query.items[index].span,
            )


def _truncate(session: Session, statement: syntax.Truncate) -> NoReturn:
    """Refuse a TRUNCATE as Flink does, whose connectors do not implement it either."""
    path = session.catalog.qualify(statement.path)
    if isinstance(session.catalog.find(path), CatalogView):
        raise ValidationError("TRUNCATE TABLE for a view is not allowed")
    session.table(path)
    refused = "TRUNCATE TABLE statement is not supported"
    if not session.batch:
        raise TableError(f"{refused} in streaming mode.")
    raise TableError(
        f"{refused} for the table {path} since the table hasn't implemented the interface "
        "org.apache.flink.table.connector.sink.abilities.SupportsTruncate."
    )


# -- looking around ------------------------------------------------------------------------------


def _show(session: Session, statement: syntax.Show) -> Listing:
    catalog = session.catalog
    if statement.kind is ObjectKind.CATALOG:
        return _names("catalog name", sorted(catalog.catalogs), statement)
    if statement.kind is ObjectKind.DATABASE:
        place = statement.path[0] if statement.path else catalog.current_catalog
        if place not in catalog.catalogs:
            raise CatalogError(f"A catalog with name [{place}] does not exist.")
        return _names("database name", sorted(catalog.catalogs[place].databases), statement)
    if statement.kind in {ObjectKind.TABLE, ObjectKind.VIEW}:
        path = statement.path or (catalog.current_database,)
        where, database = (catalog.current_catalog, *path)[-2:]
        if database not in getattr(catalog.catalogs.get(where), "databases", ()):
            raise ValidationError(f"Database '{where}'.'{database}' doesn't exist.")
        if statement.kind is ObjectKind.VIEW:
            return _names("view name", catalog.views(where, database), statement)
        return _names("table name", catalog.relations(where, database), statement)
    show = _OTHERS.get(statement.kind)
    if show is not None:
        return show(session, statement)
    if statement.kind is ObjectKind.FUNCTION and not statement.path:
        functions = session.functions
        names = functions.user_names() if statement.user else functions.listed()
        return _names("function name", names, statement)
    return not_yet(f"SHOW {statement.kind.value}S", statement.span, "Use the methods instead.")


def _columns(session: Session, statement: syntax.Show) -> Listing:
    described = _described(session, statement.path)
    kept = _matching((row[0] for row in described.rows), statement)
    return Listing(described.schema, tuple(r for r in described.rows if r[0] in kept))


def _jars(_session: Session, _statement: syntax.Show) -> Listing:
    """Return no JAR: none can be added."""
    return _listing({"jars": logical.STRING}, ())


def _partitions(session: Session, statement: syntax.Show) -> Listing:
    """Return the partitions that a program has told the catalog, not those of connectors."""
    path = session.catalog.qualify(statement.path)
    found = session.catalog.database(path).relations.get(path.name)
    place = f"{path.database}.{path.name}"
    if found is None:
        raise ValidationError(
            f"Could not execute SHOW PARTITIONS {path}: Table (or view) {place} does not exist in "
            f"Catalog {path.catalog}."
        )
    if not isinstance(found, CatalogTable) or not found.partition_by:
        raise TableError(
            f"Could not execute SHOW PARTITIONS {path}: Table {place} in catalog {path.catalog} is "
            "not partitioned."
        )
    partitions = session.catalog.database(path).annex(path.name).partitions
    wanted = set(statement.partition)
    texts = [
        "/".join(f"{name}={value}" for name, value in each.values.items())
        for values, each in partitions.items()
        if wanted <= values
    ]
    return _listing({"partition name": logical.STRING}, [(text,) for text in texts])


def _modules(session: Session, statement: syntax.Show) -> Listing:
    modules = session.functions.modules
    if statement.full:
        rest = [name for name in modules.loaded if name not in modules.used]
        rows = [(name, name in modules.used) for name in (*modules.used, *rest)]
        return _listing({"module name": logical.STRING, "used": logical.BOOLEAN}, rows)
    return _listing({"module name": logical.STRING}, [(name,) for name in modules.used])


def _names(title: str, names: Iterable[str], statement: syntax.Show) -> Listing:
    return _listing({title: logical.STRING}, ((name,) for name in _matching(names, statement)))


def _matching(names: Iterable[str], statement: syntax.Show) -> list[str]:
    """Return the names that the pattern of a statement selects."""
    pattern = statement.pattern
    if pattern is None:
        return list(names)
    flags = re.IGNORECASE if statement.ignore_case else 0
    like = re.compile(like_pattern(pattern).pattern, flags | re.DOTALL)
    return [name for name in names if (like.fullmatch(name) is None) == statement.negated]


def _show_current(session: Session, statement: syntax.ShowCurrent) -> Listing:
    if statement.kind is ObjectKind.CATALOG:
        return _listing(
            {"current catalog name": logical.STRING}, [(session.catalog.current_catalog,)]
        )
    return _listing(
        {"current database name": logical.STRING}, [(session.catalog.current_database,)]
    )


def _show_create(session: Session, statement: syntax.ShowCreate) -> Listing:
    if statement.kind is ObjectKind.CATALOG:
        name = statement.path[0]
        text = catalog_text(name, _declared_catalog(session, name))
        return _listing({"result": logical.STRING}, [(text,)])
    path = session.catalog.qualify(statement.path)
    found = session.catalog.find(path)
    if found is None:
        what = statement.kind.value
        raise ValidationError(
            f"Could not execute SHOW CREATE {what}. {what.capitalize()} with identifier "
            f"{path.quoted} does not exist."
        )
    if statement.kind is ObjectKind.VIEW:
        if isinstance(found, CatalogTable):
            raise ValidationError(
                f"SHOW CREATE VIEW is only supported for views, but {path.quoted} is a table. "
                "Please use SHOW CREATE TABLE instead."
            )
        text = view_text(path, found, path in session.catalog.temporary)
        return _listing({"result": logical.STRING}, [(text,)])
    if not isinstance(found, CatalogTable):
        raise ValidationError(
            f"SHOW CREATE TABLE is only supported for tables, but {path.quoted} is a view. "
            "Please use SHOW CREATE VIEW instead."
        )
    text = creation_text(path, found, path in session.catalog.temporary)
    return _listing({"result": logical.STRING}, [(text,)])


def _describe(session: Session, statement: syntax.Describe) -> Listing:
    return _described(session, statement.path)


def _describe_catalog(session: Session, statement: syntax.DescribeCatalog) -> Listing:
    catalog = _declared_catalog(session, statement.name)
    properties = all_masked(catalog.properties or {})
    kind = properties.pop("type")
    rows = [("name", statement.name), ("type", kind), ("comment", catalog.comment)]
    if statement.extended:
        rows += [(f"option:{key}", properties[key]) for key in sorted(properties)]
    return _listing(dict.fromkeys(("info name", "info value"), logical.STRING), rows)


def _describe_function(session: Session, statement: syntax.DescribeFunction) -> Listing:
    rows = session.functions.describe(statement.path, extended=statement.extended)
    return _listing(dict.fromkeys(("info name", "info value"), logical.STRING), rows)


def _declared_catalog(session: Session, name: str) -> Catalog:
    """Return a catalog that a statement has created.

    Raises:
        ValidationError: there is none of that name.
    """
    catalog = session.catalog.catalogs.get(name)
    if catalog is None or catalog.properties is None:
        raise ValidationError(f"Cannot obtain metadata information from Catalog {name}.")
    return catalog


def _described(session: Session, parts: tuple[str, ...]) -> Listing:
    path = session.catalog.qualify(parts)
    found = session.catalog.find(path)
    if found is None:
        raise ValidationError(f"Tables or views with the identifier '{path}' doesn't exist.")
    rows: list[tuple[Any, ...]] = []
    if isinstance(found, CatalogTable):
        key = found.schema.primary_key or ()
        watermark = found.schema.watermark
        for column in found.schema.columns:
            shown = watermark.text if watermark and watermark.column == column.name else None
            rows.append(_column_row(column, key, shown))
    else:
        schema = found.plan.schema
        for name, kind in zip(schema.names, schema.types):
            rows.append(_column_row(Column(name, kind), (), None))
    columns = dict.fromkeys(("name", "type", "null", "key", "extras", "watermark"), logical.STRING)
    columns["null"] = logical.BOOLEAN
    if any(row[-1] is not None for row in rows):
        columns["comment"] = logical.STRING
    return _listing(columns, (row[: len(columns)] for row in rows))


def _column_row(column: Column, key: tuple[str, ...], watermark: str | None) -> tuple[object, ...]:
    attribute = "" if column.type.time is None else f" *{column.type.time.value}*"
    keys = f"PRI({', '.join(key)})" if column.name in key else None
    kind = column.type.text(nullability=False) + attribute
    extras = column_extras(column)
    return column.name, kind, column.type.nullable, keys, extras, watermark, column.comment


def _listing(columns: dict[str, LogicalType], rows: Iterable[tuple[object, ...]]) -> Listing:
    return Listing(Schema(tuple(columns), tuple(columns.values())), tuple(rows))


_OTHERS: dict[ObjectKind, Callable[[Session, syntax.Show], Listing]] = {
    ObjectKind.COLUMN: _columns,
    ObjectKind.MODULE: _modules,
    ObjectKind.PARTITION: _partitions,
    ObjectKind.JAR: _jars,
}
_COMMANDS: dict[type[syntax.Statement], Run] = {
    syntax.CreateTable: _create_table,
    syntax.CreateView: _create_view,
    syntax.CreateDatabase: create_database,
    syntax.CreateCatalog: create_catalog,
    syntax.CreateFunction: create_function,
    syntax.Drop: _drop,
    syntax.ChangeRows: _change_rows,
    syntax.Truncate: _truncate,
    syntax.Rename: rename,
    syntax.AlterOptions: set_options,
    syntax.Use: _use,
    syntax.Show: _show,
    syntax.ShowCurrent: _show_current,
    syntax.ShowCreate: _show_create,
    syntax.Describe: _describe,
    syntax.DescribeCatalog: _describe_catalog,
    syntax.DescribeFunction: _describe_function,
    syntax.AlterColumns: place_columns,
    syntax.DropColumns: drop_columns,
    syntax.RenameColumn: rename_column,
    syntax.AlterDistribution: distribute,
    syntax.AlterPartitions: alter_partitions,
    syntax.AlterView: alter_view,
    syntax.AlterDatabase: alter_database,
    syntax.AlterCatalog: alter_catalog,
    syntax.AlterFunction: alter_function,
    syntax.UseModules: use_modules,
    syntax.LoadModule: load_module,
    syntax.UnloadModule: unload_module,
}


_WIDTHS = {
    Root.TINYINT: 4,
    Root.SMALLINT: 6,
    Root.INT: 11,
    Root.BIGINT: 20,
    Root.BOOLEAN: 5,
    Root.DATE: 10,
}


def printed(
    schema: Schema, changes: Iterable[tuple[int, Sequence[object]]], time_zone: str, *, kinds: bool
) -> Iterator[str]:
    """Yield the lines of a result, as its rows come; widths go by the types of columns.

    Args:
        schema: the columns.
        changes: pairs of the kind and the row.
        time_zone: the session's, by name.
        kinds: whether there is a first column with kinds.
    """
    names = (["op"] if kinds else []) + list(schema.names)
    widths = ([2] if kinds else []) + [
        max(_type_width(kind), len(_NULL), _width(name))
        for name, kind in zip(schema.names, schema.types)
    ]
    texts = cell_texts(schema, time_zone)
    count = 0
    for kind, row in changes:
        if not count:
            yield from _head(names, widths)
        count += 1
        cells = [_NULL if v is None else text(v) for text, v in zip(texts, row)]
        yield _line(([_KINDS[kind]] if kinds else []) + cells, widths)
    yield from _foot(count, widths)


def printed_listing(
    schema: Schema, rows: Sequence[Sequence[object]], time_zone: str
) -> Iterator[str]:
    """Yield the lines of a short result, which is there as a whole; widths go by the values."""
    texts = cell_texts(schema, time_zone)
    cells = [["" if v is None else text(v) for text, v in zip(texts, row)] for row in rows]
    widths = [max(map(_width, column)) for column in zip(schema.names, *cells)]
    if rows:
        yield from _head(list(schema.names), widths)
        for row in cells:
            yield _line(row, widths, cut=False)
    yield from _foot(len(rows), widths)


def cell_texts(schema: Schema, time_zone: str) -> list[Callable[[object], str]]:
    """Return the writers of the values of each column, NULL aside."""
    return [_text(kind, time_zone) for kind in schema.types]


def _text(kind: LogicalType, time_zone: str) -> Callable[[Any], str]:
    if kind.root in logical.BYTES_LIKE:
        return lambda value: f"x'{value.hex()}'"
    return sql_text(kind, time_zone)


def _head(names: list[str], widths: list[int]) -> Iterator[str]:
    yield _rule(widths)
    yield _line(names, widths)
    yield _rule(widths)


def _foot(count: int, widths: list[int]) -> Iterator[str]:
    if not count:
        yield "Empty set"
        return
    yield _rule(widths)
    yield f"{count} row{'' if count == 1 else 's'} in set"


def _rule(widths: list[int]) -> str:
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+"


def _line(cells: Sequence[str], widths: list[int], cut: bool = True) -> str:
    padded = [
        _padded(_shortened(cell, width) if cut else cell, width)
        for cell, width in zip(cells, widths)
    ]
    return "| " + " | ".join(padded) + " |"


def _padded(text: str, width: int) -> str:
    return " " * (width - _width(text)) + text


def _shortened(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    room = width - len(_CUT)
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > room:
            break
        kept.append(character)
    return "".join(kept) + _CUT


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _type_width(kind: LogicalType) -> int:
    digits = kind.precision or 0
    if kind.root in _WIDTHS:
        return _WIDTHS[kind.root]
    if kind.root is Root.DECIMAL:
        return digits + 2
    fraction = digits + 1 if digits else 0
    if kind.root is Root.TIME:
        return 8 + fraction
    return 19 + fraction if kind.root in logical.TIMESTAMPS else _WIDEST
