"""Reads the functions of JSON, which have keywords among their arguments."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.parser.types import TypeParser
from pyflink_on_spark._sql.syntax.expressions import (
    AggregateCall,
    Call,
    Expression,
    SortItem,
    json_item,
)


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
        behaviours = {"EMPTY": "NULL", "ERROR": "NULL"}
        while not self.at(")"):
            word = self.accept_any("NULL", "ERROR", "DEFAULT")
            if word is None:
                raise self.unexpected()
            if word == "DEFAULT":
                operands.append(self.expression())
            self.expect("ON")
            event = self.accept_any("EMPTY", "ERROR")
            if event is None:
                raise self.unexpected()
            behaviours[event] = word
        self.expect(")")
        symbols = (returned, behaviours["EMPTY"], behaviours["ERROR"])
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
        self.expect(")")
        return Call(name, (text, path), symbols=(wrapper,), span=self.since(first))

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
