"""A DataStream program as data: generated, rendered, shrunk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

Line = str | list[Any]
"""A line of source, or a block: its header and what is indented below."""

TOTAL, BY_FIRST, ANY = "total", "first", "any"
"""How far an output's order is fixed: wholly, among elements of one first field, not at all."""


@dataclass(frozen=True)
class Step:
    """A call that makes a stream: ``name = of.method(*args, **options)``, all of it source."""

    name: str
    of: str
    method: str
    args: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A method of a class: its parameters and the lines of its body."""

    parameters: str
    body: tuple[Line, ...]


@dataclass(frozen=True)
class ClassDefinition:
    """A class of the program, with the class that it extends."""

    base: str
    methods: dict[str, Method]


@dataclass(frozen=True)
class Output:
    """A stream that is looked at; ``how`` is ``collect`` or ``print``."""

    stream: str
    how: str = "collect"
    order: str = TOTAL


@dataclass(frozen=True)
class Program:
    """A program.

    Args:
        seed: what it was made from.
        mode: the name of a runtime mode.
        parallelism: of the environment.
        settings: of the configuration.
        constants: source by name, at the module's level.
        classes: by name.
        steps: in the order in which they are called.
        outputs: one to collect, or any number to print.
    """

    seed: int
    mode: str = "STREAMING"
    parallelism: int = 1
    settings: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    classes: dict[str, ClassDefinition] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    outputs: tuple[Output, ...] = ()

    def to_json(self) -> str:
        """Return the program as one line."""
        return json.dumps(_without_defaults(asdict(self)), ensure_ascii=False)

    def with_(self, **changes: Any) -> Program:
        """Return a copy with other fields."""
        return replace(self, **changes)


def from_json(text: str) -> Program:
    """Return the program that ``to_json`` wrote."""
    data = json.loads(text)
    data["steps"] = tuple(_step(step) for step in data.get("steps", ()))
    data["outputs"] = tuple(Output(**output) for output in data.get("outputs", ()))
    data["classes"] = {name: _class(found) for name, found in data.get("classes", {}).items()}
    return Program(**data)


def lines(body: Iterable[Line], indent: str = "") -> list[str]:
    """Return a body as indented lines of source."""
    written: list[str] = []
    for line in body:
        if isinstance(line, str):
            written.append(indent + line)
        else:
            header, *rest = line
            assert isinstance(header, str)
            written.append(indent + header)
            written += lines(rest, indent + "    ")
    return written


def _step(data: dict[str, Any]) -> Step:
    return Step(**{**data, "args": tuple(data.get("args", ()))})


def _class(data: dict[str, Any]) -> ClassDefinition:
    methods = {
        name: Method(method["parameters"], tuple(method["body"]))
        for name, method in data["methods"].items()
    }
    return ClassDefinition(data["base"], methods)


def _without_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is empty: it is what the constructors assume."""
    kept = {key: value for key, value in data.items() if value not in ({}, (), [])}
    if "steps" in kept:
        kept["steps"] = [{k: v for k, v in s.items() if v not in ({}, ())} for s in data["steps"]]
    return kept
