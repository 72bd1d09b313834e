"""Users' small functions as expressions in a generated loop.

A call of ``lambda item: item[0]`` costs more than its work. A function whose body is assignments
and one result is written into the loop instead of being called. Its bytecode is read back into
source text; that is taken only if Python compiles the text to the very same bytecode. What runs is
therefore the same: globals are read from the function's module and variables of outer functions
from their cells whenever the expression is evaluated. Only builtins without side effects and the
class ``Row`` may be called, since others might look at the frame they are called from. A row that
is the result is made where it is needed, of the class that ``Row`` meant when the loop was written;
where its fields are known, they are read without it.

Tracebacks show the function nevertheless: ``with_users_frame`` adds its line.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MethodType, TracebackType
from typing import Any, NamedTuple, TypeGuard

from pyflink_on_spark.common.types import Row, is_field_name

_MOST_INSTRUCTIONS = 200
_MOST_PARTS = 12
_CALLABLE = frozenset({
    "abs", "bool", "chr", "divmod", "float", "int", "len", "max", "min", "ord", "pow", "round",
    "str", "sum", "tuple",
})  # fmt: skip
_REFUSED_FLAGS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_PLAIN = (int, float, str, bytes, bool, type(None))
_OPERATORS: dict[str, ast.operator] = {
    "+": ast.Add(), "-": ast.Sub(), "*": ast.Mult(), "/": ast.Div(), "//": ast.FloorDiv(),
    "%": ast.Mod(), "**": ast.Pow(), "<<": ast.LShift(), ">>": ast.RShift(), "&": ast.BitAnd(),
    "|": ast.BitOr(), "^": ast.BitXor(), "@": ast.MatMult(),
}  # fmt: skip
_COMPARISONS: dict[str, ast.cmpop] = {
    "<": ast.Lt(), "<=": ast.LtE(), ">": ast.Gt(), ">=": ast.GtE(), "==": ast.Eq(),
    "!=": ast.NotEq(),
}  # fmt: skip
_UNARY: dict[str, ast.unaryop] = {
    "UNARY_NEGATIVE": ast.USub(),
    "UNARY_NOT": ast.Not(),
    "UNARY_INVERT": ast.Invert(),
}
_OF_TWO = frozenset({"BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "IS_OP", "CONTAINS_OP"})
_WITHOUT_EFFECT = frozenset({
    "RESUME", "NOP", "COPY_FREE_VARS", "PRECALL", "PUSH_NULL", "NOT_TAKEN", "TO_BOOL",
})  # fmt: skip


_OF_CONSTANTS = frozenset({"LOAD_CONST", "KW_NAMES"})


class Statement(NamedTuple):
    """A part of a function in line: an assignment, or with no target its result.

    ``parts`` are the expressions of the items of a result that is always a tuple, or of the fields
    of one that is always a new row; ``names`` are the names of these fields then.
    """

    target: str | None
    expression: str
    line: int
    parts: tuple[str, ...] | None
    names: tuple[str, ...] | None = None


class RowFields(NamedTuple):
    """The known fields of a row in a variable.

    ``values`` are expressions of its fields. Where ``likely`` is given, they are right only if the
    names of the row are the list that this variable has.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]
    likely: str | None = None


class Inlined(NamedTuple):
    """A function in line: what it does, and whose frame an error shows."""

    function: FunctionType
    statements: list[Statement]


