"""Looks names, attributes, parameters and returned types up in this package."""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.import_hook import own_name
from pyflink_on_spark.tools.check.values import (
    PLAIN,
    UNKNOWN,
    CallableValue,
    ClassValue,
    InstanceValue,
    ModuleValue,
    Value,
)

if TYPE_CHECKING:
    from types import ModuleType


REAL, OURS = "pyflink", "pyflink_on_spark"
_MIRRORED = ("common", "datastream", "metrics", "util")
_PLAIN = {"int", "str", "float", "bool", "bytes", "list", "dict", "tuple", "set"}
_ANNOTATED_WITH = {"Optional", "Union"}


def is_pyflink(name: str) -> bool:
    """True for a module of PyFlink, or a public one of this package."""
    root, *parts = name.split(".")
    return root == REAL or (root == OURS and not any(part.startswith("_") for part in parts))


def has_import(statement: ast.Import | ast.ImportFrom) -> bool:
    """True if this package has everything that a statement imports of PyFlink."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
        return all(module(name) is not None for name in names if is_pyflink(name))
    found = statement.module or ""
    return module(found) is not None and all(
        alias.name == "*" or member_of_module(found, alias.name) is not None
        for alias in statement.names
    )


@functools.cache
def module(name: str) -> ModuleType | None:
    """Return the module that stands for one of PyFlink's, or None."""
    is_ours = name.split(".", maxsplit=1)[0] == OURS
    ours = name if is_ours else own_name(name)
    if not is_ours and any(part.startswith("_") for part in ours.split(".")[1:]):
        return None
    try:
        return importlib.import_module(ours)
    except ModuleNotFoundError:
        return None


@functools.cache
def member_of_module(name: str, member: str) -> Value | None:
    """Return the value of a module's member; None if there is no such member."""
    found = module(name)
    if found is not None:
        try:
            return value_of(getattr(found, member))
        except (AttributeError, ImportError):
            pass
    return ModuleValue(f"{name}.{member}") if module(f"{name}.{member}") is not None else None


def value_of(thing: object) -> Value:
    """Return the value of an object of this package."""
    if inspect.ismodule(thing):
        return ModuleValue(thing.__name__.replace(OURS, REAL, 1))
    if isinstance(thing, type):
        return ClassValue(thing) if thing.__module__.startswith(OURS) else PLAIN
    if callable(thing):
        return CallableValue(thing)
    return InstanceValue(type(thing)) if type(thing).__module__.startswith(OURS) else PLAIN


def find_member(cls: type, name: str) -> tuple[type, object] | None:
    """Return the class that declares a member, and the member as declared; None if none does."""
    for owner in cls.__mro__:
        if name in owner.__dict__:
            return owner, owner.__dict__[name]
    return None


def known_owner(cls: type, declared: type) -> type:
    """Return the class under whose name users know a member: some are spread over inner classes.

    Args:
        cls: the class through which the member was reached.
        declared: the class that declares it.
    """
    known = [
        c
        for c in cls.__mro__
        if declared in c.__mro__ and _is_exported(c.__module__, c.__qualname__)
    ]
    return known[-1] if known else cls


def member_value(owner: type, member: object, receiver: type) -> Value:
    """Return the value of a member that was reached through a class or an object.

    Args:
        owner: the class that declares it.
        member: as ``find_member`` returns it.
        receiver: the class through which it was reached.
    """
    if isinstance(member, enum.Enum) and type(member) is owner:
        return InstanceValue(owner)
    if isinstance(member, type):
        return value_of(member)
    if isinstance(member, property):
        return returned(member.fget, receiver)
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    return CallableValue(member, receiver) if callable(member) else value_of(member)


