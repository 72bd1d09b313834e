"""Parses expressions."""

from __future__ import annotations

from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.parser import literals
from pyflink_on_spark._sql.parser.cursor import Kind
from pyflink_on_spark._sql.parser.function_calls import FunctionCallParser
from pyflink_on_spark._sql.parser.keywords import (
    ALSO_COLUMNS,
    ALSO_FUNCTIONS,
    RESERVED,
    WITHOUT_PARENTHESES,
)
from pyflink_on_spark._sql.syntax.expressions import (
    AggregateCall,
    Call,
    Case,
    Cast,
    Expression,
    Literal,
    Name,
    Quantifier,
    Star,
    Subquery,
)
from pyflink_on_spark._sql.syntax.queries import Aliased, DerivedTable, Query, Select
from pyflink_on_spark._sql.types import logical

_OR, _AND, _NOT, _IS, _COMPARED, _RANGED, _PLUS, _TIMES, _SIGN = 22, 24, 26, 28, 30, 32, 40, 60, 80
_BINARY = {
    "OR": _OR,
    "AND": _AND,
    "OVERLAPS": _IS,
    "=": _COMPARED,
    "<>": _COMPARED,
    "!=": _COMPARED,
    "<": _COMPARED,
    ">": _COMPARED,
    "<=": _COMPARED,
    ">=": _COMPARED,
    "+": _PLUS,
    "-": _PLUS,
    "*": _TIMES,
    "/": _TIMES,
    "%": _TIMES,
    "||": _TIMES,
}
_NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})
_POSTFIX = {"IS": _IS, "NOT": _RANGED, "BETWEEN": _RANGED, "IN": _RANGED, "LIKE": _RANGED,
            "SIMILAR": _RANGED}  # fmt: skip
_IS_TESTS = ("NULL", "TRUE", "FALSE", "UNKNOWN")


