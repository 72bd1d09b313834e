"""Reads the functions of JSON, which have keywords among their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyflink_on_spark._sql.errors import Span, SqlParseError
from pyflink_on_spark._sql.parser.cursor import Kind, TypeParser
from pyflink_on_spark._sql.parser.literals import unit_of
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
    json_item,
)
from pyflink_on_spark._sql.syntax.queries import Select, TableReference

if TYPE_CHECKING:
    from pyflink_on_spark._sql.syntax.queries import Query


class JsonCallParser(TypeParser):
    """Reads the functions of JSON."""

    def expression(self, binding: int = 0) -> Expression:
        """Read an expression."""
        raise NotImplementedError

    def order_by(self) -> tuple[SortItem, ...]:
        """Read ORDER BY."""
        raise NotImplementedError

    def _within_group(self) -> tuple[SortItem, ...]:
        if not self.accept("WITHIN", "GROUP"):
            return ()
        return self.in_parentheses(self.order_by)[0]

    def _json_calls(self) -> dict[str, Callable[[str, Span], Expression]]:
        return {
            "JSON_VALUE": self._json_value,
            "JSON_QUERY": self._json_query,
            "JSON_EXISTS": self._json_exists,
            "JSON_OBJECT": self._json_object,
            "JSON_ARRAY": self._json_array,
            "JSON_OBJECTAGG": self._json_object_aggregate,
            "JSON_ARRAYAGG": self._json_array_aggregate,
        }

    def _json_value(self, name: str, first: Span) -> Expression:
        self.expect("(")
        operands = [self.expression()]
        self.expect(",")
        operands.append(self.expression())
        returned = self.next().upper if self.accept("RETURNING") else "STRING"

        def behaviour() -> str:
            word = self._one_of("NULL", "ERROR", "DEFAULT")
            if word == "DEFAULT":
                operands.append(self.expression())
            return word

        symbols = (returned, *self._behaviours(behaviour))
        return Call(name, tuple(operands), symbols=symbols, span=self.since(first))

    def _json_query(self, name: str, first: Span) -> Expression:
        self.expect("(")
        text = self.expression()
        self.expect(",")
        path = self.expression()
        wrapper = "WITHOUT"
        if self.accept("WITH"):
            word = self.accept_any("CONDITIONAL", "UNCONDITIONAL")
            wrapper = word or "UNCONDITIONAL"
            self.accept("ARRAY")
            self.expect("WRAPPER")
        elif self.accept("WITHOUT"):
            self.accept("ARRAY")
            self.expect("WRAPPER")

        def behaviour() -> str:
            word = self._one_of("NULL", "ERROR", "EMPTY")
            return f"EMPTY {self._one_of('ARRAY', 'OBJECT')}" if word == "EMPTY" else word

        symbols = (wrapper, *self._behaviours(behaviour))
        return Call(name, (text, path), symbols=symbols, span=self.since(first))

    def _behaviours(self, behaviour: Callable[[], str]) -> tuple[str, str]:
        """Read the behaviours ON EMPTY and ON ERROR, up to the closing parenthesis."""
        found = {"EMPTY": "NULL", "ERROR": "NULL"}
        while not self.at(")"):
            word = behaviour()
            self.expect("ON")
            found[self._one_of("EMPTY", "ERROR")] = word
        self.expect(")")
        return found["EMPTY"], found["ERROR"]

    def _one_of(self, *words: str) -> str:
        word = self.accept_any(*words)
        if word is None:
            raise self.unexpected()
        return word

    def _json_exists(self, name: str, first: Span) -> Expression:
        self.expect("(")
        text = self.expression()
        self.expect(",")
        path = self.expression()
        symbols: tuple[str, ...] = ()
        if not self.at(")"):
            symbols = (self._one_of("TRUE", "FALSE", "UNKNOWN", "ERROR"),)
            self.expect("ON", "ERROR")
        self.expect(")")
        return Call(name, (text, path), symbols=symbols, span=self.since(first))

    def _json_object(self, name: str, first: Span) -> Expression:
        self.expect("(")
        operands: list[Expression] = []
        while not self.at(")") and not self._at_null_clause():
            operands += [self._json_key(), self._json_item()]
            if not self.accept(","):
                break
        symbols = self._null_clause("NULL")
        self.expect(")")
        return Call(name, tuple(operands), symbols=symbols, span=self.since(first))

    def _json_array(self, name: str, first: Span) -> Expression:
        self.expect("(")
        operands: tuple[Expression, ...] = ()
        if not self.at(")") and not self._at_null_clause():
            operands = self.listed(self._json_item)
        symbols = self._null_clause("ABSENT")
        self.expect(")")
        return Call(name, operands, symbols=symbols, span=self.since(first))

    def _at_null_clause(self) -> bool:
        return self.at_any("NULL", "ABSENT") and self.peek().upper == "ON"

    def _null_clause(self, otherwise: str) -> tuple[str, ...]:
        if not self._at_null_clause():
            return (otherwise,)
        word = self.next().upper
        self.expect("ON", "NULL")
        return (word,)

    def _json_key(self) -> Expression:
        self.accept("KEY")
        key = self.expression()
        if not self.accept("VALUE"):
            self.expect(":")
        return key

    def _json_item(self) -> Expression:
        return json_item(self.expression())

    def _json_object_aggregate(self, name: str, first: Span) -> Expression:
        self.expect("(")
        key = self._json_key()
        return self._json_aggregate(name, first, (key, self._json_text()), "NULL")

    def _json_array_aggregate(self, name: str, first: Span) -> Expression:
        self.expect("(")
        args = (self._json_text(),)
        order_by = self.order_by() if self.at("ORDER") else ()
        call = self._json_aggregate(name, first, args, "ABSENT")
        order_by = self._within_group() or order_by
        if not order_by:
            return call
        return AggregateCall(call, order_by=order_by, span=self.since(first))

    def _json_text(self) -> Expression:
        value = self.expression()
        return Call("JSON_STRING", (value,), span=value.span)

    def _json_aggregate(
        self, name: str, first: Span, args: tuple[Expression, ...], otherwise: str
    ) -> Call:
        (word,) = self._null_clause(otherwise)
        self.expect(")")
        if self.at_any("FILTER", "OVER"):
            raise self.unexpected()
        return Call(f"{name.upper()}_{word}_ON_NULL", args, span=self.since(first))


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