def may_have_attribute(cls: type, name: str) -> bool:
    """True if objects get the attribute when they are made, or may be of a class that has it."""
    below: list[type] = cls.__subclasses__()
    if any(name in sub.__dict__ or may_have_attribute(sub, name) for sub in below):
        return True
    assigned = {name for owner in cls.__mro__ for name in _assigned(owner)}
    return name in assigned or hasattr(cls, "__getattr__")


def returned(function: Any, receiver: type | None, arguments: Sequence[Value] = ()) -> Value:
    """Return the value that a function of this package returns.

    Args:
        function: the function.
        receiver: the class of the object that it is called on.
        arguments: what is known of the arguments that are given by their place.
    """
    annotations = getattr(inspect.unwrap(function), "__annotations__", {})
    if "return" in annotations:
        return from_annotation(annotations["return"], function, receiver)
    code = _nodes(inspect.unwrap(function))
    if not code or not isinstance(code[1], ast.FunctionDef):
        return UNKNOWN
    return _Returned(function, receiver, arguments).of(code[1].body)


def parameter(function: Any, name: str | None, index: int) -> Value:
    """Return the value of a function's argument by its name, or its place (without ``self``)."""
    names = [parameter.name for parameter in inspect.signature(function).parameters.values()][1:]
    if name is None or name not in names:
        if index >= len(names):
            return UNKNOWN
        name = names[index]
    return from_annotation(function.__annotations__.get(name, ""), function, None)


def class_by_name(name: str) -> type | None:
    """Return a public class of this package by its plain name, or None."""
    return _classes().get(name)


def accepts_keyword(function: Any, name: str) -> bool:
    """True if a function has a parameter with this name."""
    former = getattr(function, "__former_names__", None)
    if former is not None:
        return name in former or accepts_keyword(function.__wrapped__, name)
    try:
        own = inspect.signature(function, follow_wrapped=False).parameters.values()
        wrapped = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == name or p.kind is inspect.Parameter.VAR_KEYWORD for p in [*own, *wrapped])


def from_annotation(annotation: object, function: object, receiver: type | None) -> Value:
    """Return the value with an annotation in one of this package's functions."""
    if not isinstance(annotation, str):
        return value_of_instance(annotation) if isinstance(annotation, type) else UNKNOWN
    try:
        tree = ast.parse(annotation or "None", mode="eval").body
    except SyntaxError:
        return UNKNOWN
    return _from_tree(tree, function, receiver)


def _from_tree(tree: ast.expr, function: object, receiver: type | None) -> Value:
    if isinstance(tree, ast.BinOp):
        left = _from_tree(tree.left, function, receiver)
        return left if left != UNKNOWN else _from_tree(tree.right, function, receiver)
    if isinstance(tree, ast.Subscript) and ast.unparse(tree.value) in _ANNOTATED_WITH:
        inner = tree.slice
        choices = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        known = (_from_tree(choice, function, receiver) for choice in choices)
        return next((value for value in known if value != UNKNOWN), UNKNOWN)
    if isinstance(tree, ast.Subscript):
        tree = tree.value
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return from_annotation(tree.value, function, receiver)
    if not isinstance(tree, ast.Name | ast.Attribute):
        return UNKNOWN
    name = ast.unparse(tree)
    if name == "Self" and receiver is not None:
        return InstanceValue(receiver)
    return PLAIN if name in _PLAIN else value_of_instance(_class_named(name, function, receiver))


def value_of_instance(cls: object) -> Value:
    """Return the value of an object of any class."""
    if isinstance(cls, type) and cls.__module__.startswith(OURS):
        return InstanceValue(cls)
    return PLAIN if isinstance(cls, type) and cls.__name__ in _PLAIN else UNKNOWN


def _class_named(name: str, function: Any, receiver: type | None) -> Any:
    first, *rest = name.split(".")
    known = getattr(inspect.unwrap(function), "__globals__", {})
    found = known.get(first) or _classes().get(first) or getattr(receiver, first, None)
    for part in rest:
        found = getattr(found, part, None)
    return found


