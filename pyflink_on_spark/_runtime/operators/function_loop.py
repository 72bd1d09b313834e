"""Neighbouring operators as one loop, compiled for just these.

Map, flat_map, filter and key selector functions, conversions to declared types, rolling
aggregations, windows and process functions write lines of one generator. So an element passes them
without a generator for each, and a keyed element without a pair. Each function is called in the
frame of a generator. So a StopIteration that escapes from one is an error (PEP 479), where ``map``
and ``filter`` would take it for the end of the input.
"""

from __future__ import annotations

import builtins
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from keyword import iskeyword
from types import CodeType, FrameType
from typing import Any, NamedTuple

from pyflink_on_spark._compat.own_frames import compiled_file, is_own
from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._runtime.elements.bundle import Cursor
from pyflink_on_spark._runtime.elements.immutability import (
    IMMUTABLE_TYPES,
    PLAIN_KEY_TYPES,
    copied,
    immutability_test,
    is_immutable,
    wrap_key,
)
from pyflink_on_spark._runtime.operators.inlining import (
    Inlined,
    RowFields,
    inlined,
    with_users_frame,
)
from pyflink_on_spark._runtime.types.composite import new_row, shared_names
from pyflink_on_spark._runtime.types.fitting import (
    Certainty,
    certainty_of,
    declared_certainty,
    is_literal,
    named_in,
    narrower,
)
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TupleTypeInfo

_FILE = compiled_file("function loop")
_STEPS = "STEPS"
_IN_LINE = "IN_LINE"
_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"\bvalue\d")
_NAMES: dict[str, object] = {
    each.__name__: each for each in (copied, is_immutable, new_row, wrap_key, with_users_frame)
} | {
    "IMMUTABLE_TYPES": IMMUTABLE_TYPES,
    "PLAIN_KEY_TYPES": PLAIN_KEY_TYPES,
}
"""Functions and constants of every loop."""
_OWN = {
    name: each
    for name, each in (vars(builtins) | _NAMES).items()
    if not (iskeyword(name) or name.startswith("__"))
}
"""All names that the code of a loop may use."""
_MOST_LOOPS = 10
"""How many flat_maps one loop has at most; Python limits how deep loops are nested."""


class Step(NamedTuple):
    """The operator that a line of a loop belongs to, and the variables that the line works on.

    ``parts`` are the variables with the items of an element that is a tuple for sure, or with the
    fields of a row that is not made yet, which have ``names`` then.
    """

    operator: Operator
    value: str
    key: str | None
    parts: tuple[str, ...]
    names: tuple[str, ...] | None = None

    def element(self, variables: Mapping[str, object]) -> object:
        """Return the element."""
        if self.names is not None:
            return new_row(list(self.names), list(map(variables.get, self.parts)))
        return tuple(map(variables.get, self.parts)) if self.parts else variables[self.value]


