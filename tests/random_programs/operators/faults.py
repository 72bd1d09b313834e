"""Things that go wrong: exceptions of every kind in every place, and mistakes in functions."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from tests.random_programs.draft import Draft
from tests.random_programs.program import ClassDefinition, Line, Method, Step

_ERRORS = (
    "ValueError('boom')",
    "ValueError('boom')",
    "KeyError('boom')",
    "RuntimeError()",
    "ArithmeticError('bo', 'om')",
    "AssertionError",
    "AttributeError('boom')",
    "Exception('two\\nlines')",
    "IndexError('boom ☃')",
    "MemoryError('boom')",
    "NotImplementedError('boom')",
    "OSError(2, 'boom')",
    "RecursionError('boom')",
    "StopIteration('boom')",
    "StopAsyncIteration('boom')",
    "TimeoutError('boom')",
    "TypeError('boom')",
    "UnicodeError('boom')",
)
_RESULTS = ("return None", "return 5", "return 'text'", "return [1, 2]", "yield from ()")
_LAMBDA = re.compile(r"lambda ([\w, ]+): (.*)", re.DOTALL)


def add_fault(draft: Draft) -> None:
    """Let something of a program go wrong."""
    rng = draft.rng
    lambdas = [n for n, step in enumerate(draft.steps) if any("lambda" in a for a in step.args)]
    methods = [(c, m) for c, found in draft.classes.items() for m in found.methods]
    if methods and (not lambdas or rng.random() < 0.75):
        class_name, method = rng.choice(methods)
        draft.classes[class_name] = _in_class(rng, draft.classes[class_name], method)
    elif lambdas:
        number = rng.choice(lambdas)
        draft.steps[number] = _in_lambda(rng, draft.steps[number])


def _in_class(rng: Random, found: ClassDefinition, name: str) -> ClassDefinition:
    methods = dict(found.methods)
    kind = rng.random()
    if kind < 0.15:
        methods["close"] = Method("self", (f"raise {rng.choice(_ERRORS)}",))
    elif kind < 0.3:
        opened = methods.get("open", Method("self, runtime_context", ()))
        methods["open"] = _first(opened, f"raise {rng.choice(_ERRORS)}")
    elif kind < 0.75:
        methods[name] = _first(methods[name], _raised(rng, methods[name]))
    elif kind < 0.85:
        methods[name] = replace(methods[name], body=(_result(rng, name),))
    elif kind < 0.92:
        methods[name] = replace(methods[name], parameters=_other(rng, methods[name].parameters))
    else:
        del methods[name]
    return replace(found, methods=methods)


def _raised(rng: Random, method: Method) -> Line:
    raised = f"raise {rng.choice(_ERRORS)}"
    names = [
        n for n in method.parameters.split(", ") if n in {"v", "value", "a", "key", "timestamp"}
    ]
    if not names or rng.random() < 0.3:
        return raised
    return [f"if len(str({rng.choice(names)})) % {rng.choice([2, 3])} == 0:", raised]


def _first(method: Method, line: Line) -> Method:
    return replace(method, body=(line, *method.body))


def _result(rng: Random, method: str) -> str:
    return rng.choice([r for r in _RESULTS if "yield" not in r or "async" not in method])


def _other(rng: Random, parameters: str) -> str:
    names = parameters.split(", ")
    return ", ".join(names[:-1] if len(names) > 1 and rng.random() < 0.5 else [*names, "more"])


def _in_lambda(rng: Random, step: Step) -> Step:
    return replace(step, args=tuple(_raising(rng, argument) for argument in step.args))


def _raising(rng: Random, argument: str) -> str:
    found = _LAMBDA.fullmatch(argument)
    if found is None:
        return argument
    names, body = found.groups()
    first = names.split(", ")[0]
    if rng.random() < 0.2:
        return f"lambda {rng.choice(['', names + ', more'])}: {body}"
    when = f"len(str({first})) % {rng.choice([2, 3])} == 0"
    return f"lambda {names}: fail({rng.choice(_ERRORS)}) if {when} else {body}"
