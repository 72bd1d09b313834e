"""Parses MATCH_RECOGNIZE."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.parser.cursor import Kind
from pyflink_on_spark._sql.parser.expressions import ExpressionParser
from pyflink_on_spark._sql.syntax.expressions import Call, Expression, SortItem
from pyflink_on_spark._sql.syntax.match_recognize import (
    After,
    Choice,
    Chosen,
    MatchRecognize,
    Pattern,
    Quantified,
    Sequence,
    Variable,
)
from pyflink_on_spark._sql.syntax.queries import Relation

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