class LoopCode:
    """The code of a loop while operators write it.

    Args:
        pairs: whether the loop draws pairs of key and element.
        plain: whether to do without what a user's names could be taken for.
    """

    def __init__(self, pairs: bool, plain: bool = False) -> None:
        self.element = "value"
        """The variable with the current element, which may be a row that is not made yet."""
        self.key = "key" if pairs else None
        """The variable with its key, where operators exchange pairs; else None."""
        self.before: list[str] = []
        """Statements that run when elements begin to come."""
        self.after: list[str] = []
        """Statements that run when no more elements come."""
        self.lines: list[str] = []
        self.steps: dict[int, Step] = {}
        """The operator of each line, by its index."""
        self.bound: dict[str, object] = {}
        """The objects that the lines use, by name."""
        self.bind = named_in(self.bound)
        self.in_line: list[Inlined] = []
        """The users' functions that are written in line."""
        self.parts: dict[str, list[str]] = {}
        """The variables with the items of a variable that is a tuple for sure."""
        self.rows: dict[str, RowFields] = {}
        """The known fields of variables that are rows."""
        self._unmade: set[str] = set()
        self._new_rows: dict[str, RowFields] = {}
        self.constants: dict[str, str] = {}
        """The literals that such variables are, where they are."""
        self.sources: dict[str, str] = {}
        """The expressions that such variables were assigned."""
        self.facts: dict[str, Certainty] = {}
        """The certainties of variables, and of their items."""
        self.module: dict[str, object] | None = {} if plain else None
        """The globals that lines name."""
        self.globals: set[str] = set()
        """The names of those that lines use."""
        self._plain = plain
        self._wholes: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._tests: set[int] = set()
        self._tested: dict[str, tuple[str, str]] = {}
        self._same_as: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self._names: dict[tuple[str, ...], str] = {}
        self.places: dict[int, tuple[object, int]] = {}
        """The function of each line that is a part of one, and its line there."""
        self._indent = "  "
        self._operator: Operator | None = None
        self._values = 0

    def enter(self, operator: FusableOperator) -> None:
        """Begin with the lines of an operator."""
        self._operator = operator
        if operator.received_type is not None:
            self.learn_type(operator.received_type, self.element)
            self.expect_row(self.element, operator.received_type)
        if not operator.takes_unmade_rows:
            self._escapes(self.element)

    @property
    def value(self) -> str:
        """The variable with the current element."""
        self._make(self.element)
        return self.element

    @value.setter
    def value(self, variable: str) -> None:
        self.element = variable

    @property
    def unmade_row(self) -> RowFields | None:
        """The fields of the element, if it is a row that nobody has needed yet."""
        return self.rows[self.element] if self.element in self._unmade else None

    def names_of(self, names: Iterable[str]) -> str:
        """Name the list of the names of rows."""
        known = tuple(names)
        if known not in self._names:
            self._names[known] = self.bind("names", shared_names(known))
        return self._names[known]

    def expect_row(self, variable: str, type_info: object) -> None:
        """Note that a variable will mostly have rows whose names are those of a type."""
        if isinstance(type_info, RowTypeInfo) and variable not in self._unmade:
            self._expect(variable, tuple(type_info.get_field_names()))

    def _expect(self, variable: str, names: tuple[str, ...]) -> None:
        values = tuple(f"{variable}._values[{index}]" for index in range(len(names)))
        self.rows[variable] = RowFields(names, values, self.names_of(names))

    def fields(self, variable: str, type_info: object) -> list[str]:
        """The variables with the fields of a row that has just these for sure, else none.

        That is the element, or the result of the last call.
        """
        row = self._new_rows.pop(variable, None) or self.rows.get(variable)
        if row is None or row.likely is not None or not isinstance(type_info, RowTypeInfo):
            return []
        if row.names != tuple(type_info.get_field_names()):
            return []
        return [self.constants.get(part, part) for part in row.values]

    def _made(self, row: RowFields) -> str:
        return f"new_row({self.names_of(row.names)}, [{', '.join(row.values)}])"

    def _make(self, variable: str) -> None:
        """Make a row that is not made yet."""
        if variable in self._unmade:
            self.add(f"{variable} = {self._made(self.rows[variable])}")
            self._unmade.discard(variable)

    def _escapes(self, variable: str) -> None:
        """Note that others get a variable: they may change what it has."""
        self._make(variable)
        row = self.rows.get(variable)
        if row is not None and row.likely is None:
            self._expect(variable, row.names)

    def replace_fields_unless(self, test: str, convert: str, doubtful: Iterable[str]) -> None:
        """Continue with converted fields of a row that is not made yet and fails a test.

        Args:
            test: the expression of the test.
            convert: the function that converts a row.
            doubtful: the variables of the fields that may be others then.
        """
        row = self.rows[self.element]
        fields = ", ".join(row.values)
        self.add(f"if not ({test}): {fields}, = {convert}({self._made(row)})._values")
        for variable in doubtful:
            self.facts.pop(variable, None)
            self.constants.pop(variable, None)

    def add(self, line: str) -> None:
        """Add a line."""
        assert self._operator is not None
        _, parts = self._wholes.get(self.element, (0, ()))
        names = None
        if self.element in self._unmade:
            names, parts, _ = self.rows[self.element]
        self.steps[len(self.lines)] = Step(self._operator, self.element, self.key, parts, names)
        self.lines.append(self._indent + line)

    def new_value(self) -> str:
        """Make the name of another variable, for what becomes of the element."""
        self._values += 1
        return f"value{self._values}"

    def assign(self, expression: str) -> None:
        """Continue with the value of an expression in place of the element."""
        result = self.new_value()
        self.add(f"{result} = {expression}")
        self.value = result

    def call(
        self,
        result: str,
        name: str,
        function: object,
        *arguments: str,
        indent: str = "",
        unmade: bool = False,
    ) -> list[str]:
        """Assign the result of a function, which is written in line if it is small.

        Args:
            result: the variable.
            name: what the function's name begins with.
            function: a user's.
            arguments: expressions that may be evaluated any number of times.
            indent: before the lines.
            unmade: whether a new row is not made before somebody needs it.

        Returns:
            The variables with the items of the result, if it is a tuple for sure.
        """
        body = inlined(
            function,
            arguments,
            self.bind,
            self.new_value,
            self.parts,
            self.global_variable,
            self.rows,
        )
        for argument in arguments:
            if body is None or _has(body, argument):
                self._escapes(argument)
        if body is None:
            self.add(f"{indent}{result} = {self.bind(name, function)}({', '.join(arguments)})")
            return []
        self.in_line.append(body)
        return self._write_body(body, result, indent, unmade)

    def _write_body(self, body: Inlined, result: str, indent: str, unmade: bool) -> list[str]:
        *before, last = body.statements
        lines = [(each.target, each.expression, each.line) for each in before]
        parts = [self.new_value() for _ in last.parts or ()]
        self.sources.update(zip(parts, last.parts or ()))
        lines += [(part, item, last.line) for part, item in zip(parts, last.parts or ())]
        whole = f"({', '.join(parts)},)" if parts else last.expression
        row = None if last.names is None else RowFields(last.names, tuple(parts))
        whole = whole if row is None else self._made(row)
        for target, expression, line in [*lines, (result, whole, last.line)]:
            self.places[len(self.lines)] = body.function, line
            self.add(f"{indent}{target} = {expression}")
            if target in parts and is_literal(expression):
                self.constants[target] = expression
            known = None if target == result else certainty_of(expression, self.facts)
            if target is not None and known is not None:
                self.facts[target] = known
        self._results[result] = whole
        if row is not None and unmade:
            self.rows[result] = row
            self._unmade.add(result)
            self._take_back()
        elif row is not None:
            self._new_rows[result] = row
        if row is not None:
            return []
        if not parts and self._is_item(last.expression):
            self._same_as[result] = last.expression
        return parts

    def _take_back(self) -> None:
        """Leave the last line out again."""
        self.lines.pop()
        self.steps.pop(len(self.lines))
        self.places.pop(len(self.lines), None)

    def leave_out_unless(self, name: str, function: object) -> None:
        """Continue only with elements for which a function is true.

        Args:
            name: what the function's name begins with.
            function: a user's.
        """
        keeps = self.new_value()
        self.call(keeps, name, function, self.element)
        _, _, expression = self.lines[-1].partition(f"{keeps} = ")
        self.lines[-1] = f"{self._indent}if not ({expression}): continue"

    def learn_result(self, result: str) -> Certainty | None:
        """Note, and return, what is known of the result of the last call.

        Args:
            result: the variable, which is assigned nothing else but such values.
        """
        expression = self._results.get(result)
        known = None if expression is None else certainty_of(expression, self.facts)
        if known is not None:
            self.facts[result] = known
        return known

    def learn_type(self, type_info: object, value: str) -> None:
        """Note what is known of a variable that has been converted to its declared type.

        Args:
            type_info: the declared type; None if nothing is known of it.
            value: the variable.
        """
        known = {value: declared_certainty(type_info)}
        if isinstance(type_info, TupleTypeInfo):
            fields = type_info.get_field_types()
            items = self.parts.get(value) or [f"{value}[{i}]" for i in range(len(fields))]
            known |= {
                item: declared_certainty(field, in_tuple=True)
                for item, field in zip(items, fields, strict=False)
            }
        for name, certainty in known.items():
            if certainty is None:
                self.facts.pop(name, None)
            else:
                self.facts[name] = narrower(certainty, self.facts.get(name))

    def is_plain_key(self, key: str) -> bool:
        """True if a variable certainly has a text or a whole number."""
        known = self.facts.get(key)
        return known is not None and known.kind in PLAIN_KEY_TYPES

    def _is_item(self, expression: str) -> bool:
        """True for an item of the element, or of a tuple whose items are in variables."""
        if any(expression in each for each in self.parts.values()):
            return True
        return re.fullmatch(rf"{self.element}\[\d+\]", expression) is not None

    def items(self, value: str) -> list[str]:
        """The variables with the items of a tuple, and the items themselves that are literals."""
        return [self.constants.get(part, part) for part in self.parts.get(value, ())]

    def note_test(self, value: str, test: Callable[[str], str | None]) -> str | None:
        """Test a variable, and note the result for tests of the item that it was assigned.

        Args:
            value: the variable.
            test: writes the test of a variable, if there is one.

        Returns:
            The expression of the result, or None.
        """
        item = self._same_as.get(value)
        written = test(item or value)
        if item is None or written is None or written == "True":
            return written
        passed = self.new_value()
        self.add(f"{passed} = {test(value) if item.endswith(']') else written}")
        self._tested[item] = written, passed
        return passed

    def assign_call(self, name: str, function: object) -> None:
        """Continue with the result of a function in place of the element."""
        result = self.new_value()
        self.parts[result] = self.call(result, name, function, self.element, unmade=True)
        if self.parts[result] and not self._plain:
            self._wholes[result] = len(self.lines) - 1, tuple(self.parts[result])
        self.learn_result(result)
        self.element = result

    def replace_unless(self, test: str, expression: str) -> None:
        """Continue with the value of an expression in place of an element that fails a test.

        Args:
            test: the expression of the test.
            expression: for a tuple, another one with as many items.
        """
        if test == "True":
            return
        parts = self.parts.get(self.value)
        for known, passed in self._tested.values():
            test = test.replace(known, passed)
        if parts:
            self._tests.add(len(self.lines))
            self.add(f"if not ({test}):")
            for part in parts:
                self._tested.pop(part, None)
                if "False" in test:
                    self.constants.pop(part, None)
            if self.value in self._wholes:
                self.add(f" {', '.join(parts)}, = {expression}")
            else:
                self.add(f" {self.value} = {expression}")
                self.add(f" {', '.join(parts)}, = {self.value}")
        else:
            self.assign(f"{self.value} if {test} else {expression}")

    def global_variable(self, module: dict[str, object], name: str) -> str:
        """The expression of a global variable of a user's function."""
        if self.module is None:
            self.module = module
        if module is not self.module:
            return f"{self.bind('globals', module)}[{name!r}]"
        self.globals.add(name)
        return name

    def finish(self) -> None:
        """Make tuples whose items are in variables only where they are used."""
        omitted: set[int] = set()
        ahead: dict[int, str] = {}
        for whole, (defined, parts) in self._wholes.items():
            omitted.add(defined)
            made = f"({', '.join(parts)},)"
            name = re.compile(rf"\b{whole}\b")
            used = [i for i in range(defined + 1, len(self.lines)) if name.search(self.lines[i])]
            depth = _depth(self.lines[defined])
            often = [i for i in used if i not in self._tests and _depth(self.lines[i]) == depth]
            if len(often) > 1 and not any(i in self._tests for i in used if i > often[0]):
                ahead[often[0]] = f"{' ' * depth}{whole} = {made}"
                used = [i for i in used if i < often[0]]
            for i in used:
                self.lines[i] = name.sub(made, self.lines[i])
        lines, places, steps = self.lines, self.places, self.steps
        self.lines, self.places, self.steps = [], {}, {}
        for i, line in enumerate(lines):
            for text in (ahead.get(i), None if i in omitted else line):
                if text is not None:
                    if i in places and text is line:
                        self.places[len(self.lines)] = places[i]
                    if i in steps:
                        self.steps[len(self.lines)] = steps[i]
                    self.lines.append(text)

    def is_misread(self, variables: Sequence[str]) -> bool:
        """True if a user's names or texts are like those of variables that lines use."""
        if self.globals.intersection(variables):
            return True
        written = (body.function.__code__ for body in self.in_line if self._wholes)
        return any(_VARIABLE.search(repr((each.co_consts, each.co_names))) for each in written)

    def isolate(self) -> None:
        """Continue with a copy of an element in which something can change."""
        row = self.unmade_row
        if row is not None and all(part in self.facts for part in row.values):
            return  # nobody else will have the row that is made
        test = immutability_test(self.value, self.items(self.value), self.facts)
        self.replace_unless(test, f"copied({self.value})")

    def repeat(self, expression: str) -> None:
        """Continue with each of the values of an expression in place of the element."""
        result = self.new_value()
        self.add(f"for {result} in {expression}:")
        self.value = result
        self._indent += " "

    def emit(self) -> None:
        """Emit the element."""
        value = self.value
        element = value if self.key is None else f"{self.key}, {value}"
        self.lines.append(f"{self._indent}yield {element}")


