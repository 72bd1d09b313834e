"""Parses calls of functions, with the keywords that some have among their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyflink_on_spark._sql.errors import Span, SqlParseError
from pyflink_on_spark._sql.parser.json_calls import JsonCallParser
from pyflink_on_spark._sql.parser.literals import unit_of
from pyflink_on_spark._sql.parser.tokens import Kind
from pyflink_on_spark._sql.syntax.expressions import (
    AggregateCall,
    Call,
    Descriptor,
    Expression,
    FrameDistance,
    FrameEnd,
    Name,
    NamedArgument,
    OverCall,
    OverWindow,
    SortItem,
    TableArgument,
)
from pyflink_on_spark._sql.syntax.queries import Select, TableReference

if TYPE_CHECKING:
    from pyflink_on_spark._sql.syntax.queries import Query

_TIME_UNITS = frozenset(
    [
        "EPOCH",
        "MILLENNIUM",
        "CENTURY",
        "DECADE",
        "ISOYEAR",
        "DOW",
        "ISODOW",
        "DOY",
        "MILLISECOND",
        "MICROSECOND",
        "NANOSECOND",
    ]
)


class FunctionCallParser(JsonCallParser):
    """Reads what follows a function's name."""

    def query(self) -> Query:
        """Read a query."""
        raise NotImplementedError

    def function_call(self, name: str, first: Span) -> Expression:
        """Read a call; its opening parenthesis comes next.

        Args:
            name: the function.
            first: where its name is.
        """
        special = self._special().get(name.upper())
        if special is not None:
            return self._aggregate(special(name, first), first)
        self.expect("(")
        if self.accept("*"):
            self.expect(")")
            return self._aggregate(Call(name, span=self.since(first)), first, star=True)
        distinct = self.accept_any("DISTINCT", "ALL") == "DISTINCT"
        args = () if self.at(")") else self.listed(self._argument)
        order_by: tuple[SortItem, ...] = ()
        if self.at("ORDER"):
            if name.upper() != "ARRAY_AGG":
                raise SqlParseError("SQL parse failed. ORDER BY unexpected")
            order_by = self.order_by()
        self.expect(")")
        call = Call(name, args, span=self.since(first))
        return self._aggregate(call, first, distinct=distinct, order_by=order_by)

    def _argument(self) -> Expression:
        first = self.token
        if first.upper == "DESCRIPTOR" and self.peek().upper == "(":
            self.next()
            return Descriptor(self.in_parentheses(self._column), span=self.since(first.span))
        if first.upper == "TABLE" and self.peek().upper != "(":
            return self._table_argument()
        if self.peek().upper == "=>":
            name = self.name()
            self.expect("=>")
            value = self._argument()
            return NamedArgument(name, value, span=self.since(first.span))
        return self.expression()

    def _column(self) -> Name:
        token = self.token
        return Name((self.name(),), (token.span,), span=token.span)

    def _table_argument(self) -> Expression:
        first = self.next()
        path, span = self.path()
        source = Select((), from_=(TableReference(path, span=span),), span=span)
        return self._partitioned(source, first.span)

    def _partitioned(self, query: Query, first: Span) -> Expression:
        partition_by: tuple[Expression, ...] = ()
        if self.accept("PARTITION", "BY"):
            parenthesized = self.at("(")
            partition_by = (
                self.in_parentheses(self.expression)
                if parenthesized
                else self._columns_before_arguments()
            )
        order_by = self.order_by() if self.at("ORDER") else ()
        return TableArgument(query, partition_by, order_by, span=self.since(first))

    def _columns_before_arguments(self) -> tuple[Expression, ...]:
        """Read columns that a comma separates, up to the next argument of a table function."""
        found: list[Expression] = [self.expression()]
        while self.at(",") and self.peek().upper not in {"DESCRIPTOR", "INTERVAL"}:
            if self.peek(2).upper == "=>":
                break
            self.next()
            found.append(self.expression())
        return tuple(found)

    def order_by(self) -> tuple[SortItem, ...]:
        """Read ORDER BY."""
        self.expect("ORDER", "BY")
        return self.listed(self.sort_item)

    def sort_item(self) -> SortItem:
        """Read an item of ORDER BY."""
        expression = self.expression()
        ascending = self.accept_any("ASC", "DESC") != "DESC"
        nulls_first = None
        if self.accept("NULLS"):
            word = self.accept_any("FIRST", "LAST")
            if word is None:
                raise self.unexpected()
            nulls_first = word == "FIRST"
        return SortItem(expression, ascending, nulls_first)

    # -- what only aggregate functions have ------------------------------------------------------

    def _aggregate(
        self,
        call: Expression,
        first: Span,
        *,
        star: bool = False,
        distinct: bool = False,
        order_by: tuple[SortItem, ...] = (),
    ) -> Expression:
        if not isinstance(call, Call):
            return call
        nulls = None
        if self.at_any("IGNORE", "RESPECT") and self.peek().upper == "NULLS":
            nulls = self.next().upper
            self.next()
        order_by = self._within_group() or order_by
        condition = None
        if self.at("FILTER", "("):
            self.expect("FILTER", "(", "WHERE")
            condition = self.expression()
            self.expect(")")
        plain = not (star or distinct or order_by or nulls or condition)
        if plain and not self.at("OVER"):
            return call
        aggregate = AggregateCall(
            call, distinct, condition, order_by, star, nulls, span=self.since(first)
        )
        if not self.accept("OVER"):
            return aggregate
        window = self.over_window() if self.at("(") else self.name()
        return OverCall(aggregate, window, span=self.since(first))

    def over_window(self) -> OverWindow:
        """Read the window of OVER or WINDOW, with its parentheses."""
        self.expect("(")
        partition_by: tuple[Expression, ...] = ()
        if self.accept("PARTITION", "BY"):
            partition_by = self.listed(self.expression)
        order_by = self.order_by() if self.at("ORDER") else ()
        word = self.accept_any("ROWS", "RANGE")
        if word is None:
            self.expect(")")
            return OverWindow(partition_by, order_by)
        upper: FrameDistance | FrameEnd = FrameEnd.CURRENT_ROW
        if self.accept("BETWEEN"):
            lower = self._frame_end()
            self.expect("AND")
            upper = self._frame_end()
        else:
            lower = self._frame_end()
        self.expect(")")
        return OverWindow(partition_by, order_by, word == "ROWS", lower, upper, framed=True)

    def _frame_end(self) -> FrameDistance | FrameEnd:
        if self.accept("CURRENT", "ROW"):
            return FrameEnd.CURRENT_ROW
        if self.accept("UNBOUNDED", "PRECEDING"):
            return FrameEnd.UNBOUNDED_PRECEDING
        if self.accept("UNBOUNDED", "FOLLOWING"):
            return FrameEnd.UNBOUNDED_FOLLOWING
        distance = self.expression()
        following = self.accept("FOLLOWING")
        if not following:
            self.expect("PRECEDING")
        return FrameDistance(distance, bool(following), span=distance.span)

    # -- calls with keywords in them -------------------------------------------------------------

    def _special(self) -> dict[str, Callable[[str, Span], Expression]]:
        return {
            "EXTRACT": self._extract,
            "TRIM": self._trim,
            "SUBSTRING": self._substring,
            "POSITION": self._position,
            "OVERLAY": self._overlay,
            "FLOOR": self._to_unit,
            "CEIL": self._to_unit,
            "CEILING": self._to_unit,
            "TIMESTAMPADD": self._unit_first,
            "TIMESTAMPDIFF": self._unit_first,
            **self._json_calls(),
        }

    def _symbol(self) -> str:
        unit = unit_of(self.token.upper)
        if unit is None and self.token.upper in _TIME_UNITS:
            unit = self.token.upper
        if unit is None:
            raise self.unexpected()
        self.next()
        return unit

    def _extract(self, name: str, first: Span) -> Expression:
        self.expect("(")
        unit = self._symbol()
        self.expect("FROM")
        operand = self.expression()
        self.expect(")")
        return Call(name, (operand,), symbols=(unit,), span=self.since(first))

    def _trim(self, name: str, first: Span) -> Expression:
        self.expect("(")
        where = self.accept_any("BOTH", "LEADING", "TRAILING")
        operands: tuple[Expression, ...] = ()
        if where is None or not self.at("FROM"):
            operands = (self.expression(),)
        if self.accept("FROM"):
            operands = (self.expression(), *operands)
        elif where is not None:
            raise self.unexpected()
        self.expect(")")
        return Call(name, operands, symbols=(where or "BOTH",), span=self.since(first))

    def _substring(self, name: str, first: Span) -> Expression:
        self.expect("(")
        operands = [self.expression()]
        separators = ("FROM", "FOR") if self.at("FROM") else (",", ",")
        self.expect(separators[0])
        operands.append(self.expression())
        if self.accept(separators[1]):
            operands.append(self.expression())
        self.expect(")")
        return Call(name, tuple(operands), span=self.since(first))

    def _position(self, name: str, first: Span) -> Expression:
        self.expect("(")
        # What stands before IN must not take it for its own.
        needle = self.expression(binding=32)
        self.expect("IN")
        haystack = self.expression()
        self.expect(")")
        return Call(name, (needle, haystack), span=self.since(first))

    def _overlay(self, name: str, first: Span) -> Expression:
        self.expect("(")
        operands = [self.expression()]
        self.expect("PLACING")
        operands.append(self.expression())
        self.expect("FROM")
        operands.append(self.expression())
        if self.accept("FOR"):
            operands.append(self.expression())
        self.expect(")")
        return Call(name, tuple(operands), span=self.since(first))

    def _to_unit(self, name: str, first: Span) -> Expression:
        self.expect("(")
        operand = self.expression()
        symbols = (self._symbol(),) if self.accept("TO") else ()
        self.expect(")")
        return Call(name, (operand,), symbols=symbols, span=self.since(first))

    def _unit_first(self, name: str, first: Span) -> Expression:
        self.expect("(")
        unit = self._symbol()
        self.expect(",")
        operands = self.listed(self.expression)
        self.expect(")")
        return Call(name, operands, symbols=(unit,), span=self.since(first))

    # -- JSON ------------------------------------------------------------------------------------

    def hints(self) -> tuple[tuple[str, str], ...]:
        """Read the hint OPTIONS, if there is one."""
        if self.token.kind is not Kind.HINT:
            return ()
        inner = type(self)(self.token.text)
        if not inner.accept("OPTIONS"):
            raise self.unexpected()
        self.next()
        return inner.in_parentheses(inner.option)

    def option(self) -> tuple[str, str]:
        """Read ``'key' = 'value'``."""
        key = self.string()
        self.expect("=")
        return key, self.string()
