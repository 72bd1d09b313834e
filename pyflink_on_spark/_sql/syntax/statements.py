"""Statements as they are written."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.syntax.expressions import Expression, Name
from pyflink_on_spark._sql.syntax.queries import Query, Select
from pyflink_on_spark._sql.types.logical import LogicalType

Path = tuple[str, ...]
Options = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement.

    Args:
        span: where it is in a SQL text.
    """

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QueryStatement(Statement):
    """A query for itself.

    Args:
        query: the query.
    """

    query: Query


class ConflictStrategy(enum.Enum):
    """A strategy for rows with the same primary key: ``ON CONFLICT DO ...``."""

    NOTHING = "NOTHING"
    ERROR = "ERROR"
    DEDUPLICATE = "DEDUPLICATE"


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """``INSERT INTO`` or ``INSERT OVERWRITE``.

    Args:
        path: the table.
        path_span: where the table's name is.
        query: what is inserted.
        columns: which columns, or nothing for all.
        partition: columns with one value for all rows.
        overwrite: whether what was there before goes.
        options: hints of ``/*+ OPTIONS(...) */``.
        conflict: what happens to rows with the same primary key, if the statement says it.
    """

    path: Path
    path_span: Span
    query: Query
    columns: tuple[Name, ...] = ()
    partition: tuple[tuple[str, Expression], ...] = ()
    overwrite: bool = False
    options: Options = ()
    conflict: ConflictStrategy | None = None


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """``EXECUTE STATEMENT SET BEGIN ... END``.

    Args:
        inserts: what runs together.
    """

    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True)
class CompilePlan(Statement):
    """``COMPILE PLAN 'file' FOR ...``, or ``COMPILE AND EXECUTE PLAN``.

    Args:
        file: where the plan is written to.
        inserts: what is planned.
        if_not_exists: whether a file that is there stays as it is.
        execute: whether the plan in the file runs then.
    """

    file: str
    inserts: tuple[Insert, ...]
    if_not_exists: bool = False
    execute: bool = False


@dataclass(frozen=True, slots=True)
class ExecutePlan(Statement):
    """``EXECUTE PLAN 'file'``.

    Args:
        file: where the plan is.
    """

    file: str


