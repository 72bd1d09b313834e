"""Parses statements."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.parser.alterations import AlterationParser
from pyflink_on_spark._sql.parser.tokens import Kind, Token
from pyflink_on_spark._sql.syntax.expressions import Expression, Name
from pyflink_on_spark._sql.syntax.statements import (
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateView,
    Describe,
    DescribeCatalog,
    DescribeFunction,
    Drop,
    Explain,
    Insert,
    LoadModule,
    ObjectKind,
    QueryStatement,
    SetOption,
    Show,
    ShowCreate,
    ShowCurrent,
    Statement,
    StatementSet,
    UnloadModule,
    Use,
    UseModules,
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
_NOT_YET = {"ANALYZE", "CALL", "COMPILE", "DELETE", "TRUNCATE", "UPDATE"}
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
        return Insert(
            path,
            span,
            query,
            columns,
            partition,
            word == "OVERWRITE",
            options,
            span=self.since(first.span),
        )

    def _partition_value(self) -> tuple[str, Expression]:
        name = self.name()
        self.expect("=")
        return name, self.expression()

    def _execute(self, first: Token) -> Statement:
        if not self.accept("STATEMENT", "SET"):
            self.accept("PLAN")
            return self.statement()
        self.expect("BEGIN")
        inserts: list[Insert] = []
        while self.at("INSERT"):
            inserts.append(self._insert_into(self.next()))
            self.expect(";")
        self.expect("END")
        return StatementSet(tuple(inserts), span=self.since(first.span))

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
        negated = self.accept("NOT")
        word = self.accept_any("LIKE", "ILIKE")
        pattern = self.string() if word else None
        span = self.since(first.span)
        return Show(kind, listed, pattern, negated, word == "ILIKE", user, full, span=span)

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
