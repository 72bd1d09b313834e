"""Looks up an expression's value and the methods called on it in PyFlink, and notes their use."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Mapping, Sequence

from pyflink_on_spark._compat.unsupported import unsupported
from pyflink_on_spark.datastream import DataStream
from pyflink_on_spark.tools.check import mirror
from pyflink_on_spark.tools.check.mistakes import (
    verdict_on_java_access,
    verdict_on_module,
    verdict_on_name,
)
from pyflink_on_spark.tools.check.values import (
    UNKNOWN,
    AbsentValue,
    CallableValue,
    ClassValue,
    InstanceValue,
    ModuleValue,
    Value,
)
from pyflink_on_spark.tools.check.verdict import Findings, Status, Verdict, judge

_FROM_TABLES = {"to_data_stream", "to_changelog_stream", "to_append_stream"}
_JAVA = ("_j_", "j_", "_jvm", "get_java_")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_LOOKS_NAMES_UP = {"globals", "locals", "eval", "exec", "getattr"}
_EXPECTS_ERRORS = {"raises", "assertRaises", "assertRaisesRegex", "suppress"}


class Lookup:
    """Finds what expressions reach, and notes each use.

    Args:
        findings: where uses are noted.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def module(self, name: str, line: int) -> Value:
        """Return the value of ``import name``."""
        if mirror.module(name) is not None:
            return ModuleValue(name)
        self._findings.add(name, verdict_on_module(name), line)
        return AbsentValue(name)

    def imported(self, module: str, name: str, line: int) -> Value:
        """Return the value of a name in a module that exists."""
        value = mirror.member_of_module(module, name)
        full = f"{module}.{name}".replace(mirror.OURS, mirror.REAL, 1)
        if value is None:
            self._findings.add(full, verdict_on_name(module, name), line)
            return AbsentValue(full)
        if isinstance(value, ClassValue):
            self._findings.add(full, judge(value.cls), line)
        elif isinstance(value, CallableValue):
            self._findings.add(full, judge(value.function), line)
        return value

    def use_class(self, cls: type, how: str, line: int) -> None:
        """Note a class that is used in some way."""
        self._findings.add(f"{cls.__qualname__} ({how})", judge(cls), line)

    def attribute(self, owner: Value, name: str, line: int) -> Value:
        """Return the value of an attribute."""
        match owner:
            case ModuleValue():
                return self._of_module(owner.name, name, line)
            case AbsentValue():
                verdict = verdict_on_module(owner.root)
                if verdict.status is Status.NEVER:
                    self._findings.add(owner.root, verdict, line)
                return AbsentValue(owner.root, DataStream if name in _FROM_TABLES else None)
            case ClassValue() | InstanceValue():
                return self._of_class(owner, name, line)
        if name.startswith("_j_"):
            self._findings.add(name, verdict_on_java_access(), line)
        return UNKNOWN

    def call(
        self, called: Value, arguments: Sequence[Value], keywords: Mapping[str, int], line: int
    ) -> Value:
        """Return the value of a call.

        Args:
            called: what is called.
            arguments: what is known of the arguments that are given by their place.
            keywords: the names of the other arguments, and the lines that they are on.
            line: where the call ends.
        """
        match called:
            case ClassValue():
                return InstanceValue(called.cls)
            case AbsentValue():
                return called if called.gives is None else InstanceValue(called.gives)
            case CallableValue():
                self._note_keywords(called, keywords)
                if isinstance(called.function, unsupported):
                    return UNKNOWN
                return mirror.returned(called.function, called.receiver, arguments)
        return UNKNOWN

    def _of_module(self, module: str, name: str, line: int) -> Value:
        if mirror.module(f"{module}.{name}") is not None:
            return ModuleValue(f"{module}.{name}")
        return self.imported(module, name, line)

    def _of_class(self, owner: ClassValue | InstanceValue, name: str, line: int) -> Value:
        cls = owner.cls
        found = mirror.find_member(cls, name)
        if found is None or found[0] is object:
            self._note_absent(cls, name, line)
            return AbsentValue(name) if name.startswith("_j_") else UNKNOWN
        declared, member = found
        if not declared.__module__.startswith(mirror.OURS):
            return UNKNOWN
        known = mirror.known_owner(cls, declared)
        self._findings.add(f"{known.__qualname__}.{name}", self._judge(member), line)
        return mirror.member_value(declared, member, cls)

    def _judge(self, member: object) -> Verdict:
        return judge(None) if isinstance(member, enum.Enum) else judge(member)

    def _note_absent(self, cls: type, name: str, line: int) -> None:
        full = f"{cls.__qualname__}.{name}"
        if name.startswith("__") or mirror.may_have_attribute(cls, name):
            return
        if name.startswith(_JAVA):
            self._findings.add(full, verdict_on_java_access(), line)
        else:
            self._findings.add(full, verdict_on_name(cls.__qualname__, name), line)

    def _note_keywords(self, called: CallableValue, keywords: Mapping[str, int]) -> None:
        function = called.function
        for name, line in keywords.items():
            if not mirror.accepts_keyword(function, name):
                full = f"{function.__qualname__}({name}=...)"
                self._findings.add(full, verdict_on_name(function.__qualname__, name), line)


def uncalled(tree: ast.Module) -> frozenset[ast.AST]:
    """Return the functions and classes that nothing names which runs with the script.

    A module that only defines things is imported by others, who may use all of it.
    """
    if not any(map(_runs, tree.body)):
        return frozenset()
    named: dict[str, list[_Definition]] = {}
    for definition in _definitions(tree):
        named.setdefault(definition.name, []).append(definition)
    reached: set[ast.AST] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        for name in _names(waiting.pop()):
            if name in _LOOKS_NAMES_UP:
                return frozenset()
            for definition in named.get(name, ()):
                if definition not in reached:
                    reached.add(definition)
                    waiting += _inside(definition)
    return frozenset(d for found in named.values() for d in found if d not in reached)


def never_runs(statement: ast.If) -> bool:
    """Return whether the body of an ``if`` is switched off, or for type checkers only."""
    test = statement.test
    if isinstance(test, ast.Constant):
        return not test.value
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def expects_errors(statement: ast.With | ast.AsyncWith) -> bool:
    """True if the body of a ``with`` may fail, or is a test of what fails."""
    opened = [item.context_expr for item in statement.items]
    called = [ast.unparse(each.func) for each in opened if isinstance(each, ast.Call)]
    return any(name.rpartition(".")[2] in _EXPECTS_ERRORS for name in called)


def _runs(statement: ast.stmt) -> bool:
    """Return whether a statement of a module does more than to define something."""
    if isinstance(statement, _Definition):
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(statement))


def _definitions(tree: ast.Module) -> Iterator[_Definition]:
    """Yield all functions and classes but the methods, which are used with their class."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    methods = {part for cls in classes for part in cls.body if isinstance(part, _Function)}
    for node in ast.walk(tree):
        if isinstance(node, _Definition) and node not in methods:
            yield node


def _inside(definition: _Definition) -> Iterator[ast.AST]:
    """Yield the statements that run with a function, or may run once a class is used."""
    for part in definition.body:
        if isinstance(definition, ast.ClassDef) and isinstance(part, _Function):
            yield from part.body
        else:
            yield part


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that are read when a node is run; of a definition, when it is made."""
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, _Function):
        parts = [*node.decorator_list, node.args]
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases, *node.keywords, *node.body]
    if isinstance(node, _Definition) and node.decorator_list:
        yield node.name
    for part in parts:
        yield from _names(part)