class ColumnKind(enum.Enum):
    """The kinds of columns: stored, computed or metadata."""

    PHYSICAL = "physical"
    COMPUTED = "computed"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of a table.

    Args:
        name: its name.
        kind: where its values come from.
        type: its type; None for a computed column.
        expression: what computes it.
        metadata_key: the key of the metadata, if it is not the column's name.
        virtual: whether it is not written.
        primary_key: whether ``PRIMARY KEY NOT ENFORCED`` follows the type.
        comment: what is in it, or None.
        span: where it is.
    """

    name: str
    kind: ColumnKind
    type: LogicalType | None = None
    expression: Expression | None = None
    metadata_key: str | None = None
    virtual: bool = False
    primary_key: bool = False
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WatermarkDefinition:
    """``WATERMARK FOR column AS expression``.

    Args:
        column: the rowtime attribute.
        expression: the watermark.
    """

    column: Name
    expression: Expression


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """``PRIMARY KEY (a, b) NOT ENFORCED``.

    Args:
        columns: the columns.
        name: the constraint's name, or None.
    """

    columns: tuple[Name, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class LikeClause:
    """``LIKE other (INCLUDING ... EXCLUDING ...)``.

    Args:
        path: the other table.
        options: pairs of ``INCLUDING``, ``EXCLUDING`` or ``OVERWRITING`` and what.
    """

    path: Path
    path_span: Span
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Distribution:
    """The division of a table into buckets.

    Args:
        kind: ``HASH``, ``RANGE``, or nothing if the connector chooses.
        columns: the columns that decide on the bucket of a row.
        buckets: how many there are, or None if the connector chooses.
    """

    kind: str = ""
    columns: tuple[str, ...] = ()
    buckets: int | None = None

    def __str__(self) -> str:
        by = f" BY {self.kind}({', '.join(f'`{name}`' for name in self.columns)})"
        into = "" if self.buckets is None else f" INTO {self.buckets} BUCKETS"
        return f"DISTRIBUTED{by if self.columns else ''}{into}"


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """``CREATE TABLE``.

    Args:
        path: its name.
        columns: the columns.
        watermarks: at most one.
        primary_key: the constraint, or None.
        partition_by: the columns that partitions are made of.
        options: of ``WITH``.
        comment: what is in it, or None.
        temporary: whether it is gone with the session.
        if_not_exists: whether nothing happens if it is there.
        like: the table that it is like, or None.
        query: the query of ``AS``, or None.
        distribution: its buckets, or None.
    """

    path: Path
    columns: tuple[ColumnDefinition, ...] = ()
    watermarks: tuple[WatermarkDefinition, ...] = ()
    primary_key: PrimaryKey | None = None
    partition_by: tuple[Name, ...] = ()
    options: Options = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    like: LikeClause | None = None
    query: Query | None = None
    distribution: Distribution | None = None


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """``CREATE VIEW``.

    Args:
        path: its name.
        columns: the names of its columns, or nothing.
        query: what it stands for.
        comment: what is in it, or None.
        temporary: whether it is gone with the session.
        if_not_exists: whether nothing happens if it is there.
    """

    path: Path
    columns: tuple[str, ...]
    query: Query
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    """``CREATE DATABASE``.

    Args:
        path: its name.
        options: of ``WITH``.
        comment: what is in it, or None.
        if_not_exists: whether nothing happens if it is there.
    """

    path: Path
    options: Options = ()
    comment: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateCatalog(Statement):
    """``CREATE CATALOG``.

    Args:
        name: its name.
        options: of ``WITH``.
        comment: what is in it, or None.
        if_not_exists: whether nothing happens if it is there.
    """

    name: str
    options: Options = ()
    comment: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """``CREATE FUNCTION``.

    Args:
        path: its name.
        implementation: the name of a class or of a Python object.
        language: ``JAVA``, ``SCALA`` or ``PYTHON``.
        temporary: whether it is gone with the session.
        system: whether it is in no database.
        if_not_exists: whether nothing happens if it is there.
    """

    path: Path
    implementation: str
    language: str = "JAVA"
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False


class ObjectKind(enum.Enum):
    """The kinds of objects that can be created, dropped and listed."""

    TABLE = "TABLE"
    VIEW = "VIEW"
    DATABASE = "DATABASE"
    CATALOG = "CATALOG"
    FUNCTION = "FUNCTION"
    COLUMN = "COLUMN"
    MODULE = "MODULE"
    JOB = "JOB"
    PARTITION = "PARTITION"
    JAR = "JAR"


@dataclass(frozen=True, slots=True)
class ChangeRows(Statement):
    """``UPDATE`` or ``DELETE``.

    Args:
        word: ``UPDATE`` or ``DELETE``.
        path: the table's name.
        query: reads the rows that change; the assigned values, or all columns for ``DELETE``.
        columns: the columns that ``SET`` assigns to.
    """

    word: str
    path: Path
    query: Select
    columns: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Truncate(Statement):
    """``TRUNCATE TABLE``.

    Args:
        path: the table's name.
    """

    path: Path


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """``DROP``.

    Args:
        kind: what.
        path: its name.
        if_exists: whether nothing happens if it is not there.
        temporary: whether a temporary one is meant.
        system: whether a function in no database is meant.
        cascade: whether what is in a database goes, too.
    """

    kind: ObjectKind
    path: Path
    if_exists: bool = False
    temporary: bool = False
    system: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class Rename(Statement):
    """``ALTER TABLE ... RENAME TO`` or ``ALTER VIEW ... RENAME TO``.

    Args:
        kind: a table or a view.
        path: its name.
        new_path: the name that it gets.
        if_exists: whether nothing happens if it is not there.
    """

    kind: ObjectKind
    path: Path
    new_path: Path
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterOptions(Statement):
    """``ALTER TABLE ... SET`` or ``ALTER TABLE ... RESET``.

    Args:
        path: the table's name.
        options: those that are set.
        removed: the keys of those that are reset; None for ``SET``.
        if_exists: whether nothing happens if the table is not there.
    """

    path: Path
    options: Options = ()
    removed: tuple[str, ...] | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column of ``ALTER TABLE ... ADD`` or ``MODIFY``.

    Args:
        definition: the column.
        first: whether it becomes the first one.
        after: the column that it follows, or None.
    """

    definition: ColumnDefinition
    first: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class AlterColumns(Statement):
    """``ALTER TABLE ... ADD`` or ``ALTER TABLE ... MODIFY``.

    Args:
        path: the table's name.
        modify: whether what is there changes.
        columns: the columns.
        watermarks: at most one.
        primary_key: the constraint, or None.
        if_exists: whether nothing happens if the table is not there.
    """

    path: Path
    modify: bool
    columns: tuple[PlacedColumn, ...] = ()
    watermarks: tuple[WatermarkDefinition, ...] = ()
    primary_key: PrimaryKey | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropColumns(Statement):
    """``ALTER TABLE ... DROP``.

    Args:
        path: the table's name.
        columns: the columns that go.
        watermark: whether the watermark goes.
        primary_key: whether the primary key goes.
        constraint: the name that the primary key has to have, or None.
        if_exists: whether nothing happens if the table is not there.
    """

    path: Path
    columns: tuple[str, ...] = ()
    watermark: bool = False
    primary_key: bool = False
    constraint: str | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn(Statement):
    """``ALTER TABLE ... RENAME column TO name``.

    Args:
        path: the table's name.
        column: the column.
        name: the name that it gets.
        if_exists: whether nothing happens if the table is not there.
    """

    path: Path
    column: str
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterDistribution(Statement):
    """``ALTER TABLE ... ADD DISTRIBUTION``, ``MODIFY DISTRIBUTION`` or ``DROP DISTRIBUTION``.

    ``IF EXISTS`` counts for nothing here, as in Flink.

    Args:
        path: the table's name.
        modify: whether the table has to have buckets, and not to have none.
        distribution: its buckets from now on; None for ``DROP``.
    """

    path: Path
    modify: bool = False
    distribution: Distribution | None = None