def inlined(
    function: object,
    arguments: Sequence[str],
    bind: Callable[[str, object], str],
    new_name: Callable[[], str],
    known_parts: Mapping[str, Sequence[str]] | None = None,
    global_variable: Callable[[dict[str, object], str], str] | None = None,
    known_rows: Mapping[str, RowFields] | None = None,
) -> Inlined | None:
    """Return a function's statements for a loop; None for a function that is to be called.

    Args:
        function: what would be called.
        arguments: expressions that may be evaluated any number of times.
        bind: names the objects that the statements use.
        new_name: makes names of variables.
        known_parts: the variables with the items of arguments that are tuples.
        global_variable: gives the expression of a variable of a module.
        known_rows: what is known of arguments that are rows.
    """
    if _is_watched():
        return None
    names = {}
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
        arguments = [_SELF, *arguments]
        names[_SELF] = function.__self__
        function = function.__func__
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if code.co_argcount != len(arguments) or not _is_simple(code):
        return None
    try:
        read = list(_Reader(function).statements())
    except _RefusedError:
        return None
    if not _compiles_alike(code, read):
        return None
    parameters = dict(zip(code.co_varnames, arguments, strict=False))
    placed = _Placed(
        function, parameters, names, bind, known_parts or {}, global_variable, known_rows or {}
    )
    return Inlined(function, [placed.statement(each, new_name) for each in read])


