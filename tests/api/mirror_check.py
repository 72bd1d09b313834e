"""Compares this package with the public names of PyFlink 1.13 to 2.3.

``pyflink_names.json`` has them, by the module that defines them: their kinds, the constructors' and
functions' parameters (``name=default``), the modules that they can also be imported from, the
classes they inherit from, the values of constants.
"""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import importlib.util
import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pyflink_on_spark._compat.import_hook import PyFlinkFinder

NAMES_FILE = Path(__file__).with_name("pyflink_names.json")
ABSENT = object()

Entry = dict[str, Any]


def known_names() -> dict[str, dict[str, Entry]]:
    """Return the entries by module and name."""
    return json.loads(NAMES_FILE.read_text(encoding="utf-8"))


def problems(module: str, name: str, entry: Entry) -> Iterator[str]:
    """Yield the problems with a name of this package."""
    top, _, inner = name.partition(".")
    homes = [*([] if entry.get("not_here") else [module]), *entry.get("also_in", ())]
    found = [_import(home, top) for home in homes]
    for home, thing in zip(homes, found):
        if thing is ABSENT:
            yield f"{top} cannot be imported from {home}"
        elif thing is not found[0] and thing != found[0]:
            yield f"{home}.{top} is not {homes[0]}.{top}"
    if ABSENT in found:
        return
    declared, owner = _declared(found[0], inner)
    if declared is not ABSENT:
        yield from _mismatches(declared, owner, entry)
    elif not (entry.get("instance") and _is_assigned(owner, inner.rpartition(".")[2])):
        yield f"{owner.__qualname__} has no {inner.rpartition('.')[2]}"


def _import(module: str, name: str) -> Any:
    if module == "pyflink":  # the only module whose names are not all those of ours
        return getattr(_package(), name, ABSENT)
    try:
        return getattr(importlib.import_module(ours(module)), name, ABSENT)
    except ModuleNotFoundError:
        return ABSENT


@functools.cache
def _package() -> ModuleType:
    spec = PyFlinkFinder().find_spec("pyflink", None)
    assert spec is not None
    return importlib.util.module_from_spec(spec)


def ours(module: str) -> str:
    """Return the name of the module that stands for one of PyFlink's."""
    return "pyflink_on_spark" + module.removeprefix("pyflink")


def _declared(thing: Any, path: str) -> tuple[Any, Any]:
    """Return the member of a class under a path of names, unbound, and the class itself."""
    owner = thing
    for name in filter(None, path.split(".")):
        owner = thing
        thing = owner.__members__[name] if _is_member(owner, name) else find(owner, name)
        if thing is ABSENT:
            break
    return thing, owner


def _is_member(owner: Any, name: str) -> bool:
    return inspect.isclass(owner) and issubclass(owner, enum.Enum) and name in owner.__members__


def find(cls: type, name: str) -> Any:
    """Return the member of a class or of one of its bases, unbound."""
    return next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), ABSENT)


def _mismatches(thing: Any, owner: Any, entry: Entry) -> Iterator[str]:
    kind = entry["kind"]
    if "is" in entry:
        module, _, name = entry["is"].rpartition(".")
        if thing is not _import(module, name):
            yield f"it is not {entry['is']}"
    if kind == "class":
        yield from _class_mismatches(thing, entry)
    elif kind in {"method", "function", "staticmethod", "classmethod"}:
        yield from _function_mismatches(thing, entry)
    elif kind == "enum_value" and not isinstance(thing, enum.Enum):
        yield "it is not a member of an enum"
    elif "value" in entry and not isinstance(thing, property):
        value = thing.value if kind == "enum_value" else thing
        if written(value) != entry["value"]:
            yield f"its value is {written(value)}, not {entry['value']}"


def _class_mismatches(cls: Any, entry: Entry) -> Iterator[str]:
    if not inspect.isclass(cls):
        yield "it is not a class"
        return
    if entry.get("enum") and not issubclass(cls, enum.Enum):
        yield "it is not an enum"
    if "parameters" in entry:
        yield from differences(entry["parameters"], constructor(cls))
    for base in entry.get("bases", ()):
        for name, inherited in _members_of(base):
            missing = find(cls, name) is ABSENT
            if missing and not (inherited.get("instance") and _is_assigned(cls, name)):
                yield f"it has no {name}, which {base} has"


def _members_of(cls: str) -> Iterator[tuple[str, Entry]]:
    for module, entries in known_names().items():
        if cls.startswith(f"{module}."):
            prefix = cls.removeprefix(f"{module}.") + "."
            for name, entry in entries.items():
                if name.startswith(prefix) and "." not in name.removeprefix(prefix):
                    yield name.removeprefix(prefix), entry


def constructor(cls: type) -> list[str]:
    """Return the parameters of a class's constructor."""
    for base in cls.__mro__[:-1]:
        for name in ("__init__", "__new__"):
            function = base.__dict__.get(name)
            function = getattr(function, "__func__", function)
            function = getattr(function, "__wrapped__", function)
            if inspect.isfunction(function) and base.__module__ != "typing":
                return parameters(function)[1:]
    return []


def _function_mismatches(thing: Any, entry: Entry) -> Iterator[str]:
    is_static = isinstance(thing, staticmethod)
    function = thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing
    bound = isinstance(thing, staticmethod | classmethod)
    if inspect.isclass(function) or not callable(function):
        yield "it cannot be called"
    elif entry["kind"] == "method" and bound:
        yield "it is not a method of objects"
    elif entry["kind"] in {"staticmethod", "classmethod"} and not bound:
        yield "it is a method of objects"
    else:
        drop = 0 if is_static or entry["kind"] == "function" else 1
        yield from differences(entry["parameters"], parameters(function)[drop:])
        if entry.get("async") and not _is_async(function):
            yield "it is not async"


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def parameters(function: Any) -> list[str]:
    """Return a function's parameters as ``name=default``."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        stars.get(parameter.kind, "")
        + parameter.name
        + ("" if parameter.default is parameter.empty else f"={written(parameter.default)}")
        for parameter in inspect.signature(function).parameters.values()
    ]


def differences(wanted: list[str], given: list[str]) -> Iterator[str]:
    """Yield where parameters differ; further ones may follow if they have defaults."""
    for index, parameter in enumerate(wanted):
        if index >= len(given):
            yield f"it lacks the parameter {parameter}"
        elif given[index] != parameter:
            yield f"its parameter {index + 1} is {given[index]}, not {parameter}"
            return
    for parameter in given[len(wanted) :]:
        if "=" not in parameter and not parameter.startswith("**"):
            yield f"it has one more parameter, {parameter}"


def written(value: Any) -> str:
    """Return how the file writes a value."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    plain = value is None or isinstance(value, bool | int | float | str | bytes | tuple | list)
    return repr(value) if plain else f"<{type(value).__qualname__} object>"


@functools.cache
def _assigned_in(cls: type) -> frozenset[str]:
    """Return the names that a class's own code assigns on its objects."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return frozenset(
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) == "self"
    )


def _is_assigned(cls: Any, name: str) -> bool:
    return any(
        name in _assigned_in(base) or name in getattr(base, "__annotations__", {})
        for base in cls.__mro__
        if base.__module__.startswith("pyflink_on_spark")
    )
