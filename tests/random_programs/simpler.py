"""Programs that are a little smaller than a given one."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.random_programs.program import ClassDefinition, Line, Method, Program, Step, lines


def smaller(program: Program) -> Iterator[Program]:
    """Yield smaller programs, the boldest cuts first. Some of them make no sense."""
    seen = {program.to_json()}
    for candidate in _candidates(program):
        made = tidy(candidate)
        text = made.to_json()
        if text not in seen:
            seen.add(text)
            yield made


def tidy(program: Program) -> Program:
    """Return a program without what its outputs do not need."""
    needed = {output.stream for output in program.outputs}
    sides = _words(_text(program.classes.values()))
    steps: list[Step] = []
    for step in reversed(program.steps):
        # what nobody takes of a side output is part of the main output in real PyFlink
        side = step.method == "get_side_output" and step.of in needed and step.args[0] in sides
        if step.name in needed or side:
            steps.insert(0, step)
            needed |= {step.of, *step.args}
    classes: dict[str, ClassDefinition] = {}
    text = " ".join(_source(step) for step in steps)
    constants = _named(program.constants, text + _text(program.classes.values()))
    text += " ".join(constants.values())
    while True:
        found = _named(program.classes, text + _text(classes.values()))
        if found.keys() == classes.keys():
            break
        classes = found
    text += _text(classes.values())
    return replace(
        program, steps=tuple(steps), classes=classes, constants=_named(program.constants, text)
    )


def _candidates(program: Program) -> Iterator[Program]:
    yield from _plainer(program)
    yield from _without_steps(program)
    yield from _with_simpler_calls(program)
    yield from _with_simpler_classes(program)
    for name, source in program.constants.items():
        for simpler in simpler_expressions(source):
            yield replace(program, constants={**program.constants, name: simpler})


def _plainer(program: Program) -> Iterator[Program]:
    for settings in ({}, *({k: v} for k, v in program.settings.items())):
        if len(settings) < len(program.settings):
            yield replace(program, settings=settings)
    if program.parallelism > 1:
        yield replace(program, parallelism=1)
    if program.mode == "AUTOMATIC":
        yield replace(program, mode="BATCH")
    if program.mode != "STREAMING":
        yield replace(program, mode="STREAMING")
    if program.outputs[0].how == "print":
        yield replace(program, outputs=(replace(program.outputs[0], how="collect"),))


def _without_steps(program: Program) -> Iterator[Program]:
    names = {step.name for step in program.steps}
    for step in reversed(program.steps):
        for other in [step.of, *step.args]:
            if other in names:
                yield _rewired(program, step.name, other)


def _rewired(program: Program, old: str, new: str) -> Program:
    def named(name: str) -> str:
        return new if name == old else name

    steps = [
        replace(step, of=named(step.of), args=tuple(named(a) for a in step.args))
        for step in program.steps
        if step.name != old
    ]
    outputs = tuple(replace(o, stream=named(o.stream)) for o in program.outputs)
    return replace(program, steps=tuple(steps), outputs=outputs)


def _with_simpler_calls(program: Program) -> Iterator[Program]:
    for place, step in enumerate(program.steps):
        for simpler in _simpler_calls(step):
            steps = (*program.steps[:place], simpler, *program.steps[place + 1 :])
            yield replace(program, steps=steps)


def _simpler_calls(step: Step) -> Iterator[Step]:
    for option, source in step.options.items():
        rest = {k: v for k, v in step.options.items() if k != option}
        yield replace(step, options=rest)
        for simpler in simpler_expressions(source):
            yield replace(step, options={**step.options, option: simpler})
    for place, source in enumerate(step.args):
        for simpler in simpler_expressions(source):
            yield replace(step, args=(*step.args[:place], simpler, *step.args[place + 1 :]))


def _with_simpler_classes(program: Program) -> Iterator[Program]:
    for name, found in program.classes.items():
        for methods in _simpler_methods(found.methods):
            yield replace(
                program, classes={**program.classes, name: replace(found, methods=methods)}
            )


def _simpler_methods(methods: dict[str, Method]) -> Iterator[dict[str, Method]]:
    for name in methods:
        yield {k: v for k, v in methods.items() if k != name}
    for name, method in methods.items():
        for body in _simpler_bodies(list(method.body)):
            yield {**methods, name: replace(method, body=tuple(body))}


def _simpler_bodies(body: list[Line]) -> Iterator[list[Line]]:
    for place, line in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        if len(body) > 1:
            yield [*before, *after]
        if isinstance(line, list):
            yield [*before, *line[1:], *after]
            for inner in _simpler_bodies(line[1:]):
                yield [*before, [line[0], *inner], *after]
        else:
            for simpler in simpler_statements(line):
                yield [*before, simpler, *after]


def simpler_expressions(source: str) -> Iterator[str]:
    """Yield expressions that are simpler than the given one."""
    yield from _variations(ast.parse(source, mode="eval"))


def simpler_statements(source: str) -> Iterator[str]:
    """Yield lines that are simpler than the given one."""
    function = ast.parse(f"def f():\n    {source}")
    for made in _variations(function):
        yield made.split("\n", 1)[1].strip()


def _variations(tree: ast.AST) -> Iterator[str]:
    """Yield the variations with one node replaced, the largest nodes first."""
    sources: dict[str, None] = {}
    for number, node in enumerate(ast.walk(tree)):
        for choice in range(len(_replacements(node))):
            changed = copy.deepcopy(tree)
            target = next(n for i, n in enumerate(ast.walk(changed)) if i == number)
            new = _replacements(target)[choice]
            made = _Replaces(target, new).visit(changed)
            sources[ast.unparse(ast.fix_missing_locations(made))] = None
    sources.pop(ast.unparse(tree), None)
    yield from sources


class _Replaces(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else self.generic_visit(node)


def _replacements(node: ast.AST) -> list[ast.AST]:
    """Return the simpler replacements of a node."""
    if isinstance(node, ast.Constant):
        return [ast.Constant(value) for value in _smaller_constants(node.value)]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [*_shorter(node), *node.elts]
    if isinstance(node, ast.Dict):
        return [ast.Dict([], [])] if node.keys else []
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BinOp):
        return [ast.Constant(0), node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, (ast.Compare, ast.UnaryOp, ast.Subscript, ast.JoinedStr)):
        return [ast.Constant(0), ast.Constant("a")]
    if isinstance(node, ast.Call):
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*arguments, *inner]
    return []


def _smaller_constants(value: object) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, (int, float)):
        return [v for v in (0, 1, 2) if v != value and abs(v) < abs(value)]
    if isinstance(value, str) and len(value) > 1:
        return ["a", value[: len(value) // 2]]
    return []


def _shorter(node: ast.List | ast.Tuple) -> Iterator[ast.AST]:
    def part(elements: list[ast.expr]) -> ast.AST:
        return type(node)(elts=elements, ctx=ast.Load())

    elements, size = node.elts, len(node.elts)
    if size > 3:
        yield part(elements[: size // 2])
        yield part(elements[size // 2 :])
    for place in range(size):
        yield part([*elements[:place], *elements[place + 1 :]])


def _named(found: dict[str, Any], text: str) -> dict[str, Any]:
    words = _words(text)
    return {name: value for name, value in found.items() if name in words}


def _words(text: str) -> set[str]:
    """Return all words of a text that may be names."""
    return set(re.findall(r"\w+", text))


def _source(step: Step) -> str:
    return " ".join([step.of, *step.args, *step.options.values()])


def _text(classes: Any) -> str:
    found = []
    for definition in classes:
        found.append(definition.base)
        for method in definition.methods.values():
            found += lines(method.body)
    return " " + " ".join(found) + " "