def with_users_frame(error: BaseException, functions: dict[int, Any]) -> None:
    """Add the frame of a function to the traceback of an error from its statements in a loop.

    Args:
        error: what was raised; its traceback begins with the loop.
        functions: the function and its line for each line of the loop that has a part of one.
    """
    trace = error.__traceback__
    place = None if trace is None else functions.get(trace.tb_lineno)
    if trace is None or place is None:
        return
    function, line = place
    shown = _trace_in(function, line)
    inner = TracebackType(trace.tb_next, shown.tb_frame, shown.tb_lasti, line)
    error.__traceback__ = TracebackType(inner, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


_SELF = "self"
_NOTHING = object()


class _RefusedError(Exception):
    """The function has something that is not written into loops."""


class _Read(NamedTuple):
    target: str | None
    expression: ast.expr
    line: int


def _is_watched() -> bool:
    """True if a debugger or a measurement of coverage wants to see the functions' frames."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(map(monitoring.get_tool, range(6)))


def _is_simple(code: CodeType) -> bool:
    return not (
        code.co_kwonlyargcount
        or code.co_cellvars
        or code.co_flags & _REFUSED_FLAGS
        or len(code.co_code) > 2 * _MOST_INSTRUCTIONS
    )


class _Reader:
    """Reads the bytecode of a function as statements.

    Args:
        function: the function.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._stack: list[ast.expr] = []
        self._keywords: tuple[str, ...] = ()

    def statements(self) -> Iterator[_Read]:
        """Yield the assignments and the result.

        Raises:
            _RefusedError: there is something else, or a statement has several lines.
        """
        lines: set[int] = set()
        for each in dis.get_instructions(self._function.__code__):
            if each.opname != "RESUME" and each.positions and each.positions.lineno:
                lines.add(each.positions.lineno)
            if each.opname in ("STORE_FAST", "RETURN_VALUE", "RETURN_CONST"):
                if each.opname == "RETURN_CONST":
                    self._stack.append(_constant(each.argval))
                target = each.argval if each.opname == "STORE_FAST" else None
                expression = self._take(1)[0]
                if self._stack or len(lines) != 1:
                    raise _RefusedError
                yield _Read(target, expression, lines.pop())
            else:
                self._read(each)

    def _take(self, count: int) -> list[ast.expr]:
        if count > len(self._stack):
            raise _RefusedError
        taken = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return taken

    def _read(self, each: dis.Instruction) -> None:
        name = each.opname
        if name == "KW_NAMES":
            self._keywords = self._function.__code__.co_consts[each.arg or 0]
        elif name.startswith("LOAD_"):
            self._load(name, each)
        elif name not in _WITHOUT_EFFECT:
            self._stack.append(self._of_two(each) or self._of_some(each))

    def _of_two(self, each: dis.Instruction) -> ast.expr | None:
        """Read an operator between two operands; None for another instruction."""
        name = each.opname
        if name not in _OF_TWO:
            return None
        first, second = self._take(2)
        if name == "IS_OP":
            if isinstance(second, ast.Constant) and type(second.value) not in (bool, type(None)):
                raise _RefusedError  # Python warns of it
            return ast.Compare(first, [ast.IsNot() if each.arg else ast.Is()], [second])
        if name == "CONTAINS_OP":
            return ast.Compare(first, [ast.NotIn() if each.arg else ast.In()], [second])
        if name == "BINARY_SUBSCR" or each.argrepr == "[]":
            return ast.Subscript(first, second, ast.Load())
        if name == "COMPARE_OP" and each.argval in _COMPARISONS:
            return ast.Compare(first, [_COMPARISONS[each.argval]], [second])
        if each.argrepr in _OPERATORS:
            return ast.BinOp(first, _OPERATORS[each.argrepr], second)
        raise _RefusedError

    def _of_some(self, each: dis.Instruction) -> ast.expr:
        """Read what takes any number of operands."""
        name, count = each.opname, each.arg or 0
        if name in _UNARY:
            return ast.UnaryOp(_UNARY[name], self._take(1)[0])
        if name == "BUILD_TUPLE":
            return ast.Tuple(self._take(count), ast.Load())
        if name == "BUILD_LIST":
            return ast.List(self._take(count), ast.Load())
        if name == "CALL_KW":
            (keywords,) = self._take(1)
            if isinstance(keywords, ast.Constant) and isinstance(keywords.value, tuple):
                self._keywords = tuple(map(str, keywords.value))
        if name in ("CALL", "CALL_KW"):
            return self._call(count)
        if name in ("FORMAT_VALUE", "FORMAT_SIMPLE") and not count:
            return ast.JoinedStr([ast.FormattedValue(self._take(1)[0], -1, None)])
        if name == "BUILD_STRING":
            return self._joined(self._take(count))
        raise _RefusedError

    def _load(self, name: str, each: dis.Instruction) -> None:
        if name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            self._stack.append(_constant(each.argval))
        elif name.startswith("LOAD_FAST") and "CLEAR" not in name:
            names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
            self._stack += [ast.Name(variable, ast.Load()) for variable in names]
        elif name in ("LOAD_GLOBAL", "LOAD_DEREF"):
            if not self._has_value(each.argval):
                raise _RefusedError  # a call raises Python's own NameError
            self._stack.append(ast.Name(each.argval, ast.Load()))
        elif name == "LOAD_ATTR":
            self._stack.append(ast.Attribute(self._take(1)[0], each.argval, ast.Load()))
        else:
            raise _RefusedError

    def _has_value(self, name: str) -> bool:
        """True for a name outside of the function that means something now."""
        function = self._function
        freevars = function.__code__.co_freevars
        if name not in freevars:
            return name in function.__globals__ or _is_builtin(name, function)
        closure: Any = function.__closure__
        try:
            return closure[freevars.index(name)].cell_contents is not _NOTHING
        except ValueError:
            return False

    def _call(self, count: int) -> ast.expr:
        called, *arguments = self._take(count + 1)
        keywords, self._keywords = self._keywords, ()
        if not isinstance(called, ast.Name):
            raise _RefusedError
        if _is_row_class(called.id, self._function):
            named = arguments[len(arguments) - len(keywords) :]
            del arguments[len(arguments) - len(keywords) :]
            return ast.Call(called, arguments, list(map(ast.keyword, keywords, named)))
        known = called.id in _CALLABLE and _is_builtin(called.id, self._function)
        if not known or keywords:
            raise _RefusedError
        return ast.Call(called, arguments, [])

    @staticmethod
    def _joined(parts: list[ast.expr]) -> ast.JoinedStr:
        values: list[ast.expr] = []
        for part in parts:
            values += part.values if isinstance(part, ast.JoinedStr) else [part]
        return ast.JoinedStr(values)


def _constant(value: Any) -> ast.expr:
    parts = value if type(value) is tuple else (value,)
    if not all(type(part) in _PLAIN for part in parts):
        raise _RefusedError
    return ast.Constant(value)


def _is_builtin(name: str, function: FunctionType) -> bool:
    """True for a name that is not the function's own and means in its module what it does here."""
    code = function.__code__
    if name in code.co_varnames or name in code.co_freevars or name in function.__globals__:
        return False
    own: Any = function  # some versions of typeshed do not know __builtins__
    return own.__builtins__.get(name, code) is vars(builtins).get(name)


def _is_row_class(name: str, function: FunctionType) -> bool:
    """True for a name that means the class of rows now."""
    code = function.__code__
    if name in code.co_varnames:
        return False
    if name not in code.co_freevars:
        return function.__globals__.get(name) is Row
    closure: Any = function.__closure__
    return closure[code.co_freevars.index(name)].cell_contents is Row


def _is_named_row(node: ast.expr) -> TypeGuard[ast.Call]:
    """True for a call that makes a row with names: nothing else is called with names."""
    if not isinstance(node, ast.Call) or node.args:
        return False
    return 0 < len(node.keywords) <= _MOST_PARTS


def _compiles_alike(code: CodeType, read: Sequence[_Read]) -> bool:
    """True if Python makes the same bytecode of what was read."""
    body = [ast.unparse(each.expression) for each in read]
    parameters = ", ".join(code.co_varnames[: code.co_argcount])
    if code.co_name == "<lambda>":
        text = f" return lambda {parameters}: {body[-1]}"
    else:
        lines = [
            f"  return {expression}" if each.target is None else f"  {each.target} = {expression}"
            for each, expression in zip(read, body, strict=True)
        ]
        text = "\n".join([f" def made({parameters}):", *lines])
    try:
        outer = compile(f"def outer({', '.join(code.co_freevars)}):\n{text}", "<read>", "exec")
    except SyntaxError:
        return False
    made = _code_in(_code_in(outer))
    return _instructions(made) == _instructions(code)


def _code_in(code: CodeType) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType))


