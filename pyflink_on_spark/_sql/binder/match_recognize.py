"""MATCH_RECOGNIZE becomes a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import aggregate_invocation, is_aggregate
from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    ScopeTable,
    calcite_name,
    invoke,
)
from pyflink_on_spark._sql.errors import AssertionFailedError, TableError, invalid
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed, rewrite, walk
from pyflink_on_spark._sql.plan.match import (
    ALL_ROWS,
    Match,
    MatchedAggregate,
    MatchedField,
    MatchTime,
    PatternVariable,
    RowPattern,
    Skip,
)
from pyflink_on_spark._sql.plan.nodes import Node, Schema, SortKey
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax import queries as written
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root, Time

_SKIPS = {
    written.After.PAST_LAST_ROW: Skip.PAST_LAST_ROW,
    written.After.TO_NEXT_ROW: Skip.TO_NEXT_ROW,
    written.After.TO_FIRST: Skip.TO_FIRST,
    written.After.TO_LAST: Skip.TO_LAST,
}
_REFUSED = {
    written.Choice.ALTERNATION: "Currently, CEP doesn't support branching patterns.",
    written.Choice.PERMUTATION: "Currently, CEP doesn't support PERMUTE patterns.",
    written.Choice.EXCLUSION: "Currently, CEP doesn't support '{-' '-}' patterns.",
}
_POINTS = frozenset({Root.TIMESTAMP, Root.TIMESTAMP_LTZ})
_PYTHON = "Python Function can not be used in MATCH_RECOGNIZE for now."


class MatchBinder(ExpressionBinder):
    """Resolves the expressions of DEFINE and MEASURES.

    Args:
        schema: the columns of the rows.
        taken: how many rows each variable has taken at least.
        functions: the functions that there are.
        clause: ``DEFINE`` or ``MEASURE``.
    """

    def __init__(
        self, schema: Schema, taken: Mapping[str, int], functions: Functions, clause: str
    ) -> None:
        width = len(schema)
        tables = [ScopeTable(None, schema, 0)]
        for number, name in enumerate(taken, 1):
            tables.append(ScopeTable(name, schema, number * width, hidden=frozenset(schema.names)))
        super().__init__(Scope(tuple(tables)), functions)
        self._schema, self._clause = schema, clause
        self._variables = (ALL_ROWS, *taken)
        # Of a condition, the row that a variable may take is one of all rows.
        every = 1 if clause == "DEFINE" else max(1, sum(taken.values()))
        self._taken = {ALL_ROWS: every, **taken}
        self._first, self._distance, self._inside = False, 0, False
        self._columns = 0
        self._cases[syntax.Name] = self._name
        self._cases[syntax.AggregateCall] = self._aggregated
        self._cases[syntax.Star] = self._star

    def _star(self, node: syntax.Star) -> Typed:
        raise invalid("Unknown field '*'", node.span)

    def _name(self, name: syntax.Name) -> Typed:
        self._columns += 1
        return rewrite(self.scope.resolve(name), self._field)

    def _field(self, part: Typed) -> Typed | None:
        if not isinstance(part, InputRef):
            return None
        number, column = divmod(part.index, len(self._schema))
        kind = part.type
        if kind.time is Time.PROCTIME:
            return _clock()
        if self._taken[self._variables[number]] <= self._distance:
            kind = kind.with_nullable(True)
        return MatchedField(
            kind, self._variables[number], column, self._first, self._distance,
            self._schema.names[column],
        )  # fmt: skip

    def _call(self, node: syntax.Call) -> Typed:
        name = node.name.upper()
        if name in {"FIRST", "LAST"}:
            return self._navigation(node, name)
        if name in {"PREV", "NEXT"}:
            return self._physical(node, name)
        if name in {"FINAL", "RUNNING"}:
            return self._semantics(node, name)
        if name == "CLASSIFIER":
            raise TableError("Unsupported call: CLASSIFIER(). Flink has no such function.")
        if name in {"MATCH_ROWTIME", "MATCH_PROCTIME"}:
            return self._time(node, name)
        if is_aggregate(node, self._functions):
            return self._aggregated(node)
        function = self.function(node)
        if function is not None and function is not builtin_functions().find(node.name):
            raise TableError(_PYTHON)
        return super()._call(node)

    def _navigation(self, node: syntax.Call, name: str) -> Typed:
        """Return the expression of FIRST or LAST, evaluated on the row that it navigates to."""
        if self._inside:
            raise invalid(f"Cannot nest PREV/NEXT under LAST/FIRST '{_text(node)}'", node.span)
        if not 1 <= len(node.args) <= 2:
            raise invalid(f"Invalid number of arguments to function '{name}'", node.span)
        distance = 0
        if len(node.args) == 2:
            distance = _distance(node.args[1], name)
        self._first, self._distance, self._inside = name == "FIRST", distance, True
        try:
            found = self.bind(node.args[0])
        finally:
            self._first, self._distance, self._inside = False, 0, False
        _variable_of([found], node)
        return found

    def _physical(self, node: syntax.Call, name: str) -> Typed:
        """Return the row itself for PREV and NEXT with no distance; Flink has no others."""
        if self._clause == "MEASURE":
            raise invalid(f"Cannot use PREV/NEXT in MEASURE '{_text(node)}'", node.span)
        if not 1 <= len(node.args) <= 2:
            raise invalid(f"Invalid number of arguments to function '{name}'", node.span)
        if len(node.args) == 1 or _distance(node.args[1], name):
            raise TableError(
                "Flink does not support physical offsets within partition. LAST(variable.column, "
                "1) is the row before the last one that a variable has taken."
            )
        return self.bind(node.args[0])

    def _semantics(self, node: syntax.Call, name: str) -> Typed:
        if self._clause == "DEFINE":
            raise invalid(f"Cannot use RUNNING/FINAL in DEFINE '{_text(node)}'", node.span)
        found = self.bind(node.args[0])
        if name == "RUNNING":
            raise TableError(f"Unsupported call: RUNNING({calcite_name(found.type)})")
        return found

    def _time(self, node: syntax.Call, name: str) -> Typed:
        if name == "MATCH_PROCTIME":
            if node.args:
                raise invalid(f"Invalid number of arguments to function '{name}'", node.span)
            return _clock()
        if not node.args:
            kind = replace(logical.timestamp(3), nullable=False, time=Time.ROWTIME)
            return MatchTime(kind)
        given = self.bind(node.args[0])
        if len(node.args) > 1 or given.type.time is not Time.ROWTIME:
            raise invalid(
                "The function MATCH_ROWTIME requires argument to be a row time attribute type, "
                f"but is '{calcite_name(given.type)}'.",
                node.span,
            )
        return MatchTime(given.type)

    def _aggregated(self, node: Any) -> Typed:
        """Return an aggregate function of the rows of one variable."""
        call = node.call if isinstance(node, syntax.AggregateCall) else node
        if isinstance(node, syntax.AggregateCall):
            if node.distinct:
                raise invalid(f"DISTINCT/ALL not allowed with {_text(node)} function", node.span)
            if node.filter is not None:
                raise TableError(f"Unsupported call: FILTER, in {_text(node)}")
        if self._inside:
            raise invalid(f"Cannot use aggregation in navigation '{_text(node)}'", node.span)
        function = self.function(call)
        if function is not None and function is not builtin_functions().find(call.name):
            raise TableError(_PYTHON)
        before = self._columns
        found = aggregate_invocation(node, self, self._functions)
        if found.args and self._columns == before:
            raise _without_columns(call.name.upper(), node)
        variable = _variable_of(found.args, node)
        for part in _fields(found.args):
            if part.first or part.distance:
                raise invalid(f"Cannot nest FIRST/LAST under '{_text(node)}'", node.span)
        if any(isinstance(part, MatchedAggregate) for arg in found.args for part in walk(arg)):
            raise invalid("Aggregate expressions cannot be nested", node.span)
        args = tuple(rewrite(arg, _column_of_row) for arg in found.args)
        shown = ", ".join(map(str, found.args))
        text = f"{found.function.name}({shown})"
        return MatchedAggregate(found.type, variable, replace(found, args=args), text)


def _without_columns(name: str, node: Any) -> Exception:
    if name == "COUNT":
        return TableError("No pattern variable specified in aggregate")
    return invalid(f"Null parameters in '{_text(node)}'", node.span)


def _clock() -> Typed:
    """Return the time of the clock, which is what a processing-time attribute is of any row."""
    return invoke(builtin_functions()["PROCTIME"], [])


def _fields(expressions: Sequence[Typed]) -> Iterator[MatchedField]:
    for each in expressions:
        for part in walk(each):
            if isinstance(part, MatchedField):
                yield part


def _variable_of(expressions: Sequence[Typed], node: syntax.Expression) -> str:
    """Return the only variable that expressions use; all rows if they use none."""
    used = {part.variable for part in _fields(expressions)}
    if len(used) > 1:
        raise invalid(f"Multiple pattern variables in '{_text(node)}'", node.span)
    return used.pop() if used else ALL_ROWS


def _column_of_row(part: Typed) -> Typed | None:
    return InputRef(part.type, part.column) if isinstance(part, MatchedField) else None


def _distance(node: syntax.Expression, name: str) -> int:
    if isinstance(node, syntax.Literal) and type(node.value) is int and node.value >= 0:
        return node.value
    raise invalid(f"The second argument of {name} has to be a number that is not negative",
                  node.span)  # fmt: skip


def _text(node: Any) -> str:
    return str(node.span) if node.span is not None else type(node).__name__


# -- the pattern ---------------------------------------------------------------------------------


def _names(pattern: written.Pattern) -> Iterator[str]:
    """Yield the variables of a pattern."""
    if isinstance(pattern, written.Variable):
        yield pattern.name
    elif isinstance(pattern, written.Sequence):
        yield from _names(pattern.first)
        yield from _names(pattern.then)
    elif isinstance(pattern, written.Quantified):
        yield from _names(pattern.operand)
    elif isinstance(pattern, written.Chosen):
        for operand in pattern.operands:
            yield from _names(operand)


def _least(pattern: written.Pattern) -> dict[str, int]:
    """Return how many rows each variable takes at least, for those that say it by themselves."""
    if isinstance(pattern, written.Variable):
        return {pattern.name: 1}
    if isinstance(pattern, written.Sequence):
        return _least(pattern.first) | _least(pattern.then)
    if isinstance(pattern, written.Quantified) and isinstance(pattern.operand, written.Variable):
        return {pattern.operand.name: pattern.least or 0}
    return {}


def _variables(pattern: written.Pattern, found: list[PatternVariable]) -> None:
    """Add the variables of a pattern to a list.

    Raises:
        TableError: it is one that Flink does not carry out.
    """
    if isinstance(pattern, written.Sequence):
        _variables(pattern.first, found)
        _variables(pattern.then, found)
        return
    if isinstance(pattern, written.Chosen):
        raise TableError(f"Expression not supported: {pattern}. {_REFUSED[pattern.choice]}")
    operand, greedy = pattern, True
    if isinstance(pattern, written.Quantified):
        operand, greedy = pattern.operand, not pattern.reluctant
    if not isinstance(operand, written.Variable):
        raise TableError(
            f"Expression not supported: {operand} Group patterns are not supported yet."
        )
    if any(each.name == operand.name for each in found):
        raise TableError("Pattern variables must be unique. That might change in the future.")
    if not isinstance(pattern, written.Quantified):
        found.append(PatternVariable(operand.name))
        return
    least, most = _bounds(pattern)
    if (least, most) == (0, 1) and not greedy:
        raise TableError("Reluctant optional variables are not supported yet.")
    made = PatternVariable(operand.name, least, most, greedy)
    if _is_optional(pattern) and found and _takes_more(found[-1]):
        raise TableError("Optional pattern cannot be preceded by greedy pattern")
    found.append(made)


def _bounds(pattern: written.Quantified) -> tuple[int, int | None]:
    least, most = pattern.least, pattern.most
    if least is None:
        raise TableError("The from should be a positive number greater than 0.")
    first = max(least, 1)
    if most is not None and most < first:
        raise TableError(f"The to should be a number greater than or equal to from: {first}.")
    return least, most


def _is_optional(pattern: written.Quantified) -> bool:
    """True for a variable that Flink calls optional; ``{0,n}`` counts without the name."""
    return pattern.least == 0 and pattern.most in {None, 1}


def _takes_more(variable: PatternVariable) -> bool:
    return variable.greedy and variable.most != max(variable.least, 1)


def row_pattern(node: written.MatchRecognize) -> RowPattern:
    """Return the pattern of a MATCH_RECOGNIZE.

    Raises:
        TableError: it is one that Flink does not carry out.
        ValidationError: a name or the interval is wrong.
    """
    found: list[PatternVariable] = []
    _variables(node.pattern, found)
    if all(each.optional for each in found):
        raise TableError(
            "Patterns that can produce empty matches are not supported. There must be at least "
            "one non-optional state."
        )
    if _takes_more(found[-1]):
        raise TableError(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your "
            "pattern with either a simple variable or reluctant quantifier."
        )
    target = None
    if node.target is not None:
        target = [each.name for each in found].index(node.target.name)
    return RowPattern(tuple(found), _SKIPS[node.after], target, _within(node.within))


def _within(node: syntax.Expression | None) -> int:
    """Return how long a match may take, in ms; 0 for any time."""
    if node is None:
        return 0
    assert isinstance(node, syntax.Literal)
    if node.value < 0:
        raise invalid(f"Interval must be non-negative '{_text(node)}'", node.span)
    if node.type.root is not Root.INTERVAL_SECOND:
        raise TableError(
            "Only constant intervals with millisecond resolution are supported as time constraints "
            "of patterns."
        )
    millis: int = node.value // 1000
    return millis


# -- the whole -----------------------------------------------------------------------------------


def bind_match(
    node: written.MatchRecognize, source: Node, scope: Scope, functions: Functions, *, batch: bool
) -> Match:
    """Return the node of a MATCH_RECOGNIZE.

    Args:
        node: what was written.
        source: gives the rows.
        scope: their columns.
        functions: the functions that there are.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: a name or a type is wrong.
        TableError: Flink does not carry it out.
    """
    names = list(_names(node.pattern))
    _check_words(node, names)
    rows = ExpressionBinder(scope, functions)
    partition = tuple(_column(rows, item, "PARTITION BY").index for item in node.partition_by)
    keys = tuple(_sort_key(rows, item) for item in node.order_by)
    known = dict.fromkeys([*names, *(variable.name for variable, _ in node.define)], 0)
    schema = source.schema
    definitions = _definitions(node, MatchBinder(schema, known, functions, "DEFINE"))
    measuring = MatchBinder(schema, known | _least(node.pattern), functions, "MEASURE")
    measures = tuple(_measure(measuring.bind(each)) for each, _ in node.measures)
    made = [schema.names[index] for index in partition]
    _check_names(made, [name for _, name in node.measures])
    if node.all_rows:
        raise TableError("All rows per match mode is not supported yet.")
    _check_order(keys, batch)
    pattern = row_pattern(node)
    always = Constant(logical.BOOLEAN.with_nullable(False), True)
    types = (*(schema.types[index] for index in partition), *(each.type for each in measures))
    return Match(
        Schema((*made, *(name for _, name in node.measures)), types),
        source,
        partition,
        keys,
        pattern,
        tuple(definitions.get(each.name, always) for each in pattern.variables),
        measures,
    )


def _check_words(node: written.MatchRecognize, names: Sequence[str]) -> None:
    """Refuse what Flink reads without carrying it out, and variables that there are not."""
    if node.target is not None and node.target.name not in names:
        raise invalid(f"Unknown pattern '{node.target.name}'", node.target.span)
    if node.anchors:
        raise invalid("A pattern cannot be anchored: Flink does not carry out '^' and '$'",
                      node.anchors[0])  # fmt: skip
    if node.subset is not None:
        raise invalid("SUBSET cannot be used: Flink does not carry it out", node.subset)


def _definitions(node: written.MatchRecognize, binder: MatchBinder) -> dict[str, Typed]:
    found: dict[str, Typed] = {}
    for variable, condition in node.define:
        if variable.name in found:
            raise invalid(f"Pattern variable '{variable.name}' has already been defined",
                          variable.span)  # fmt: skip
        if isinstance(condition, syntax.Literal) and condition.type.root is Root.NULL:
            raise invalid("Illegal use of 'NULL'", condition.span)
        found[variable.name] = binder.condition(condition, "DEFINE")
    return found


def _measure(bound: Typed) -> Typed:
    """Return a measure whose type is no time attribute, unless it is the time of the match."""
    if bound.type.time is Time.ROWTIME and not isinstance(bound, MatchTime):
        return replace(bound, type=bound.type.plain())
    return bound


def _column(binder: ExpressionBinder, item: syntax.Expression, clause: str) -> InputRef:
    bound = binder.bind(item)
    if isinstance(bound, InputRef):
        return bound
    raise invalid(f"{clause} of MATCH_RECOGNIZE needs columns", item.span)


def _sort_key(binder: ExpressionBinder, item: syntax.SortItem) -> SortKey:
    if item.nulls_first is not None:
        raise AssertionFailedError(
            "MATCH_RECOGNIZE cannot be ordered with NULLS FIRST or NULLS LAST: neither can Flink's"
        )
    key = _column(binder, item.expression, "ORDER BY")
    return SortKey(key, item.ascending, item.ascending)


def _check_names(partition: Sequence[str], measures: Sequence[str]) -> None:
    every = [*partition, *measures]
    twice = [name for name in dict.fromkeys(every) if every.count(name) > 1]
    if twice or not measures:
        raise invalid(f"Columns ambiguously defined: {{{', '.join(twice)}}}", None)


def _check_order(keys: Sequence[SortKey], batch: bool) -> None:
    """Refuse an order that does not begin with time.

    Raises:
        TableError: it does not.
    """
    if batch:
        wanted = "time point"
        in_time: Callable[[LogicalType], bool] = lambda kind: kind.root in _POINTS  # noqa: E731
    else:
        wanted = "either rowtime or proctime"
        in_time = lambda kind: kind.time is not None  # noqa: E731
    if not keys:
        raise TableError(f"You must specify {wanted} for order by.")
    first = keys[0]
    if not in_time(first.value.type):
        raise TableError(f"You must specify {wanted} for order by as the first one.")
    if not first.ascending:
        table = "table" if batch else "streaming table"
        raise TableError(f"Primary sort order of a {table} must be ascending on time.")
