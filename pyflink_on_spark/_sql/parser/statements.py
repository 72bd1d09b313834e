"""Parses statements, and whole texts: of a statement, an expression, a type or a path."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from pyflink_on_spark._sql.errors import (
    IllegalArgumentError,
    SqlParseError,
    ValidationError,
    at_any_depth,
    invalid,
    not_yet,
)
from pyflink_on_spark._sql.parser.cursor import Kind, Token
from pyflink_on_spark._sql.parser.queries import QueryParser
from pyflink_on_spark._sql.syntax.expressions import Expression, Literal, Name, Star
from pyflink_on_spark._sql.syntax.queries import Relation, Select, TableReference
from pyflink_on_spark._sql.syntax.statements import (
    AlterCatalog,
    AlterColumns,
    AlterDatabase,
    AlterDistribution,
    AlterFunction,
    AlterOptions,
    AlterPartitions,
    AlterView,
    ChangeRows,
    ColumnDefinition,
    ColumnKind,
    CompilePlan,
    ConflictStrategy,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    Describe,
    DescribeCatalog,
    DescribeFunction,
    Distribution,
    Drop,
    DropColumns,
    ExecutePlan,
    Explain,
    Insert,
    LikeClause,
    LoadModule,
    ObjectKind,
    Options,
    PlacedColumn,
    PrimaryKey,
    QueryStatement,
    Rename,
    RenameColumn,
    SetOption,
    Show,
    ShowCreate,
    ShowCurrent,
    Statement,
    StatementSet,
    Truncate,
    UnloadModule,
    Use,
    UseModules,
    WatermarkDefinition,
)
from pyflink_on_spark._sql.types.logical import LogicalType

_LIKE_ACTIONS = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_LIKE_FEATURES = (
    "ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS",
    "WATERMARKS",
)  # fmt: skip
_NOT_OVERWRITTEN = frozenset({"ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS"})
_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})
_ENFORCED = (
    "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint: a key that is declared "
    "NOT ENFORCED is taken for granted"
)


class TableParser(QueryParser):
    """Reads the description of a table."""

    def create_table(self, first: Token, temporary: bool) -> Statement:
        """Read what follows TABLE."""
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        path, _ = self.path()
        self._columns: list[ColumnDefinition] = []
        self._watermarks: list[WatermarkDefinition] = []
        self._primary_key: PrimaryKey | None = None
        if self.accept("(") and not self.accept(")"):
            self.listed(self._element)
            self.expect(")")
        comment = self.string() if self.accept("COMMENT") else None
        distribution = self.distribution() if self.accept("DISTRIBUTED") else None
        partition_by: tuple[Name, ...] = ()
        if self.accept("PARTITIONED", "BY"):
            partition_by = self.in_parentheses(self._column)
        options = self.with_options()
        like = self._like() if self.accept("LIKE") else None
        query = self.query() if like is None and self.accept("AS") else None
        return CreateTable(
            path,
            tuple(self._columns),
            tuple(self._watermarks),
            self._primary_key,
            partition_by,
            options,
            comment,
            temporary,
            if_not_exists,
            like,
            query,
            distribution,
            span=self.since(first.span),
        )

    def distribution(self) -> Distribution:
        """Read what follows DISTRIBUTED or DISTRIBUTION."""
        kind, buckets = "", None
        columns: tuple[str, ...] = ()
        if self.accept("BY"):
            kind = self.accept_any("HASH", "RANGE") or ""
            columns = self.in_parentheses(self.name)
        elif not self.at("INTO"):
            raise self.unexpected()
        if self.accept("INTO"):
            if self.token.kind in {Kind.DECIMAL, Kind.DOUBLE}:
                raise invalid("Bucket count must be a positive integer", self.token.span)
            buckets = self.integer()
            self.expect("BUCKETS")
        return Distribution(kind, columns, buckets)

    def with_options(self) -> Options:
        """Read ``WITH (...)``, if it comes next."""
        return self.any_in_parentheses(self.option) if self.accept("WITH") else ()

    def _element(self) -> None:
        if self.at("WATERMARK", "FOR"):
            self.expect("WATERMARK", "FOR")
            column = self._nested_column()
            self.expect("AS")
            self._watermarks.append(WatermarkDefinition(column, self.expression()))
        elif self.at("PRIMARY") or self.at("CONSTRAINT"):
            self._constraint()
        elif self.at("UNIQUE"):
            raise invalid("UNIQUE constraint is not supported yet", self.token.span)
        else:
            self._columns.append(self._column_definition())

    def _nested_column(self) -> Name:
        first = self.token.span
        parts, span = self.path()
        return Name(parts, (first,), span=span)

    def _constraint(self) -> None:
        first = self.token
        name = self.name() if self.accept("CONSTRAINT") else None
        self.expect("PRIMARY", "KEY")
        columns = self.in_parentheses(self._column)
        self._not_enforced(first)
        self._set_primary_key(PrimaryKey(columns, name), first)

    def _not_enforced(self, first: Token) -> None:
        if not self.accept("NOT", "ENFORCED"):
            self.accept("ENFORCED")
            raise invalid(_ENFORCED, self.since(first.span))

    def _set_primary_key(self, key: PrimaryKey, first: Token) -> None:
        if self._primary_key is not None:
            raise invalid("Duplicate primary key definition", self.since(first.span))
        self._primary_key = key

    def _column_definition(self) -> ColumnDefinition:
        first = self.token
        name = self.name()
        if self.accept("AS"):
            expression = self.expression()
            return ColumnDefinition(
                name,
                ColumnKind.COMPUTED,
                expression=expression,
                comment=self._comment(),
                span=first.span,
            )
        kind = self.type()
        if self.accept("METADATA"):
            key = self.string() if self.accept("FROM") else None
            virtual = self.accept("VIRTUAL")
            return ColumnDefinition(
                name,
                ColumnKind.METADATA,
                kind,
                metadata_key=key,
                virtual=virtual,
                comment=self._comment(),
                span=first.span,
            )
        if self.accept("PRIMARY", "KEY"):
            self._not_enforced(first)
            self._set_primary_key(
                PrimaryKey((Name((name,), (first.span,), span=first.span),)), first
            )
        return ColumnDefinition(
            name, ColumnKind.PHYSICAL, kind, comment=self._comment(), span=first.span
        )

    def _comment(self) -> str | None:
        if self.accept("COMMENT"):
            return self.string()
        return None

    def _like(self) -> LikeClause:
        path, span = self.path()
        options: list[tuple[str, str]] = []
        if self.accept("("):
            while action := self.accept_any(*_LIKE_ACTIONS):
                feature = self.accept_any(*_LIKE_FEATURES)
                if feature is None:
                    raise self.unexpected()
                if action == "OVERWRITING" and feature in _NOT_OVERWRITTEN:
                    raise ValidationError(
                        f"Illegal merging strategy 'OVERWRITING' for '{feature}' option."
                    )
                options.append((action, feature))
            self.expect(")")
        if self.token.kind is Kind.WORD:
            raise self.unexpected()
        return LikeClause(path, span, tuple(options))


class AlterationParser(TableParser):
    """Reads statements that change the objects of a catalog."""

    def alter(self, first: Token) -> Statement:
        """Read what follows ALTER."""
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        if temporary or self.at("FUNCTION"):
            self.expect("FUNCTION")
            return self._altered_function(first, temporary, system)
        read: dict[str | None, Callable[[Token], Statement]] = {
            "TABLE": self._altered_table,
            "VIEW": self._altered_view,
            "DATABASE": self._altered_database,
            "CATALOG": self._altered_catalog,
        }
        word = self.accept_any("TABLE", "VIEW", "DATABASE", "CATALOG")
        if word is None:
            not_yet(f"ALTER {self.token.upper}", first.span, "Use CREATE and DROP.")
        return read[word](first)

    def implementation(self) -> tuple[str, str]:
        """Read where a function is, and the language that it is written in."""
        self.expect("AS")
        path, language = self.string(), "JAVA"
        if self.accept("LANGUAGE"):
            found = self.accept_any("JAVA", "SCALA", "PYTHON")
            if found is None:
                raise self.unexpected()
            language = found
        return path, language

    def _altered_function(self, first: Token, temporary: bool, system: bool) -> Statement:
        if_exists = self.accept("IF", "EXISTS")
        path, _ = self.path()
        implementation, language = self.implementation()
        span = self.since(first.span)
        return AlterFunction(
            path, implementation, language, temporary, system, if_exists, span=span
        )

    def _altered_view(self, first: Token) -> Statement:
        path, _ = self.path()
        if self.accept("RENAME", "TO"):
            new_path, _ = self.path()
            return Rename(ObjectKind.VIEW, path, new_path, span=self.since(first.span))
        self.expect("AS")
        query = self.query()
        return AlterView(path, query, span=self.since(first.span))

    def _altered_database(self, first: Token) -> Statement:
        path, _ = self.path()
        self.expect("SET")
        options = self.any_in_parentheses(self.option)
        return AlterDatabase(path, options, span=self.since(first.span))

    def _altered_catalog(self, first: Token) -> Statement:
        (name, *_), _ = self.path()
        if self.accept("SET"):
            options = self.any_in_parentheses(self.option)
            return AlterCatalog(name, options, span=self.since(first.span))
        if self.accept("RESET"):
            removed = self.any_in_parentheses(self.string)
            return AlterCatalog(name, removed=removed, span=self.since(first.span))
        self.expect("COMMENT")
        return AlterCatalog(name, comment=self.string(), span=self.since(first.span))

    def _altered_table(self, first: Token) -> Statement:
        if_exists = self.accept("IF", "EXISTS")
        path, _ = self.path()
        if self.accept("RENAME", "TO"):
            new_path, _ = self.path()
            span = self.since(first.span)
            return Rename(ObjectKind.TABLE, path, new_path, if_exists, span=span)
        word = self.accept_any("ADD", "MODIFY", "DROP")
        if word is not None:
            if self.accept("DISTRIBUTION"):
                distribution = None if word == "DROP" else self.distribution()
                modify, span = word == "MODIFY", self.since(first.span)
                return AlterDistribution(path, modify, distribution, span=span)
            if word != "MODIFY" and (self.at("IF") or self.at("PARTITION")):
                return self._partitions(first, path, drop=word == "DROP")
            if word == "DROP":
                return self._dropped(first, path, if_exists)
            return self._placed(first, path, word == "MODIFY", if_exists)
        if self.accept("RENAME"):
            column = self.name()
            self.expect("TO")
            name = self.name()
            return RenameColumn(path, column, name, if_exists, span=self.since(first.span))
        if self.accept("SET"):
            options = self.any_in_parentheses(self.option)
            return AlterOptions(path, options, None, if_exists, span=self.since(first.span))
        if self.accept("RESET"):
            keys = self.any_in_parentheses(self.string)
            return AlterOptions(path, (), keys, if_exists, span=self.since(first.span))
        raise self.unexpected()

    def _partitions(self, first: Token, path: tuple[str, ...], *, drop: bool) -> Statement:
        """Read the partitions of ADD or DROP."""
        words = ("IF", "EXISTS") if drop else ("IF", "NOT", "EXISTS")
        lenient = self.accept(*words)
        found: list[tuple[dict[str, str], Options]] = []
        while self.accept("PARTITION"):
            values = self.partition()
            found.append((values, () if drop else self.with_options()))
            if drop and not self.accept(","):
                break
        if not found:
            raise self.unexpected()
        return AlterPartitions(path, drop, tuple(found), lenient, span=self.since(first.span))

    def partition(self) -> dict[str, str]:
        """Read the values of a partition, each a text or a number."""
        return dict(self.in_parentheses(self._partition_literal))

    def _partition_literal(self) -> tuple[str, str]:
        name = self.name()
        self.expect("=")
        if self.token.upper == "CAST":
            raise self.unexpected()
        sign = self.accept_any("+", "-") or ""
        first = self.token
        value = self.expression()
        if first.kind is Kind.STRING and isinstance(value, Literal) and not sign:
            return name, str(value.value)
        if isinstance(value, Literal) and first.kind in _NUMBERS:
            return name, str(Decimal(f"{sign}{value.span}"))
        raise IllegalArgumentError(f"not a literal: {sign}{value.span}")

    def _placed(self, first: Token, path: tuple[str, ...], modify: bool, exists: bool) -> Statement:
        """Read the columns, the watermark and the key of ADD or MODIFY."""
        self._columns, self._watermarks, self._primary_key = [], [], None
        placed: list[PlacedColumn] = []

        def element() -> None:
            before = len(self._columns)
            self._element()
            if len(self._columns) > before:
                placed.append(self._place())

        if self.at("("):
            self.in_parentheses(element)
        else:
            element()
        return AlterColumns(
            path,
            modify,
            tuple(placed),
            tuple(self._watermarks),
            self._primary_key,
            exists,
            span=self.since(first.span),
        )

    def _place(self) -> PlacedColumn:
        definition = self._columns[-1]
        if self.accept("FIRST"):
            return PlacedColumn(definition, first=True)
        if self.accept("AFTER"):
            return PlacedColumn(definition, after=self.name())
        return PlacedColumn(definition)

    def _dropped(self, first: Token, path: tuple[str, ...], exists: bool) -> Statement:
        columns: tuple[str, ...] = ()
        constraint = None
        watermark, key = self.accept("WATERMARK"), False
        if not watermark:
            key = self.accept("PRIMARY", "KEY")
            if self.accept("CONSTRAINT"):
                key, constraint = True, self.name()
        if not watermark and not key:
            columns = self.in_parentheses(self.name) if self.at("(") else (self.name(),)
        return DropColumns(
            path, columns, watermark, key, constraint, exists, span=self.since(first.span)
        )


_LISTED = {
    "TABLES": ObjectKind.TABLE,
    "VIEWS": ObjectKind.VIEW,
    "DATABASES": ObjectKind.DATABASE,
    "CATALOGS": ObjectKind.CATALOG,
    "FUNCTIONS": ObjectKind.FUNCTION,
    "COLUMNS": ObjectKind.COLUMN,
    "MODULES": ObjectKind.MODULE,
    "JOBS": ObjectKind.JOB,
    "PARTITIONS": ObjectKind.PARTITION,
    "JARS": ObjectKind.JAR,
}
_NOT_YET = {"ANALYZE", "CALL"}
_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


class StatementParser(AlterationParser):
    """Reads statements."""

    def statement(self) -> Statement:
        """Read a statement."""
        token = self.token
        if token.upper in {"SELECT", "VALUES", "WITH", "("}:
            return self._query_statement()
        read: Callable[[Token], Statement] | None = {
            "INSERT": self._insert,
            "CREATE": self._create,
            "DROP": self._drop,
            "ALTER": self.alter,
            "LOAD": self._load,
            "UNLOAD": self._unload,
            "USE": self._use,
            "SHOW": self._show,
            "DESCRIBE": self._describe,
            "DESC": self._describe,
            "EXPLAIN": self._explain,
            "SET": self._set,
            "RESET": self._reset,
            "EXECUTE": self._execute,
            "COMPILE": self._compile,
            "UPDATE": self._update,
            "DELETE": self._delete,
            "TRUNCATE": self._truncate,
        }.get(token.upper)
        if token.upper in _NOT_YET:
            not_yet(f"the statement {token.upper}", token.span, "Use CREATE, DROP and INSERT.")
        if read is None:
            raise self.unexpected()
        self.next()
        return read(token)

    def _query_statement(self) -> Statement:
        first = self.token
        return QueryStatement(self.query(), span=self.since(first.span))

    def _insert(self, first: Token) -> Statement:
        return self._insert_into(first)

    def _insert_into(self, first: Token) -> Insert:
        word = self.accept_any("INTO", "OVERWRITE")
        if word is None:
            raise self.unexpected()
        self.accept("TABLE")
        path, span = self.path()
        options = self.hints()
        partition: tuple[tuple[str, Expression], ...] = ()
        if self.accept("PARTITION"):
            partition = self.in_parentheses(self._partition_value)
        columns: tuple[Name, ...] = ()
        if self.at("(") and not self._at_query():
            columns = self.in_parentheses(self._column)
        query = self.query()
        conflict = self._conflict_strategy() if self.accept("ON", "CONFLICT") else None
        return Insert(
            path,
            span,
            query,
            columns,
            partition,
            word == "OVERWRITE",
            options,
            conflict,
            span=self.since(first.span),
        )

    def _conflict_strategy(self) -> ConflictStrategy:
        self.expect("DO")
        word = self.accept_any(*(each.value for each in ConflictStrategy))
        if word is None:
            raise self.unexpected()
        return ConflictStrategy(word)

    def _partition_value(self) -> tuple[str, Expression]:
        name = self.name()
        self.expect("=")
        return name, self.expression()

    def _update(self, first: Token) -> Statement:
        path, relation = self._changed_table()
        self.expect("SET")
        assigned = self.listed(self._assignment)
        values = tuple(value for _, value in assigned)
        query = self._changed_rows(first, relation, values)
        columns = tuple(column for column, _ in assigned)
        return ChangeRows("UPDATE", path, query, columns, span=self.since(first.span))

    def _delete(self, first: Token) -> Statement:
        self.expect("FROM")
        path, relation = self._changed_table()
        query = self._changed_rows(first, relation, (Star(),))
        return ChangeRows("DELETE", path, query, span=self.since(first.span))

    def _changed_table(self) -> tuple[tuple[str, ...], Relation]:
        path, span = self.path()
        reference = TableReference(path, self.hints(), span=span)
        return path, self._aliased(reference, span)

    def _assignment(self) -> tuple[Name, Expression]:
        column = self._column()
        self.expect("=")
        return column, self.expression()

    def _changed_rows(
        self, first: Token, relation: Relation, items: tuple[Expression, ...]
    ) -> Select:
        where = self.expression() if self.accept("WHERE") else None
        return Select(items, from_=(relation,), where=where, span=self.since(first.span))

    def _truncate(self, first: Token) -> Statement:
        self.expect("TABLE")
        path, _ = self.path()
        return Truncate(path, span=self.since(first.span))

    def _execute(self, first: Token) -> Statement:
        if self.accept("PLAN"):
            return ExecutePlan(self.string(), span=self.since(first.span))
        if not self.accept("STATEMENT", "SET"):
            return self.statement()
        return StatementSet(self._set_of_inserts(), span=self.since(first.span))

    def _set_of_inserts(self) -> tuple[Insert, ...]:
        self.expect("BEGIN")
        inserts: list[Insert] = []
        while self.at("INSERT"):
            inserts.append(self._insert_into(self.next()))
            self.expect(";")
        self.expect("END")
        return tuple(inserts)

    def _compile(self, first: Token) -> Statement:
        execute = self.accept("AND", "EXECUTE")
        self.expect("PLAN")
        file = self.string()
        if_not_exists = not execute and self.accept("IF", "NOT", "EXISTS")
        self.expect("FOR")
        if self.accept("STATEMENT", "SET"):
            inserts = self._set_of_inserts()
        else:
            inserts = (self._insert_into(self.expect("INSERT")),)
        return CompilePlan(file, inserts, if_not_exists, execute, span=self.since(first.span))

    # -- creating and dropping -------------------------------------------------------------------

    def _create(self, first: Token) -> Statement:
        temporary = self.accept("TEMPORARY")
        if temporary and self.accept("SYSTEM", "FUNCTION"):
            return self._create_function(first, temporary=True, system=True)
        word = self.accept_any("TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG")
        if word == "TABLE":
            return self.create_table(first, temporary)
        if word == "VIEW":
            return self._create_view(first, temporary)
        if word == "FUNCTION":
            return self._create_function(first, temporary, system=False)
        if word is None or temporary:
            raise self.unexpected()
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        path, _ = self.path()
        comment = self.string() if self.accept("COMMENT") else None
        options = self.with_options()
        span = self.since(first.span)
        if word == "DATABASE":
            return CreateDatabase(path, options, comment, if_not_exists, span=span)
        return CreateCatalog(path[0], options, comment, if_not_exists, span=span)

    def _create_view(self, first: Token, temporary: bool) -> Statement:
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        path, _ = self.path()
        columns = self.in_parentheses(self.name) if self.at("(") else ()
        comment = self.string() if self.accept("COMMENT") else None
        self.expect("AS")
        query = self.query()
        return CreateView(
            path, columns, query, comment, temporary, if_not_exists, span=self.since(first.span)
        )

    def _create_function(self, first: Token, temporary: bool, system: bool) -> Statement:
        if_not_exists = self.accept("IF", "NOT", "EXISTS")
        path, _ = self.path()
        implementation, language = self.implementation()
        span = self.since(first.span)
        return CreateFunction(
            path, implementation, language, temporary, system, if_not_exists, span=span
        )

    def _drop(self, first: Token) -> Statement:
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        word = self.accept_any("TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG")
        if word is None:
            raise self.unexpected()
        if_exists = self.accept("IF", "EXISTS")
        path, _ = self.path()
        cascade = word == "DATABASE" and self.accept_any("CASCADE", "RESTRICT") == "CASCADE"
        span = self.since(first.span)
        return Drop(ObjectKind(word), path, if_exists, temporary, system, cascade, span=span)

    # -- looking around --------------------------------------------------------------------------

    def _use(self, first: Token) -> Statement:
        if self.accept("MODULES"):
            names = self.listed(self.name)
            return UseModules(names, span=self.since(first.span))
        kind = ObjectKind.CATALOG if self.accept("CATALOG") else ObjectKind.DATABASE
        path, _ = self.path()
        return Use(kind, path, span=self.since(first.span))

    def _show(self, first: Token) -> Statement:
        if self.accept("CURRENT"):
            word = self.accept_any("DATABASE", "CATALOG")
            if word is None:
                raise self.unexpected()
            return ShowCurrent(ObjectKind(word), span=self.since(first.span))
        if self.accept("CREATE"):
            word = self.accept_any("TABLE", "VIEW", "CATALOG")
            if word is None:
                raise self.unexpected()
            path, _ = self.path()
            return ShowCreate(ObjectKind(word), path, span=self.since(first.span))
        user = self.accept("USER")
        full = not user and self.accept("FULL")
        kind = _LISTED.get(self.token.upper)
        if kind is None:
            raise self.unexpected()
        self.next()
        listed: tuple[str, ...] = ()
        if self.accept_any("FROM", "IN") or kind is ObjectKind.PARTITION:
            listed, _ = self.path()
        partition: tuple[tuple[str, str], ...] = ()
        if kind is ObjectKind.PARTITION and self.accept("PARTITION"):
            partition = tuple(self.partition().items())
        negated = self.accept("NOT")
        word = self.accept_any("LIKE", "ILIKE")
        pattern = self.string() if word else None
        span = self.since(first.span)
        return Show(
            kind, listed, pattern, negated, word == "ILIKE", user, full, partition, span=span
        )

    def _describe(self, first: Token) -> Statement:
        if self.at("CATALOG") or self.at("FUNCTION"):
            word = self.next().upper
            extended = self.accept("EXTENDED")
            path, _ = self.path()
            span = self.since(first.span)
            if word == "CATALOG":
                return DescribeCatalog(path[0], extended, span=span)
            return DescribeFunction(path, extended, span=span)
        self.accept_any("EXTENDED", "TABLE")
        path, _ = self.path()
        return Describe(path, span=self.since(first.span))

    def _load(self, first: Token) -> Statement:
        self.expect("MODULE")
        name, options = self.name(), self.with_options()
        return LoadModule(name, options, span=self.since(first.span))

    def _unload(self, first: Token) -> Statement:
        self.expect("MODULE")
        return UnloadModule(self.name(), span=self.since(first.span))

    def _explain(self, first: Token) -> Statement:
        details: list[str] = []
        if not self.accept("PLAN", "FOR"):
            while detail := self.accept_any(*_DETAILS):
                details.append(detail)
                if not self.accept(","):
                    break
        return Explain(self.statement(), tuple(details), span=self.since(first.span))

    def _set(self, first: Token) -> Statement:
        if self.token.kind is Kind.END:
            return SetOption(span=first.span)
        key, value = self.option()
        return SetOption(key, value, span=self.since(first.span))

    def _reset(self, first: Token) -> Statement:
        key = self.string() if self.token.kind is Kind.STRING else None
        return SetOption(key, span=self.since(first.span))


@at_any_depth
def parse_statement(text: str) -> Statement:
    """Return the statement of a text.

    Raises:
        SqlParseError: the text is not valid.
    """
    parser = StatementParser(text)
    statement = parser.statement()
    parser.expect_end()
    return statement


@at_any_depth
def parse_expression(text: str) -> Expression:
    """Return the expression of a text.

    Raises:
        SqlParseError: the text is not valid.
    """
    parser = StatementParser(text)
    expression = parser.expression()
    parser.expect_end()
    return expression


@at_any_depth
def parse_type(text: str) -> LogicalType:
    """Return the type of a text.

    Raises:
        SqlParseError: the text is not valid.
    """
    parser = StatementParser(text)
    parser.takes_intervals = True
    parsed = parser.type()
    parser.expect_end()
    return parsed


def parse_path(text: str) -> tuple[str, ...]:
    """Return the parts of a table's name, as methods take it: reserved words are names, too.

    Raises:
        SqlParseError: the text is not valid.
    """
    try:
        parser = StatementParser(text)
        parts, _ = parser.path(of_api=True)
        parser.expect_end()
    except SqlParseError as error:
        reason = error.message.removeprefix("SQL parse failed. ")
        raise SqlParseError(f"Invalid SQL identifier {text}. {reason}") from None
    return parts
