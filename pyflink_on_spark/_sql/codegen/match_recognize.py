"""The conditions and measures of a pattern become Python source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.aggregates import (
    AggregateCompiler,
    AggregatedRows,
    indented,
    joined_tuple,
)
from pyflink_on_spark._sql.codegen.program import Binding, Program
from pyflink_on_spark._sql.codegen.rows import ExpressionCompiler
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed, rewrite, walk
from pyflink_on_spark._sql.plan.match import (
    ALL_ROWS,
    Match,
    MatchedAggregate,
    MatchedField,
    MatchTime,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_ARGUMENTS = "rows, offset, ends, time"


class _Aggregated(Binding):
    """Computes the aggregate functions of some rows.

    Args:
        program: a function of a list of rows that returns a tuple.
    """

    def __init__(self, program: Program) -> None:
        self.program = program

    def load(self, context: OperatorContext | None) -> Any:
        """Return the function."""
        return self.program.load(context).function


class MatchCompiler:
    """Makes the functions of a pattern.

    Args:
        node: the logical node.
        time_zone: the session's, by name.
    """

    def __init__(self, node: Match, time_zone: str) -> None:
        self._node, self._time_zone = node, time_zone
        self._width = len(node.input.schema)
        self._numbers = {each.name: i for i, each in enumerate(node.pattern.variables)}
        self._compiler = ExpressionCompiler([], time_zone)

    def program(self) -> Program:
        """Return a program that gives the conditions of the variables, and the measure.

        Both are called with the arguments that ``runtime.row_pattern`` names.
        """
        names: list[str] = []
        lines: list[str] = []
        for variable, condition in zip(self._node.pattern.variables, self._node.definitions):
            names.append(f"condition_{len(names)}")
            function = _Function(self, variable.name)
            (made,) = function.over([condition])
            source = function.compiler.condition(made)
            lines += [
                f"def {names[-1]}(row, {_ARGUMENTS}):",
                *indented(function.before()),
                f"    return True if {source} else False",
            ]
        function = _Function(self, None)
        measures = function.over(self._node.measures)
        values = [f"rows[offset][{index}]" for index in self._node.partition]
        values += [function.compiler.value(each) for each in measures]
        lines += [
            f"def measure({_ARGUMENTS}):",
            *indented(function.before()),
            f"    return {joined_tuple(values)}",
            "def parts():",
            f"    return {joined_tuple(names)}, measure",
        ]
        return Program("\n".join(lines) + "\n", "parts", self._compiler.bindings)

    def bind_aggregates(self, calls: Sequence[MatchedAggregate]) -> str:
        """Make a function of rows known to the code, and return its name there."""
        rows = AggregatedRows(self._width, self._time_zone, retracting=False)
        compiler = AggregateCompiler([each.call for each in calls], rows, reserved=0)
        lines = [
            "def aggregated(rows):",
            f"    acc = [{', '.join(compiler.initial)}]",
            "    for row in rows:",
            *indented(compiler.changes(retract=False), 2),
            f"    return {joined_tuple(compiler.values())}",
        ]
        program = Program("\n".join(lines) + "\n", "aggregated", compiler.bindings)
        return self._compiler.bind(_Aggregated(program), "aggregated")

    def number(self, variable: str) -> int | None:
        """Return the place of a variable in the pattern, or None if it is not there."""
        return self._numbers.get(variable)

    def over(self, columns: list[str]) -> ExpressionCompiler:
        """Return a compiler of expressions over the columns of a function of the program."""
        return self._compiler.over(columns)


class _Function:
    """A function of the program: a condition, or the measure.

    Args:
        compiler: the program's.
        current: the variable of the condition; None for the measure.
    """

    def __init__(self, compiler: MatchCompiler, current: str | None) -> None:
        self._match, self._current = compiler, current
        self._columns: list[str] = []
        self._places: dict[Typed, int] = {}
        self._bounds: dict[str, tuple[str, str]] = {}
        self._before: list[str] = []
        self._calls: dict[str, list[MatchedAggregate]] = {}

    def over(self, expressions: Sequence[Typed]) -> list[Typed]:
        """Return expressions in which what is matched are columns."""
        for expression in expressions:
            for part in walk(expression):
                if isinstance(part, MatchedAggregate):
                    found = self._calls.setdefault(part.variable, [])
                    if part not in found:
                        found.append(part)
        for number, (variable, calls) in enumerate(self._calls.items()):
            name = self._match.bind_aggregates(calls)
            self._before.append(f"agg{number} = {name}({self._rows_of(variable)})")
            for index, call in enumerate(calls):
                self._column(call, f"agg{number}[{index}]")
        made = [rewrite(expression, self._matched) for expression in expressions]
        self.compiler = self._match.over(self._columns)
        return made

    def before(self) -> list[str]:
        """Return the statements that come first."""
        bounds = [
            line
            for variable, (low, high) in self._bounds.items()
            for line in self._assigned(variable, low, high)
        ]
        return [*bounds, *self._before]

    def _assigned(self, variable: str, low: str, high: str) -> list[str]:
        number = self._match.number(variable)
        start = "offset" if not number else f"offset + ends[{number - 1}]"
        end = -1 if number is None else number
        return [f"{low} = {start}", f"{high} = offset + ends[{end}]"]

    def _matched(self, part: Typed) -> Typed | None:
        if isinstance(part, MatchedAggregate):
            return InputRef(part.type, self._places[part])
        if isinstance(part, MatchTime):
            return self._column(part, "(time * 1000)")
        if isinstance(part, MatchedField):
            return self._column(part, self._field(part))
        return None

    def _column(self, part: Typed, source: str) -> InputRef:
        place = self._places.get(part)
        if place is None:
            place = self._places[part] = len(self._columns)
            self._columns.append(source)
        return InputRef(part.type, place)

    def _with_row(self, variable: str) -> bool:
        """True if the candidate row belongs to a variable."""
        return self._current is not None and variable in {self._current, ALL_ROWS}

    def _known(self, variable: str) -> bool:
        return variable == ALL_ROWS or self._match.number(variable) is not None

    def _bound(self, variable: str) -> tuple[str, str]:
        """Return the names of where the rows of a variable begin and end."""
        count = len(self._bounds)
        return self._bounds.setdefault(variable, (f"low{count}", f"high{count}"))

    def _rows_of(self, variable: str) -> str:
        if not self._known(variable):
            return "()"
        low, high = self._bound(variable)
        rows = f"rows[{low}:{high}]"
        return f"[*{rows}, row]" if self._with_row(variable) else rows

    def _field(self, field: MatchedField) -> str:
        """Return the source of a column of the row that a variable has taken."""
        with_row, column, distance = self._with_row(field.variable), field.column, field.distance
        if with_row and not field.first and not distance:
            return f"row[{column}]"
        if not self._known(field.variable):
            return "None"
        low, high = self._bound(field.variable)
        if field.first:
            found = f"rows[{low} + {distance}][{column}] if {low} + {distance} < {high} else "
            if with_row:
                found += f"row[{column}] if {low} + {distance} == {high} else "
            return f"({found}None)"
        back = distance if with_row else distance + 1
        return f"(rows[{high} - {back}][{column}] if {high} - {back} >= {low} else None)"


def depends_on_row_alone(condition: Typed, variable: str) -> bool:
    """True if the condition of a variable depends on the candidate row alone."""
    return all(
        part.variable in {variable, ALL_ROWS} and not part.first and not part.distance
        if isinstance(part, MatchedField)
        else not isinstance(part, MatchedAggregate)
        for part in walk(condition)
    )
