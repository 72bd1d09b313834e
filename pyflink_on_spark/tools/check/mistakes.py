"""Mistakes that are also mistakes on PyFlink, and names that are absent here."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._compat.import_hook import OF_THE_JVM
from pyflink_on_spark._compat.unsupported import Gap
from pyflink_on_spark.tools.check import mirror
from pyflink_on_spark.tools.check.values import CallableValue, ClassValue, LocalFunction, Value
from pyflink_on_spark.tools.check.verdict import Status, Verdict

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Methods of users' functions whose results are iterated. Others may return None.
_ITERATED = {
    ("FlatMapFunction", "flat_map"),
    ("KeyedProcessFunction", "on_timer"),
    ("KeyedCoProcessFunction", "on_timer"),
    ("KeyedBroadcastProcessFunction", "on_timer"),
    ("WindowFunction", "apply"),
    ("AllWindowFunction", "apply"),
    ("ProcessWindowFunction", "process"),
    ("ProcessAllWindowFunction", "process"),
}
_MAY_BE_NONE = ("None", "Optional", "Any", "object")
TABLE = Verdict(
    Status.NOT_YET,
    "this part of the Table API is not in this package yet",
    "Use what there is of it, or a DataStream.",
)
_JAVA = Verdict(
    Status.NEVER,
    f"{Gap.NEVER.value}",
    "Use the methods of the Python objects; what was written in Java has to be written in Python.",
)
_NO_MODULE = Verdict(
    Status.NOT_YET,
    "this package has no such module yet",
    "Read or write files, or a collection, until it has.",
)
_FOREIGN = Verdict(
    Status.UNKNOWN,
    "this package has no such module; check that PyFlink has it",
    "Leave it out, or run this part on Flink.",
)
_CONFIGURED_JAR = Verdict(
    Status.DIFFERS,
    "No jar is needed: the connectors of this package are Python.",
    "Drop it.",
)
_JAR = re.compile(r"(?:^|[/\\])?([\w.\-{}$*]+\.jar)\b")


def mistakes_in_call(
    called: CallableValue | ClassValue, node: ast.Call, arguments: list[Value]
) -> Iterator[tuple[str, Verdict]]:
    """Yield the mistakes in a call of PyFlink: its name, and the verdict.

    Args:
        called: what is called.
        node: the call.
        arguments: what is known of the arguments that are given by their place.
    """
    function, name = _function_of(called)
    signature = _signature(function, bound=_is_bound(called))
    if signature is None:
        return
    unpacked = any(isinstance(a, ast.Starred) for a in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    )
    if not unpacked:
        yield from _wrong_number(name, signature, node)
    parameters = list(signature.parameters.values())
    for argument, parameter in zip(node.args, parameters, strict=False):
        if isinstance(argument, ast.Starred) or parameter.kind is parameter.VAR_POSITIONAL:
            break
        yield from _wrong_none(name, parameter, argument)
    for keyword in node.keywords:
        named = signature.parameters.get(keyword.arg or "")
        if named is not None:
            yield from _wrong_none(name, named, keyword.value)
    for argument, parameter, value in zip(node.args, parameters, arguments, strict=False):
        yield from _wrong_function(name, parameter, argument, value, function)


def mistakes_in_method(
    method: ast.FunctionDef | ast.AsyncFunctionDef, base: type
) -> Iterator[tuple[str, Verdict]]:
    """Yield the mistakes in a method that overrides one of PyFlink's.

    Args:
        method: the script's.
        base: the class of PyFlink's that declares it first.
    """
    if method.name == "__init__":
        return  # a constructor is the script's own
    name = f"{base.__name__}.{method.name}"
    signature = _signature(base.__dict__[method.name], bound=True)
    if signature is not None and any(
        p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()
    ):
        signature = None
    plain = not method.decorator_list and method.args.vararg is None
    if signature is not None and plain:
        wanted = len(signature.parameters)
        least, most = _accepted(method)
        if not least - 1 <= wanted <= most - 1:
            yield (
                name,
                _wrong(
                    f"it is called with {_arguments(wanted)}, and this one takes {least - 1}",
                    f"Write def {method.name}(self, {', '.join(signature.parameters)}).",
                ),
            )
    if (base.__name__, method.name) in _ITERATED and _gives_nothing(method):
        yield name, _GIVES_NOTHING


def _function_of(called: CallableValue | ClassValue) -> tuple[object, str]:
    if isinstance(called, ClassValue):
        return called.cls.__init__, called.cls.__qualname__  # type: ignore[misc]
    function = inspect.unwrap(called.function)
    owner = called.receiver
    return function, f"{owner.__qualname__}.{function.__name__}" if owner else function.__name__


def _is_bound(called: CallableValue | ClassValue) -> bool:
    if isinstance(called, ClassValue):
        return True
    function, owner = called.function, called.receiver
    if owner is None:
        return False
    found = mirror.find_member(owner, getattr(inspect.unwrap(function), "__name__", ""))
    return found is None or not isinstance(found[1], staticmethod)


def _signature(function: Any, *, bound: bool) -> inspect.Signature | None:
    """Return the signature of a function of this package, without ``self``; None if unknown."""
    if not inspect.isfunction(inspect.unwrap(function)):
        return None
    return _known_signature(function, bound)


@functools.cache
def _known_signature(function: Any, bound: bool) -> inspect.Signature:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    return signature.replace(parameters=parameters[1:] if bound else parameters)


def _wrong_number(
    name: str, signature: inspect.Signature, node: ast.Call
) -> Iterator[tuple[str, Verdict]]:
    parameters = signature.parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return
    most = sum(p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD} for p in parameters)
    if len(node.args) > most:
        reason = f"it takes {_arguments(most)} at most, and gets {len(node.args)}"
        yield name, _wrong(reason, "Leave some out.")
        return
    given = {keyword.arg for keyword in node.keywords}
    required = [
        p.name
        for p in list(parameters)[len(node.args) :]
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    ]
    missing = [name for name in required if name not in given]
    # An argument may be given by the name that it has in another release.
    if len(missing) > len(given - set(signature.parameters)):
        yield name, _wrong(f"it needs {', '.join(missing)}", "Say what it is.")


def _wrong_none(
    name: str, parameter: inspect.Parameter, argument: ast.expr
) -> Iterator[tuple[str, Verdict]]:
    if not _is_none(argument):
        return
    annotation = parameter.annotation
    known = isinstance(annotation, str) and parameter.annotation is not parameter.empty
    if not known or parameter.default is None or any(t in annotation for t in _MAY_BE_NONE):
        return
    yield name, _wrong(f"{parameter.name} cannot be None", f"Give it a {annotation}.")


def _wrong_function(
    name: str, parameter: inspect.Parameter, argument: ast.expr, value: Value, function: object
) -> Iterator[tuple[str, Verdict]]:
    """Look at a function of the script's that stands for one of PyFlink's function classes."""
    given: _Function | None = argument if isinstance(argument, ast.Lambda) else None
    if isinstance(value, LocalFunction):
        given = value.node if value.bound is None else None
    kind = _function_class(parameter, function)
    if given is None or kind is None:
        return
    method, wanted = kind
    least, most = _accepted(given)
    if not least <= wanted <= most:
        yield (
            name,
            _wrong(
                f"it calls {parameter.name} with {_arguments(wanted)}, and this one takes {least}",
                "Change its parameters.",
            ),
        )
    elif method == "flat_map" and _gives_nothing(given):
        yield name, _GIVES_NOTHING


def _function_class(parameter: inspect.Parameter, function: Any) -> tuple[str, int] | None:
    """Return the method that a callable stands for, and how many arguments that has."""
    annotation = parameter.annotation
    if not isinstance(annotation, str) or "Callable" not in annotation:
        return None
    names = [part.strip() for part in annotation.split("|") if part.strip() != "Callable"]
    cls = inspect.unwrap(function).__globals__.get(names[0]) if len(names) == 1 else None
    own = list(getattr(cls, "__abstractmethods__", ()))
    if len(own) != 1:
        return None
    return own[0], len(inspect.signature(getattr(cls, own[0])).parameters) - 1


def _accepted(function: _Function) -> tuple[int, float]:
    """Return how many arguments a function of the script's takes by their place."""
    arguments = function.args
    named = len(arguments.posonlyargs) + len(arguments.args)
    most = float("inf") if arguments.vararg is not None else named
    return named - len(arguments.defaults), most