@dataclass(frozen=True, slots=True)
class AlterPartitions(Statement):
    """``ALTER TABLE ... ADD PARTITION`` or ``ALTER TABLE ... DROP PARTITION``.

    Args:
        path: the table's name.
        drop: whether the partitions go.
        partitions: the values of each, with the options of those that are new.
        lenient: whether partitions that are there, or that are missing, are passed over.
    """

    path: Path
    drop: bool
    partitions: tuple[tuple[dict[str, str], Options], ...]
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class AlterView(Statement):
    """``ALTER VIEW ... AS``.

    Args:
        path: the view's name.
        query: what it stands for from now on.
    """

    path: Path
    query: Query


@dataclass(frozen=True, slots=True)
class AlterDatabase(Statement):
    """``ALTER DATABASE ... SET``.

    Args:
        path: the database's name.
        options: those that are set.
    """

    path: Path
    options: Options


@dataclass(frozen=True, slots=True)
class AlterCatalog(Statement):
    """``ALTER CATALOG ... SET``, ``RESET`` or ``COMMENT``.

    Args:
        name: its name.
        options: those that are set.
        removed: the keys of those that are reset; None for others than ``RESET``.
        comment: what is in it; None for others than ``COMMENT``.
    """

    name: str
    options: Options = ()
    removed: tuple[str, ...] | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class AlterFunction(Statement):
    """``ALTER FUNCTION``.

    Args:
        path: its name.
        implementation: the name of a class or of a Python object.
        language: ``JAVA``, ``SCALA`` or ``PYTHON``.
        temporary: whether a temporary one is meant.
        system: whether a function in no database is meant.
        if_exists: whether nothing happens if it is not there.
    """

    path: Path
    implementation: str
    language: str = "JAVA"
    temporary: bool = False
    system: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class UseModules(Statement):
    """``USE MODULES``.

    Args:
        names: of the modules in which functions are looked for, in this order.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadModule(Statement):
    """``LOAD MODULE``.

    Args:
        name: its name.
        options: of ``WITH``.
    """

    name: str
    options: Options = ()


@dataclass(frozen=True, slots=True)
class UnloadModule(Statement):
    """``UNLOAD MODULE``.

    Args:
        name: its name.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Use(Statement):
    """``USE`` or ``USE CATALOG``.

    Args:
        kind: a catalog or a database.
        path: its name.
    """

    kind: ObjectKind
    path: Path


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """``SHOW TABLES`` and the like.

    Args:
        kind: what is listed.
        path: whose, or nothing for the current database's.
        pattern: of ``LIKE``, or None.
        negated: whether ``NOT`` stands before it.
        ignore_case: whether it is ``ILIKE``.
        user: whether only the user's functions are listed.
        full: whether all modules are listed.
        partition: values that listed partitions have.
    """

    kind: ObjectKind
    path: Path = ()
    pattern: str | None = None
    negated: bool = False
    ignore_case: bool = False
    user: bool = False
    full: bool = False
    partition: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ShowCurrent(Statement):
    """``SHOW CURRENT DATABASE`` or ``SHOW CURRENT CATALOG``.

    Args:
        kind: which.
    """

    kind: ObjectKind


@dataclass(frozen=True, slots=True)
class ShowCreate(Statement):
    """``SHOW CREATE TABLE``, ``SHOW CREATE VIEW`` or ``SHOW CREATE CATALOG``.

    Args:
        kind: which.
        path: its name.
    """

    kind: ObjectKind
    path: Path


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """``DESCRIBE``.

    Args:
        path: the table.
    """

    path: Path


@dataclass(frozen=True, slots=True)
class DescribeCatalog(Statement):
    """``DESCRIBE CATALOG``.

    Args:
        name: its name.
        extended: whether its options are shown, too.
    """

    name: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeFunction(Statement):
    """``DESCRIBE FUNCTION``.

    Args:
        path: its name.
        extended: whether its signature is shown, too.
    """

    path: Path
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """``EXPLAIN``.

    Args:
        statement: what is explained.
        details: ``ESTIMATED_COST``, ``CHANGELOG_MODE``, ``JSON_EXECUTION_PLAN``, ``PLAN_ADVICE``.
    """

    statement: Statement
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """``SET 'key' = 'value'``, or ``RESET``.

    Args:
        key: None for all.
        value: None to reset it.
    """

    key: str | None = None
    value: str | None = None
