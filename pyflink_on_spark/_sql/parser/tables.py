"""Parses CREATE TABLE."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.parser.queries import QueryParser
from pyflink_on_spark._sql.parser.tokens import Kind, Token
from pyflink_on_spark._sql.syntax.expressions import Name
from pyflink_on_spark._sql.syntax.statements import (
    ColumnDefinition,
    ColumnKind,
    CreateTable,
    LikeClause,
    Options,
    PrimaryKey,
    Statement,
    WatermarkDefinition,
)

_LIKE_ACTIONS = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_LIKE_FEATURES = (
    "ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS",
    "WATERMARKS",
)  # fmt: skip
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
            span=self.since(first.span),
        )

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
                options.append((action, feature))
            self.expect(")")
        if self.token.kind is Kind.WORD:
            raise self.unexpected()
        return LikeClause(path, span, tuple(options))