def _instructions(code: CodeType) -> list[object]:
    found: list[object] = []
    for each in dis.get_instructions(code):
        if each.opname in _OF_CONSTANTS:
            found.append((each.opname, repr(code.co_consts[each.arg or 0])))
        elif each.opname != "RESUME":
            found.append((each.opname, each.arg, repr(each.argval)))
    return found


class _Placed(ast.NodeTransformer):
    """Gives the names in a function's expressions their meaning inside a loop.

    Args:
        function: the function.
        parameters: the expression for each parameter.
        names: the objects that such an expression may name.
        bind: names objects.
        known_parts: the variables with the items of arguments that are tuples.
        global_variable: gives the expression of a variable of a module.
        known_rows: what is known of arguments that are rows.
    """

    def __init__(
        self,
        function: FunctionType,
        parameters: dict[str, str],
        names: dict[str, object],
        bind: Callable[[str, object], str],
        known_parts: Mapping[str, Sequence[str]],
        global_variable: Callable[[dict[str, object], str], str] | None,
        known_rows: Mapping[str, RowFields],
    ) -> None:
        self._function, self._names, self._bind = function, names, bind
        self._global_variable = global_variable or self._item_of_globals
        self._known_parts, self._known_rows = known_parts, known_rows
        self._parameters = parameters
        self._variables: dict[str, str] = {}

    def statement(self, read: _Read, new_name: Callable[[], str]) -> Statement:
        """Return a statement in the loop's terms."""
        found = self.visit(read.expression)
        expression = ast.unparse(found)
        parts = names = None
        if isinstance(found, ast.Tuple) and 0 < len(found.elts) <= _MOST_PARTS:
            parts = tuple(map(ast.unparse, found.elts))
        elif _is_named_row(found):
            parts = tuple(ast.unparse(each.value) for each in found.keywords)
            names = tuple(str(each.arg) for each in found.keywords)
        target = None
        if read.target is not None:
            target = self._variables[read.target] = new_name()
        return Statement(target, expression, read.line, parts, names)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace a field of a row of which something is known."""
        row, known = self._known_row(node.value)
        if known is not None and node.attr in known.names and is_field_name(node.attr):
            return self._field(row, known, node.attr, f"{row}.{node.attr}")
        self.generic_visit(node)
        return node

    def _known_row(self, node: ast.expr) -> tuple[str, RowFields | None]:
        if not isinstance(node, ast.Name) or node.id in self._variables:
            return "", None
        row = self._parameters.get(node.id, "")
        return row, self._known_rows.get(row)

    @staticmethod
    def _field(row: str, known: RowFields, name: str, otherwise: str) -> ast.expr:
        value = known.values[known.names.index(name)]
        if known.likely is not None:
            value = f"{value} if {row}._names is {known.likely} else {otherwise}"
        return ast.parse(value, mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Replace an item of a tuple whose items are in variables, and a field of a row."""
        place, tuple_of = node.slice, node.value
        row, known = self._known_row(tuple_of)
        if known is not None and isinstance(place, ast.Constant) and place.value in known.names:
            return self._field(row, known, place.value, f"{row}[{place.value!r}]")
        if (
            isinstance(tuple_of, ast.Name)
            and tuple_of.id not in self._variables
            and isinstance(place, ast.Constant)
            and type(place.value) is int
        ):
            parts = self._known_parts.get(self._parameters.get(tuple_of.id, ""), ())
            if -len(parts) <= place.value < len(parts):
                return ast.Name(parts[place.value], ast.Load())
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name."""
        name, code = node.id, self._function.__code__
        if name in self._variables:
            return ast.Name(self._variables[name], ast.Load())
        if name in self._parameters:
            return self._argument(self._parameters[name])
        if name in code.co_freevars:
            return self._outer(name)
        if _is_builtin(name, self._function):
            return node
        expression = self._global_variable(self._function.__globals__, name)
        return ast.parse(expression, mode="eval").body

    def _item_of_globals(self, module: dict[str, object], name: str) -> str:
        return f"{self._bind('globals', module)}[{name!r}]"

    def _argument(self, expression: str) -> ast.expr:
        if expression in self._names:
            return ast.Name(self._bind(expression, self._names[expression]), ast.Load())
        return ast.parse(expression, mode="eval").body

    def _outer(self, name: str) -> ast.expr:
        """The variable of an outer function: a constant if no other function has it."""
        closure: Any = self._function.__closure__
        cell = closure[self._function.__code__.co_freevars.index(name)]
        if sys.getrefcount(cell) <= _REFERENCES_OF_OWN_CELL:
            return ast.Name(self._bind(f"{name}_", cell.cell_contents), ast.Load())
        return ast.Attribute(
            ast.Name(self._bind("cell", cell), ast.Load()), "cell_contents", ast.Load()
        )


_REFERENCES_OF_OWN_CELL = 3
"""The function's closure, a local variable, and the argument of getrefcount."""