class FusableOperator(Operator):
    """Writes the processing of an element as lines of a loop."""

    takes_pairs = False
    """True for an operator that receives pairs of key and element."""

    takes_unmade_rows = False
    """True for an operator that works with the fields of rows which nobody has needed yet."""

    nests = False
    """True if the next lines stand in an inner loop."""

    received_type: object = None
    """The declared type to which the elements that come have been converted for sure, or None."""

    emits_itself = False
    """True if the lines yield the results themselves; the next operator begins another loop."""

    _alone: Process | None = None

    @property
    def fusable(self) -> bool:
        """True for an open operator that can be part of a loop."""
        return True

    def write_lines(self, code: LoopCode) -> None:
        """Write the lines; the operator is open."""
        raise NotImplementedError

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Run the lines for each element."""
        if self._alone is None:
            self._alone = _loop([self], None)
        return self._alone(elements)


def processes(operators: Sequence[Operator], cursor: Cursor | None = None) -> list[Process]:
    """The functions that elements pass in some open operators, one after the other.

    Args:
        operators: of a chain.
        cursor: if given, pairs of an element and its timestamp come in, and the timestamp is put
            into the cursor.
    """
    result: list[Process] = []
    if cursor is not None and not (operators and _is_fusable(operators[0])):
        result.append(_loop([], cursor))
    for fusable, group in groupby(operators, _is_fusable):
        neighbours: list[Any] = list(group)
        if fusable:
            result += _loops(neighbours, None if result else cursor)
        else:
            result += [each.process for each in neighbours]
    return result


def _is_fusable(operator: Operator) -> bool:
    return isinstance(operator, FusableOperator) and operator.fusable


def step_of(frame: FrameType, line: int) -> tuple[Operator, object, tuple[object, ...]] | None:
    """Return which operator a loop was at, with which element and key; None for another frame.

    The key is the only one of a tuple, which is empty where elements have no key.
    """
    if frame.f_code.co_filename != _FILE:
        return None
    variables = frame.f_locals
    step: Step | None = variables[_STEPS].get(line)
    if step is None:
        return None
    key = () if step.key is None else (variables[step.key],)
    return step.operator, step.element(variables), key


def loop_texts(operators: Sequence[Operator], timed: bool) -> Iterator[str]:
    """Yield the loops of a chain as text, each with the functions that it calls.

    Args:
        operators: of the chain; those that can be part of a loop are open.
        timed: whether elements come with timestamps.
    """
    cursor = Cursor() if timed else None
    for fusable, group in groupby(operators, lambda each: isinstance(each, FusableOperator)):
        for part in _parts(list(group)) if fusable else ():  # type: ignore[arg-type]
            if part[0].fusable:
                code, source, _ = _written(part, cursor)
                lines = map(_indented, source.splitlines())
                yield "\n".join([*_functions(code), *lines])
            cursor = None
        cursor = None


def _indented(line: str) -> str:
    """Indent a line by four spaces where loops have one."""
    text = line.lstrip()
    return " " * 4 * (len(line) - len(text)) + text


def _functions(code: LoopCode) -> Iterator[str]:
    for body in code.in_line:
        yield f"# in line: {_place_of(body.function)}"
    for name, thing in code.bound.items():
        function = getattr(thing, "__func__", thing)
        place = getattr(function, "__code__", None)
        if place is not None and not is_own(place.co_filename):
            yield f"# {name}: {_place_of(function)}"


def _place_of(function: Any) -> str:
    place = function.__code__
    file = os.path.basename(place.co_filename)
    return f"{function.__qualname__}, {file}:{place.co_firstlineno}"


def _loops(operators: list[FusableOperator], cursor: Cursor | None) -> list[Process]:
    parts = _parts(operators)
    return [_loop(part, None if index else cursor) for index, part in enumerate(parts)]


def _parts(operators: list[FusableOperator]) -> list[list[FusableOperator]]:
    """Divide neighbours into those of one loop each."""
    parts: list[list[FusableOperator]] = [[]]
    nested = 0
    for operator in operators:
        nested += operator.nests
        if parts[-1] and (nested > _MOST_LOOPS or parts[-1][-1].emits_itself):
            parts.append([])
            nested = int(operator.nests)
        parts[-1].append(operator)
    return parts


def _loop(
    operators: Sequence[FusableOperator], cursor: Cursor | None, plain: bool = False
) -> Process:
    """Compile a loop for some functions: as new code, which Python specialises for just these."""
    code, source, before = _written(operators, cursor, plain)
    names = {name: _OWN[name] for name in set(_NAME.findall(source)) & _OWN.keys()}
    names |= code.bound | {
        _STEPS: {before + index: step for index, step in code.steps.items()},
        _IN_LINE: {before + index: place for index, place in code.places.items()},
    }
    # Variables of the loop are quicker than those of a function around it.
    parameters = ", ".join(["elements", *(f"{name}={name}" for name in names)])
    source = source.replace("(elements)", f"({parameters})", 1)
    with warnings.catch_warnings():
        # A user's mistake is an error of the element; in place of the name there may be a tuple.
        warnings.simplefilter("ignore", SyntaxWarning)
        compiled = compile(source, _FILE, "exec")
    variables = next(each for each in compiled.co_consts if isinstance(each, CodeType)).co_varnames
    if code.is_misread(variables):
        return _loop(operators, cursor, plain=True)
    exec(compiled, code.module or {}, names)  # noqa: S102 - written by operators
    loop: Process = names["loop"]
    return loop


def _written(
    operators: Sequence[FusableOperator], cursor: Cursor | None, plain: bool = False
) -> tuple[LoopCode, str, int]:
    """Write a loop: its code, the source, the number of the first line after those ahead."""
    code = LoopCode(bool(operators) and operators[0].takes_pairs, plain)
    drawn = "value" if code.key is None else "key, value"
    if cursor is not None:
        drawn = f"({drawn}), {code.bind('cursor', cursor)}.timestamp"
    for operator in operators:
        code.enter(operator)
        operator.write_lines(code)
    if not operators or not operators[-1].emits_itself:
        code.emit()
    code.finish()
    head = ["def loop(elements):", *(f" {line}" for line in code.before)]
    lines = [f" for {drawn} in elements:", *code.lines]
    if code.places:
        head.append(" try:")
        lines = [
            *(f" {line}" for line in lines),
            " except Exception as error:",
            f"  with_users_frame(error, {_IN_LINE})",
            "  raise",
        ]
    return code, "\n".join([*head, *lines, *(f" {line}" for line in code.after)]), len(head) + 2


def _has(body: Inlined, argument: str) -> bool:
    """True if statements have an argument itself, not only known parts of it."""
    name = re.compile(rf"\b{argument}\b")
    return any(name.search(each.expression) for each in body.statements)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
