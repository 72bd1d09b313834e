"""Parses what stands in FROM."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import Span, SqlParseError
from pyflink_on_spark._sql.parser.match_recognize import MatchParser
from pyflink_on_spark._sql.syntax.expressions import Alias, Call, Expression, Name, OverWindow
from pyflink_on_spark._sql.syntax.queries import (
    Aliased,
    DerivedTable,
    FunctionTable,
    Grouping,
    GroupItem,
    Join,
    JoinKind,
    Ordered,
    Query,
    Relation,
    Select,
    SetOperation,
    SetOperator,
    TableReference,
    Unnest,
    Values,
    With,
)


class RelationParser(MatchParser):
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
        if isinstance(relation, TableReference | DerivedTable):
            if self.at("AS"):
                relation = self._aliased(relation, first.span)
            named = isinstance(relation, Aliased) and relation.columns
            if self.at("MATCH_RECOGNIZE") and not named:
                relation = self.match_recognize(relation, first.span)
        return self._aliased(relation, first.span)

    def _aliased(self, relation: Relation, first: Span) -> Relation:
        """Read the name that a relation may get."""
        if isinstance(relation, Aliased) or (not self.accept("AS") and not self.at_name()):
            return relation
        name = self.name()
        columns = self.in_parentheses(self.name) if self.at("(") else ()
        return Aliased(relation, name, columns, span=self.since(first))

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
        if not isinstance(relation, Join):
            raise SqlParseError(
                f"SQL parse failed. Expected query or join at {first.span.place()}."
            )
        return relation


_GROUPINGS = {"ROLLUP": Grouping.ROLLUP, "CUBE": Grouping.CUBE, "GROUPING": Grouping.SETS}


class QueryParser(RelationParser):
    """Reads queries."""

    def query(self) -> Query:
        """Read a query with all that may be before and after it."""
        first = self.token
        if not self.accept("WITH"):
            return self._ordered()
        definitions = self.listed(self._definition)
        return With(definitions, self._ordered(), span=self.since(first.span))

    def _definition(self) -> tuple[str, tuple[str, ...], Query]:
        name = self.name()
        columns = self.in_parentheses(self.name) if self.at("(") else ()
        self.expect("AS", "(")
        query = self.query()
        self.expect(")")
        return name, columns, query

    def _ordered(self) -> Query:
        first = self.token
        query = self._united()
        order_by = self.order_by() if self.at("ORDER") else ()
        limit: Expression | None = None
        offset: Expression | None = None
        if self.accept("LIMIT") and not self.accept("ALL"):
            limit = self.expression()
        if self.accept("OFFSET"):
            offset = self.expression()
            self.accept_any("ROW", "ROWS")
        if limit is None and self.accept("FETCH"):
            if not self.accept_any("FIRST", "NEXT"):
                raise self.unexpected()
            limit = self.expression()
            if not self.accept_any("ROW", "ROWS"):
                raise self.unexpected()
            self.expect("ONLY")
        if not order_by and limit is None and offset is None:
            return query
        return Ordered(query, order_by, limit, offset, span=self.since(first.span))

    def _united(self) -> Query:
        first = self.token
        left = self._intersected()
        while word := self.accept_any("UNION", "EXCEPT"):
            every = self.accept_any("ALL", "DISTINCT") == "ALL"
            right = self._intersected()
            left = SetOperation(SetOperator(word), left, right, every, span=self.since(first.span))
        return left

    def _intersected(self) -> Query:
        first = self.token
        left = self._simple()
        while self.accept("INTERSECT"):
            every = self.accept_any("ALL", "DISTINCT") == "ALL"
            right = self._simple()
            left = SetOperation(
                SetOperator.INTERSECT, left, right, every, span=self.since(first.span)
            )
        return left

    def _simple(self) -> Query:
        first = self.token
        if self.accept("("):
            query = self.query()
            self.expect(")")
            return query
        if self.accept("VALUES"):
            rows = self.listed(self._row)
            return Values(rows, span=self.since(first.span))
        if self.accept("TABLE"):
            path, span = self.path()
            return Select((), from_=(TableReference(path, span=span),), span=span)
        return self._select()

    def _row(self) -> tuple[Expression, ...]:
        if self.accept("ROW") or self.at("("):
            return self.in_parentheses(self.expression)
        return (self.expression(),)

    def _grouped_by(self) -> tuple[GroupItem, ...]:
        self.expect("BY")
        return self.listed(self._group_item)

    def _select(self) -> Query:
        first = self.expect("SELECT")
        self.hints()
        distinct = self.accept_any("DISTINCT", "ALL") == "DISTINCT"
        items = self.listed(self._item)
        from_ = self.listed(self.relation) if self.accept("FROM") else ()
        where = self.expression() if from_ and self.accept("WHERE") else None
        group_by = self._grouped_by() if from_ and self.accept("GROUP") else None
        having = self.expression() if from_ and self.accept("HAVING") else None
        windows = self.listed(self._window) if self.accept("WINDOW") else ()
        return Select(
            items,
            distinct,
            from_,
            where,
            group_by,
            having,
            windows,
            span=self.since(first.span),
        )

    def _item(self) -> Expression:
        first = self.token
        expression = self.expression()
        if self.accept("AS") or self.at_name():
            return Alias(expression, (self.name(),), span=self.since(first.span))
        return expression

    def _group_item(self) -> GroupItem:
        kind = _GROUPINGS.get(self.token.upper)
        if kind is None:
            if self.at("(", ")"):
                self.expect("(", ")")
                return GroupItem(Grouping.SETS, ((),))
            return GroupItem(Grouping.PLAIN, ((self.expression(),),))
        self.next()
        if kind is Grouping.SETS:
            self.expect("SETS")
        return GroupItem(kind, self.in_parentheses(self._grouping_set))

    def _grouping_set(self) -> tuple[Expression, ...]:
        if self.at("(", ")"):
            self.expect("(", ")")
            return ()
        if self.at("("):
            return self.in_parentheses(self.expression)
        return (self.expression(),)

    def _window(self) -> tuple[str, OverWindow]:
        name = self.name()
        self.expect("AS")
        return name, self.over_window()