def _gives_nothing(function: _Function) -> bool:
    """Return whether a function surely returns None: it has neither a result nor a ``yield``."""
    if isinstance(function, ast.Lambda):
        return _is_none(function.body)
    nodes = list(_own_nodes(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Raise) for node in nodes):
        return False
    if any(isinstance(node, ast.Return) and not _is_none(node.value) for node in nodes):
        return False
    # A body of nothing but ``pass`` stands for a method that is never called.
    return any(isinstance(node, ast.Call | ast.Assign | ast.AugAssign) for node in nodes)


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of the functions inside."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, _Function | ast.ClassDef):
            yield from _own_nodes(node)


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _wrong(reason: str, advice: str) -> Verdict:
    return Verdict(Status.WRONG, reason, advice)


_GIVES_NOTHING = _wrong(
    "its results are iterated, and this one returns None", "Let it yield, or return a list."
)


def verdict_on_module(name: str) -> Verdict:
    """Return the verdict on a module that this package does not have."""
    parts = name.split(".")
    if "table" in parts[1:2]:
        return TABLE
    if OF_THE_JVM & {*parts[1:2]} or any(part.startswith("_") for part in parts):
        return _JAVA
    return _NO_MODULE if parts[1:2] == ["datastream"] else _FOREIGN


def verdict_on_java_access() -> Verdict:
    """Return the verdict on the attributes where PyFlink keeps its Java objects."""
    return _JAVA


def verdict_on_name(module: str, name: str) -> Verdict:
    """Return the verdict on a name that a module or class of this package does not have."""
    if module.split(".")[1:2] == ["table"]:
        return TABLE
    return Verdict(
        Status.UNKNOWN,
        f"{module} has no {name} here: it is missing in PyFlink too, or not supported yet",
        "Check its spelling against PyFlink's documentation.",
    )


def jars_in(text: str) -> list[tuple[str, Verdict]]:
    """Return the jars that a text of the script names."""
    return [(jar, _CONFIGURED_JAR) for jar in _JAR.findall(text)]
