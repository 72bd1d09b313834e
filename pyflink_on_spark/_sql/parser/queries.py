"""Parses what stands in FROM."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import Span, SqlParseError
from pyflink_on_spark._sql.parser.cursor import Kind
from pyflink_on_spark._sql.parser.expressions import ExpressionParser
from pyflink_on_spark._sql.syntax.expressions import (
    Alias,
    Call,
    Expression,
    Name,
    OverWindow,
    SortItem,
)
from pyflink_on_spark._sql.syntax.queries import (
    After,
    Aliased,
    Choice,
    Chosen,
    DerivedTable,
    FunctionTable,
    Grouping,
    GroupItem,
    Join,
    JoinKind,
    MatchRecognize,
    Ordered,
    Pattern,
    Quantified,
    Query,
    Relation,
    Select,
    Sequence,
    SetOperation,
    SetOperator,
    TableReference,
    Unnest,
    Values,
    Variable,
    With,
)

_BOUNDS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class MatchParser(ExpressionParser):
    """Reads what follows a table whose rows a pattern is looked for in."""

    _matching = False

    def match_recognize(self, relation: Relation, first: Span) -> Relation:
        """Read MATCH_RECOGNIZE after a relation.

        Args:
            relation: the relation.
            first: where it begins.
        """
        self.expect("MATCH_RECOGNIZE")
        outer, self._matching = self._matching, True
        self.expect("(")
        partition_by: tuple[Expression, ...] = ()
        if self.accept("PARTITION", "BY"):
            partition_by = self.listed(self.expression)
        order_by: tuple[SortItem, ...] = self.order_by() if self.at("ORDER") else ()
        measures: tuple[tuple[Expression, str], ...] = ()
        if self.accept("MEASURES"):
            measures = self.listed(self._measure)
        all_rows = self._rows_per_match()
        after, target = self._after_match()
        self.expect("PATTERN", "(")
        anchors = self._anchor("^")
        pattern = self._alternatives()
        anchors += self._anchor("$")
        self.expect(")")
        within: Expression | None = None
        if self.accept("WITHIN"):
            if not self.at("INTERVAL"):
                raise self.unexpected()
            within = self._interval()
        subset: Span | None = None
        if self.at("SUBSET"):
            subset = self._subset()
        self.expect("DEFINE")
        define = self.listed(self._definition_of_variable)
        self.expect(")")
        self._matching = outer
        return MatchRecognize(
            relation, partition_by, order_by, measures, all_rows, after, target, pattern, anchors,
            within, subset, define, span=self.since(first),
        )  # fmt: skip

    def _prefix(self) -> Expression:
        if not self._matching or not self.at_any("FINAL", "RUNNING"):
            return super()._prefix()
        if self.peek().kind not in {Kind.WORD, Kind.QUOTED}:
            return super()._prefix()
        first = self.next()
        operand = super()._prefix()
        return Call(first.upper, (operand,), span=self.since(first.span))

    def _measure(self) -> tuple[Expression, str]:
        expression = self.expression()
        self.expect("AS")
        return expression, self.name()

    def _rows_per_match(self) -> bool:
        """Read how many rows a match gives, and return whether it is all of them."""
        if self.accept("ONE"):
            self.expect("ROW", "PER", "MATCH")
            return False
        if not self.accept("ALL"):
            return False
        self.expect("ROWS", "PER", "MATCH")
        if self.accept_any("SHOW", "OMIT"):
            self.expect("EMPTY", "MATCHES")
        elif self.accept("WITH"):
            self.expect("UNMATCHED", "ROWS")
        return True

    def _after_match(self) -> tuple[After, Variable | None]:
        if not self.accept("AFTER"):
            return After.TO_NEXT_ROW, None
        self.expect("MATCH", "SKIP")
        for plain in (After.PAST_LAST_ROW, After.TO_NEXT_ROW):
            if self.accept(*plain.value.split()):
                return plain, None
        self.expect("TO")
        # FIRST and LAST may be names of variables, too.
        if self.at_any("FIRST", "LAST") and self.peek().upper != "PATTERN":
            return After(f"TO {self.next().upper}"), self._variable()
        return After.TO_LAST, self._variable()

    def _anchor(self, sign: str) -> tuple[Span, ...]:
        return (self.next().span,) if self.at(sign) else ()

    def _subset(self) -> Span:
        first = self.next()
        while True:
            self.name()
            self.expect("=")
            self.in_parentheses(self.name)
            if not self.accept(","):
                return self.since(first.span)

    def _definition_of_variable(self) -> tuple[Variable, Expression]:
        first = self.token
        variable = self.name()
        self.expect("AS")
        condition = self.expression()
        return Variable(variable, span=self.since(first.span)), condition

    # -- patterns --------------------------------------------------------------------------------

    def _alternatives(self) -> Pattern:
        first = self.token
        left = self._sequence()
        while self.accept("|"):
            right = self._sequence()
            left = Chosen(Choice.ALTERNATION, (left, right), span=self.since(first.span))
        return left

    def _sequence(self) -> Pattern:
        first = self.token
        left = self._quantified_pattern()
        while self.at_name() or self.at_any("(", "{", "PERMUTE"):
            right = self._quantified_pattern()
            left = Sequence(left, right, span=self.since(first.span))
        return left

    def _quantified_pattern(self) -> Pattern:
        first = self.token
        operand = self._part()
        sign = self.accept_any(*_BOUNDS)
        least: int | None
        most: int | None
        if sign is not None:
            least, most = _BOUNDS[sign]
        elif self.at("{") and not self.at("{", "-"):
            least, most = self._bounds()
        else:
            return operand
        reluctant = self.accept("?")
        return Quantified(operand, least, most, reluctant, span=self.since(first.span))

    def _bounds(self) -> tuple[int | None, int | None]:
        self.expect("{")
        if self.accept(","):
            most = self.integer()
            self.expect("}")
            return None, most
        least = self.integer()
        if self.accept("}"):
            return least, least
        self.expect(",")
        if self.accept("}"):
            return least, None
        most = self.integer()
        self.expect("}")
        return least, most

    def _part(self) -> Pattern:
        first = self.token
        if self.accept("("):
            inner = self._alternatives()
            self.expect(")")
            return inner
        if self.accept("{", "-"):
            inner = self._alternatives()
            self.expect("-", "}")
            return Chosen(Choice.EXCLUSION, (inner,), span=self.since(first.span))
        if self.accept("PERMUTE"):
            operands = self.in_parentheses(self._alternatives)
            return Chosen(Choice.PERMUTATION, operands, span=self.since(first.span))
        return self._variable()

    def _variable(self) -> Variable:
        first = self.token
        return Variable(self.name(), span=first.span)


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