def _trace_in(function: FunctionType, line: int) -> TracebackType:
    """Return a traceback with a frame that looks like the function's, at one of its lines."""
    own = function.__code__
    raising = compile("raise error", own.co_filename, "exec")
    raising = raising.replace(
        co_name=own.co_name,
        co_qualname=own.co_qualname,
        co_firstlineno=own.co_firstlineno,
        co_linetable=_at_line(line - own.co_firstlineno, len(raising.co_code) // 2),
    )
    try:
        exec(raising, function.__globals__, {"error": _RefusedError()})  # noqa: S102 - our own
    except _RefusedError as error:
        shown = error.__traceback__ and error.__traceback__.tb_next
    assert shown is not None
    return shown


def _at_line(number: int, units: int) -> bytes:
    """Return a table of lines that knows one line and no columns, for some units of bytecode.

    Args:
        number: the line's, from the function's first line.
        units: at most 8 of them share an entry of the table.
    """
    sizes = [8] * (units // 8) + ([units % 8] if units % 8 else [])
    steps = [number, *[0] * (len(sizes) - 1)]
    return b"".join(
        bytes([0x80 | 13 << 3 | size - 1]) + _signed(step)
        for size, step in zip(sizes, steps, strict=True)
    )


def _signed(number: int) -> bytes:
    """Return a number as a table of lines has it: six bits in a byte, the lowest first."""
    left = abs(number) << 1 | (number < 0)
    parts = []
    while left > 63:
        parts.append(0x40 | left & 63)
        left >>= 6
    return bytes([*parts, left])
