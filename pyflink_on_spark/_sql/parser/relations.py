"""Parses what stands in FROM."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.parser.expressions import ExpressionParser
from pyflink_on_spark._sql.syntax.expressions import Call, Expression, Name
from pyflink_on_spark._sql.syntax.queries import (
    Aliased,
    DerivedTable,
    FunctionTable,
    Join,
    JoinKind,
    Relation,
    TableReference,
    Unnest,
)


class RelationParser(ExpressionParser):
    """Reads tables and joins."""

    def relation(self) -> Relation:
        """Read a table and all that is joined with it."""
        first = self.token
        left = self._table()
        while True:
            natural = self.accept("NATURAL")
            kind = self._join_kind()
            if kind is None:
                if natural:
                    raise self.unexpected()
                return left
            right = self._table()
            on: Expression | None = None
            using: tuple[Name, ...] = ()
            if kind is not JoinKind.CROSS and not natural:
                if self.accept("USING"):
                    using = self.in_parentheses(self._column)
                elif self.accept("ON"):
                    on = self.expression()
            left = Join(left, right, kind, on, using, natural, span=self.since(first.span))

    def _join_kind(self) -> JoinKind | None:
        if self.accept("JOIN") or self.accept("INNER", "JOIN"):
            return JoinKind.INNER
        if self.accept("CROSS", "JOIN"):
            return JoinKind.CROSS
        for kind in (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL):
            if self.accept(kind.value, "JOIN") or self.accept(kind.value, "OUTER", "JOIN"):
                return kind
        return None

    def _table(self) -> Relation:
        first = self.token
        relation = self._unnamed()
        if self.at("MATCH_RECOGNIZE"):
            not_yet("MATCH_RECOGNIZE", self.token.span, "Use a process function of a stream.")
        if not self.accept("AS") and not self.at_name():
            return relation
        name = self.name()
        columns = self.in_parentheses(self.name) if self.at("(") else ()
        return Aliased(relation, name, columns, span=self.since(first.span))

    def _unnamed(self) -> Relation:
        first = self.token
        if self.accept("LATERAL"):
            return self._lateral()
        if self.at("TABLE", "("):
            return self._function_table(lateral=False)
        if self.at("UNNEST", "("):
            self.next()
            self.expect("(")
            operand = self.expression()
            self.expect(")")
            ordinality = self.accept("WITH", "ORDINALITY")
            return Unnest(operand, ordinality, span=self.since(first.span))
        if self.at("("):
            return self._in_parentheses()
        path, span = self.path()
        if self.at("("):
            call = self.function_call(".".join(path), span)
            if not isinstance(call, Call):
                raise self.unexpected(first)
            return FunctionTable(call, lateral=False, span=self.since(first.span))
        options = self.hints()
        time: Expression | None = None
        if self.accept("FOR", "SYSTEM_TIME", "AS", "OF"):
            time = self.expression()
        return TableReference(path, options, time, span=span)

    def _lateral(self) -> Relation:
        first = self.token
        if self.at("TABLE"):
            return self._function_table(lateral=True)
        self.expect("(")
        query = self.query()
        self.expect(")")
        return DerivedTable(query, lateral=True, span=self.since(first.span))

    def _function_table(self, lateral: bool) -> Relation:
        first = self.expect("TABLE")
        self.expect("(")
        path, span = self.path()
        call = self.function_call(".".join(path), span)
        if not isinstance(call, Call):
            raise self.unexpected()
        self.expect(")")
        return FunctionTable(call, lateral, span=self.since(first.span))

    def _in_parentheses(self) -> Relation:
        first = self.token
        if self._at_query():
            self.expect("(")
            query = self.query()
            self.expect(")")
            return DerivedTable(query, span=self.since(first.span))
        self.expect("(")
        relation = self.relation()
        self.expect(")")
        return relation