class _Returned:
    """Reads off a function's code what it returns: an object that it makes, or itself."""

    def __init__(self, function: Any, receiver: type | None, arguments: Sequence[Value]) -> None:
        self._function, self._receiver, self._arguments = function, receiver, arguments
        names = list(inspect.signature(inspect.unwrap(function)).parameters)
        self._parameters = names if receiver is None else names[1:]
        self._locals: dict[str, Value] = {}

    def of(self, body: list[ast.stmt]) -> Value:
        """Return the value that some statements return."""
        for statement in body:
            if isinstance(statement, ast.If) and self._is_met(statement.test):
                return self.of(statement.body)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self._locals[statement.targets[0].id] = self._value(statement.value)
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self._value(statement.value)
        return UNKNOWN

    def _is_met(self, test: ast.expr) -> bool:
        """True for a condition that holds: a test for an argument, or for its class."""
        given = dict(zip(self._parameters, self._arguments, strict=False))
        if isinstance(test, ast.Name):
            return test.id in given
        if isinstance(test, ast.Compare) and ast.unparse(test).endswith(" is None"):
            return ast.unparse(test.left) not in given
        if not isinstance(test, ast.Call) or ast.unparse(test.func) != "isinstance":
            return False
        value = given.get(ast.unparse(test.args[0]))
        cls = _class_named(ast.unparse(test.args[1]), self._function, self._receiver)
        return isinstance(value, InstanceValue) and issubclass(value.cls, cls)

    def _value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Name):
            if node.id == "self" and self._receiver is not None:
                return InstanceValue(self._receiver)
            return self._locals.get(node.id, UNKNOWN)
        if not isinstance(node, ast.Call):
            return UNKNOWN
        if isinstance(node.func, ast.Name):
            made = _class_named(node.func.id, self._function, self._receiver)
            return returned(made, None) if inspect.isfunction(made) else value_of_instance(made)
        return self._of_own_method(node.func) if isinstance(node.func, ast.Attribute) else UNKNOWN

    def _of_own_method(self, called: ast.Attribute) -> Value:
        if self._receiver is None:
            return UNKNOWN
        owners = self._receiver.__mro__
        if ast.unparse(called.value) == "super()":
            declared = (i for i, c in enumerate(owners) if self._function in c.__dict__.values())
            owners = owners[next(declared, 0) + 1 :]
        elif ast.unparse(called.value) != "self":
            return UNKNOWN
        method = next((c.__dict__[called.attr] for c in owners if called.attr in c.__dict__), None)
        if not inspect.isfunction(method):
            return UNKNOWN
        return returned(method, self._receiver, self._arguments)


@functools.cache
def _assigned(cls: type) -> frozenset[str]:
    """Return the attributes that a class's own code gives to objects."""
    return frozenset(
        node.attr
        for node in _nodes(cls)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) == "self"
    ) | frozenset(inspect.get_annotations(cls))


@functools.cache
def _nodes(thing: Any) -> tuple[ast.AST, ...]:
    try:
        return tuple(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(thing)))))
    except (OSError, TypeError, SyntaxError):
        return ()


@functools.cache
def _is_exported(module_name: str, qualified_name: str) -> bool:
    """True if a package of the mirror exports a class, or the class around it."""
    name = qualified_name.partition(".")[0]
    parts = module_name.split(".")
    packages = (".".join(parts[:end]) for end in range(2, len(parts) + 1))
    return any(name in getattr(importlib.import_module(p), "__all__", ()) for p in packages)


@functools.cache
def _classes() -> dict[str, type]:
    """Return all public classes of the mirror by their plain names."""
    found: dict[str, type] = {}
    for top in _MIRRORED:
        package = importlib.import_module(f"{OURS}.{top}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, thing in vars(importlib.import_module(info.name)).items():
                if isinstance(thing, type) and thing.__module__.startswith(OURS):
                    found.setdefault(name, thing)
    return found