class ExpressionParser(FunctionCallParser):
    """Reads expressions; an operator binds as in Flink's parser."""

    def query(self) -> Query:
        """Read a query."""
        raise NotImplementedError

    def expression(self, binding: int = 0) -> Expression:
        """Read an expression.

        Args:
            binding: how strongly an operator has to bind to belong to it.
        """
        left = self._prefix()
        while True:
            word = self.token.upper
            power = _BINARY.get(word)
            if power is not None:
                if power <= binding:
                    return left
                left = self._binary(left, word, power)
            elif (power := _POSTFIX.get(word)) is not None and power > binding:
                if word == "NOT" and self.peek().upper not in {"BETWEEN", "IN", "LIKE", "SIMILAR"}:
                    return left
                left = self._postfix(left)
            else:
                return left

    def _binary(self, left: Expression, word: str, power: int) -> Expression:
        self.next()
        if word in {"=", "<>", "<", ">", "<=", ">="} and self.at_any("ANY", "SOME", "ALL"):
            return self._quantified(left, word)
        right = self.expression(power)
        if word == "OVERLAPS":
            return self._overlaps(left, right)
        return Call("<>" if word == "!=" else word, (left, right), span=_around(left, right))

    def _overlaps(self, left: Expression, right: Expression) -> Expression:
        span = _around(left, right)
        args: list[Expression] = []
        for period in (left, right):
            whole = isinstance(period, Call) and period.name == "ROW" and len(period.args) == 2
            if not isinstance(period, Call) or not whole:
                raise invalid(
                    "Cannot apply 'OVERLAPS': each operand has to be a period, as (start, end). "
                    "Supported form(s): '<DATETIME> OVERLAPS <DATETIME>'",
                    span,
                )
            args += period.args
        return Call("OVERLAPS", tuple(args), span=span)

    def _prefix(self) -> Expression:
        token = self.token
        if token.upper in {"+", "-"}:
            self.next()
            if token.upper == "-" and self.token.kind in _NUMBERS:
                literals.number(self.token, "-", token.span)
            operand = self.expression(_SIGN)
            span = self.since(token.span)
            if token.upper == "-" and isinstance(operand, Literal) and _is_number(operand):
                return self._negative(operand, span)
            return Call(f"UNARY {token.upper}", (operand,), span=span)
        if token.upper == "NOT":
            self.next()
            operand = self.expression(_NOT)
            return Call("NOT", (operand,), span=self.since(token.span))
        return self._access(self._primary())

    @staticmethod
    def _negative(operand: Literal, span: Span) -> Expression:
        kind = operand.type
        if kind.root is logical.Root.BIGINT and operand.value == 2**31:
            kind = logical.INT.with_nullable(False)
        if kind.root is logical.Root.DECIMAL and kind.scale == 0 and operand.value == 2**63:
            kind = logical.BIGINT.with_nullable(False)
        return Literal(-operand.value, kind, span=span)

    def _access(self, operand: Expression) -> Expression:
        while True:
            if self.accept("["):
                index = self.expression()
                self.expect("]")
                operand = Call("ITEM", (operand, index), span=self._from(operand))
            elif self.at(".") and not isinstance(operand, Star):
                self.next()
                field = self.token
                name = self.name()
                operand = Call("DOT", (operand, Literal(name, logical.SYMBOL, span=field.span)),
                               span=self._from(operand))  # fmt: skip
            else:
                return operand

    def _from(self, operand: Expression) -> Span | None:
        return None if operand.span is None else self.since(operand.span)

    def _postfix(self, left: Expression) -> Expression:
        if self.accept("IS"):
            return self._is(left)
        negated = "NOT " if self.accept("NOT") else ""
        word = self.next().upper
        if word == "BETWEEN":
            symmetric = self.accept_any("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"
            lower = self.expression(_RANGED)
            self.expect("AND")
            upper = self.expression(_RANGED)
            symbols = ("SYMMETRIC",) if symmetric else ()
            operands = (left, lower, upper)
            return Call(f"{negated}BETWEEN", operands, symbols=symbols, span=self._from(left))
        if word == "IN":
            return self._in(left, negated)
        if word == "SIMILAR":
            self.expect("TO")
            word = "SIMILAR TO"
        pattern = [self.expression(_RANGED)]
        if self.accept("ESCAPE"):
            pattern.append(self.expression(_RANGED))
        return Call(f"{negated}{word}", (left, *pattern), span=self._from(left))

    def _is(self, left: Expression) -> Expression:
        negated = "NOT " if self.accept("NOT") else ""
        if self.accept("DISTINCT", "FROM"):
            right = self.expression(_IS)
            return Call(f"IS {negated}DISTINCT FROM", (left, right), span=self._from(left))
        if self.accept("JSON"):
            kind = self.accept_any("VALUE", "OBJECT", "ARRAY", "SCALAR") or "VALUE"
            return Call(f"IS {negated}JSON", (left,), symbols=(kind,), span=self._from(left))
        word = self.accept_any(*_IS_TESTS)
        if word is None:
            raise self.unexpected()
        return Call(f"IS {negated}{word}", (left,), span=self._from(left))

    def _quantified(self, left: Expression, operator: str) -> Expression:
        """Read the rest of ``x > ALL (query)`` or ``x = SOME (query)``."""
        every = self.next().upper == "ALL"
        self.expect("(")
        query = self.query()
        self.expect(")")
        return quantified(left, operator, query, every=every, span=self._from(left))

    def _in(self, left: Expression, negated: str) -> Expression:
        self.expect("(")
        if self._at_query():
            query = self.query()
            self.expect(")")
            quantifier = Quantifier.NOT_IN if negated else Quantifier.IN
            return Subquery(query, quantifier, _row_items(left), span=self._from(left))
        items = self.listed(self.expression)
        self.expect(")")
        return Call(f"{negated}IN", (left, *items), span=self._from(left))

    def _at_query(self) -> bool:
        """True if a query begins here, possibly in parentheses."""
        distance = 0
        while self.peek(distance).upper == "(":
            distance += 1
        return self.peek(distance).upper in {"SELECT", "VALUES", "WITH"}

    def _primary(self) -> Expression:
        token = self.token
        if token.kind in _NUMBERS:
            return literals.number(self.next())
        if token.kind is Kind.STRING:
            self.next()
            if self.at("UESCAPE"):
                raise literals.wrong_literal(
                    "UESCAPE cannot be specified without Unicode literal introducer"
                )
            return literals.string(token.text, token.span)
        if token.kind is Kind.BYTES:
            return literals.byte_string(self.next())
        if token.kind is Kind.UNICODE:
            return self._unicode()
        if token.upper == "(":
            return self._parenthesized()
        if token.upper == "*":
            self.next()
            return Star(span=token.span)
        if token.kind is Kind.QUOTED:
            return self._path_or_call()
        if token.kind is Kind.WORD:
            return self._word(token.upper)
        raise self.unexpected()

    def _unicode(self) -> Expression:
        token = self.next()
        escape = self.string() if self.accept("UESCAPE") else "\\"
        return literals.unicode_string(token.text, escape, self.since(token.span))

    def _word(self, word: str) -> Expression:
        token = self.token
        constant = _CONSTANTS.get(word)
        if constant is not None:
            self.next()
            return Literal(*constant, span=token.span)
        if word in {"DATE", "TIME", "TIMESTAMP"} and self.peek().kind is Kind.STRING:
            self.next()
            return literals.temporal(word, self.string(), self.since(token.span))
        read = {
            "INTERVAL": self._interval,
            "CASE": self._case,
            "CAST": self._cast,
            "TRY_CAST": self._cast,
            "EXISTS": self._exists,
            "ARRAY": self._collection,
            "MAP": self._collection,
            "MULTISET": self._collection,
        }.get(word)
        if read is not None and (word in {"CASE", "INTERVAL"} or self.peek().upper in {"(", "["}):
            return read()
        if word == "PERIOD" and self.peek().upper == "(":
            self.next()
            return self._parenthesized()
        if word in WITHOUT_PARENTHESES and self.peek().upper != "(":
            self.next()
            return Call(word, span=token.span)
        if word in ALSO_COLUMNS and self.peek().upper != "(":
            self.next()
            return Name((token.text,), (token.span,), span=token.span)
        if word in RESERVED and (word not in ALSO_FUNCTIONS or self.peek().upper != "("):
            raise self.unexpected()
        return self._path_or_call()

    def _path_or_call(self) -> Expression:
        first = self.token
        parts, spans = [first.text], [first.span]
        self.next()
        while self.at("."):
            if self.peek().upper == "*":
                self.next()
                self.next()
                return Star(tuple(parts), span=self.since(first.span))
            self.next()
            spans.append(self.token.span)
            follows = self.peek().upper == "("
            parts.append(self.next().text if follows and self._callable() else self.name())
        if self.at("(") and (
            first.kind is Kind.WORD or len(parts) > 1 or first.kind is Kind.QUOTED
        ):
            return self.function_call(".".join(parts), first.span)
        return Name(tuple(parts), tuple(spans), span=self.since(first.span))

    def _callable(self) -> bool:
        word = self.token.upper
        return self.token.kind is Kind.WORD and (word not in RESERVED or word in ALSO_FUNCTIONS)

    def _parenthesized(self) -> Expression:
        first = self.next()
        if self._at_query():
            query = self.query()
            self.expect(")")
            return Subquery(query, Quantifier.SCALAR, span=self.since(first.span))
        items = self.listed(self.expression)
        self.expect(")")
        if len(items) > 1:
            return Call("ROW", items, span=self.since(first.span))
        item = items[0]
        if isinstance(item, Call) and item.name == "-" and literals.unit_of(self.token.upper):
            unit = self._unit()
            if self.accept("TO"):
                self._unit()
            return Call("MINUS_DATE", item.args, symbols=(unit,), span=self.since(first.span))
        return item

    def _exists(self) -> Expression:
        first = self.next()
        self.expect("(")
        query = self.query()
        self.expect(")")
        return Subquery(query, Quantifier.EXISTS, span=self.since(first.span))

    def _collection(self) -> Expression:
        first = self.next()
        if not self.accept("["):
            return self.function_call(first.upper, first.span)
        items = () if self.at("]") else self.listed(self.expression)
        self.expect("]")
        return Call(first.upper, items, span=self.since(first.span))

    def _interval(self) -> Expression:
        first = self.next()
        sign = "-" if self.accept_any("+", "-") == "-" else ""
        text = self.string()
        unit = self._unit()
        to = self._unit() if self.accept("TO") else None
        return literals.interval(sign + text, unit, to, self.since(first.span))

    def _unit(self) -> str:
        unit = literals.unit_of(self.token.upper)
        if unit is None:
            raise self.unexpected()
        self.next()
        if self.at("("):
            self.in_parentheses(self.integer)
        return unit

    def _cast(self) -> Expression:
        first = self.next()
        self.expect("(")
        operand = self.expression()
        self.expect("AS")
        target = self.interval_type() if self.accept("INTERVAL") else self.type()
        self.expect(")")
        return Cast(operand, target, first.upper == "TRY_CAST", span=self.since(first.span))

    def _case(self) -> Expression:
        first = self.next()
        operand = None if self.at("WHEN") else self.expression()
        branches: list[tuple[Expression, Expression]] = []
        while self.accept("WHEN"):
            condition = self.expression()
            self.expect("THEN")
            branches.append((condition, self.expression()))
        if not branches:
            raise self.unexpected()
        otherwise = self.expression() if self.accept("ELSE") else None
        self.expect("END")
        return Case(tuple(branches), otherwise, operand, span=self.since(first.span))


_CONSTANTS = {
    "TRUE": (True, logical.BOOLEAN.with_nullable(False)),
    "FALSE": (False, logical.BOOLEAN.with_nullable(False)),
    "UNKNOWN": (None, logical.BOOLEAN),
    "NULL": (None, logical.NULL),
}


def _is_number(literal: Literal) -> bool:
    return literal.type.root in logical.NUMERIC


def _row_items(left: Expression) -> tuple[Expression, ...]:
    return left.args if isinstance(left, Call) and left.name == "ROW" else (left,)


def _around(left: Expression, right: Expression) -> Span | None:
    return None if left.span is None or right.span is None else left.span.to(right.span)


_VALUE = "$value"


def quantified(
    left: Expression, operator: str, query: Query, *, every: bool, span: Span | None
) -> Expression:
    """Return the meaning of a comparison with a query.

    Args:
        left: what is compared.
        operator: how.
        query: the query.
        every: whether all of its values count, or some.
        span: where the comparison is.
    """
    if operator == "=" and not every:
        return Subquery(query, Quantifier.IN, (left,), span=span)
    if operator == "<>" and every:
        return Subquery(query, Quantifier.NOT_IN, (left,), span=span)
    largest, smallest = (_of(query, Call(name, (Name((_VALUE,)),))) for name in ("MAX", "MIN"))
    rows = _of(query, AggregateCall(Call("COUNT", ()), star=True))
    known = _of(query, Call("COUNT", (Name((_VALUE,)),)))
    if operator in {"=", "<>"}:
        both = tuple(Call(operator, (left, each), span=span) for each in (smallest, largest))
        holds = Call("AND" if every else "OR", both, span=span)
    else:
        extreme = largest if (operator in {">", ">="}) is every else smallest
        holds = Call(operator, (left, extreme), span=span)
    decided: Expression = Call("NOT", (holds,)) if every else holds
    boolean = logical.BOOLEAN
    zero = Literal(0, logical.BIGINT.with_nullable(False))
    return Case(
        (
            (Call("=", (rows, zero)), Literal(every, boolean.with_nullable(False))),
            (decided, Literal(not every, boolean.with_nullable(False))),
            (Call("<", (known, rows)), Literal(None, boolean)),
        ),
        holds,
        span=span,
    )


def _of(query: Query, item: Expression) -> Subquery:
    table = Aliased(DerivedTable(query), "$query", (_VALUE,))
    return Subquery(Select((item,), from_=(table,)), Quantifier.SCALAR)
