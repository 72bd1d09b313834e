"""Findings, and verdicts on names of PyFlink's API, read from the package itself."""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, marker_of
from pyflink_on_spark.tools.check import mirror

_MARKER = "raise_unsupported"
_NOTHING: Mapping[str, object] = {}
_DEVIATION = re.compile(r"On Spark:\s*(.*?)(?=\n\s*\n|\n\s*[A-Z]\w+:|\Z)", re.DOTALL)
Refusal = tuple[bool, Gap, str, str]


class Status(enum.Enum):
    """The status of a use of PyFlink on Spark; the worst last."""

    WORKS = "works"
    DIFFERS = "differs"
    MISSING = "not installed"
    NOT_YET = "not yet"
    NEVER = "never"
    WRONG = "wrong"
    UNKNOWN = "unknown"

    @property
    def runs(self) -> bool:
        """True if a script with this verdict can run."""
        return self in {Status.WORKS, Status.DIFFERS, Status.MISSING}


_STATUS = {Gap.NOT_YET: Status.NOT_YET, Gap.NEVER: Status.NEVER}


@dataclass(frozen=True)
class Verdict:
    """A status and why.

    Args:
        status: how it fares.
        reason: why, as a sentence; empty if it simply works.
        advice: what to do; empty if there is nothing to do.
    """

    status: Status
    reason: str = ""
    advice: str = ""


WORKS = Verdict(Status.WORKS)


def judge(thing: object) -> Verdict:
    """Return the verdict on a class, function, method or marker of this package."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    marker = marker_of(thing)
    if marker is not None:
        return _gap(marker.kind, marker.reason, marker.instead)
    if isinstance(thing, property):
        thing = thing.fget
    if isinstance(thing, type):
        return _judge_class(thing)
    return _judge_callable(thing) if inspect.isfunction(thing) else _noted(thing)


def deviations(docstring: str | None) -> list[str]:
    """Return the texts of the ``On Spark:`` sections of a docstring."""
    found = _DEVIATION.findall(inspect.cleandoc(docstring or ""))
    return [" ".join(text.split()) for text in found]


@functools.cache
def _judge_class(cls: type) -> Verdict:
    verdict = judge(cls.__dict__.get("__init__"))
    return _noted(cls) if verdict.status.runs else verdict


@functools.cache
def _judge_callable(function: object) -> Verdict:
    refusals = list(_refusals(function))
    always = [refusal for refusal in refusals if refusal[0]]
    if always:
        return _gap(*always[0][1:])
    noted = _noted(function)
    if refusals and noted is WORKS:
        _, kind, reason, instead = refusals[0]
        return Verdict(Status.DIFFERS, f"some uses are {kind.value}: {reason}", instead)
    return noted


def _noted(thing: object) -> Verdict:
    notes = deviations(getattr(thing, "__doc__", None))
    if not notes:
        return WORKS
    return Verdict(Status.DIFFERS, " ".join(map(_sentence, notes)))


def _gap(kind: Gap, reason: str, instead: str) -> Verdict:
    return Verdict(_STATUS[kind], f"{kind.value}: {reason}", instead)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _refusals(function: Any, given: Mapping[str, object] = _NOTHING) -> Iterator[Refusal]:
    """Yield the places of a function's own code that raise the marker's error.

    Each is: whether every call comes there, and the marker's kind, reason and way out.

    Args:
        function: the function.
        given: the arguments that it is called with, by name.
    """
    function = inspect.unwrap(function) if callable(function) else None
    definition = _definition(function)
    if definition is None:
        return
    at_top = {id(statement) for statement in definition.body}
    for statement in ast.walk(definition):
        if isinstance(statement, ast.Expr | ast.Return) and isinstance(statement.value, ast.Call):
            defaults = function.__kwdefaults__ or {}
            told = _told(statement.value, {**function.__globals__, **defaults, **given})
            if told is not None:
                yield (id(statement) in at_top, *told)


def _told(call: ast.Call, names: dict[str, Any]) -> tuple[Gap, str, str] | None:
    if not isinstance(call.func, ast.Name):
        return None
    if call.func.id != _MARKER:
        given = {named.arg: _text_of(named.value, names) for named in call.keywords if named.arg}
        return _told_by(names.get(call.func.id) or mirror.class_by_name(call.func.id), given)
    told: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            told |= names.get(ast.unparse(keyword.value), {})
        else:
            told[keyword.arg] = _text_of(keyword.value, names)
    return told["kind"], told["reason"], told["instead"]


def _told_by(helper: object, given: Mapping[str, object]) -> tuple[Gap, str, str] | None:
    """Return the message of a function or class that always raises."""
    if isinstance(helper, type):
        refusals = _refusals(helper.__dict__.get("__init__"))
        return next((refusal[1:] for refusal in refusals if refusal[0]), None)
    if not inspect.isfunction(helper) or helper.__annotations__.get("return") != "NoReturn":
        return None
    return next((refusal[1:] for refusal in _refusals(helper, given) if refusal[0]), None)


def _text_of(node: ast.expr, names: dict[str, object]) -> object:
    if isinstance(node, ast.Attribute):
        return Gap.__members__.get(node.attr, "")
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values
        )
    return ast.literal_eval(node) if isinstance(node, ast.Constant) else ""


@functools.cache
def _definition(function: object) -> ast.FunctionDef | None:
    if not inspect.isfunction(function):
        return None
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except OSError:
        return None
    node = ast.parse(source).body[0]
    return node if isinstance(node, ast.FunctionDef) else None


@dataclass
class Use:
    """One name of PyFlink's that a script uses.

    Args:
        name: the name, for example ``DataStream.map``.
        verdict: how it fares on Spark.
        lines: where it is used, from 1.
        called: whether it is used when the script is run, as far as can be seen.
    """

    name: str
    verdict: Verdict
    lines: list[int] = field(default_factory=list)
    called: bool = False


class Findings:
    """The uses of PyFlink in one script.

    Attributes:
        path: the script's file.
        called: whether what is added now is used when the script is run.
        own_modules: the files beside the script that it imports.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.called = True
        self.own_modules: list[Path] = []
        self._uses: dict[tuple[str, Verdict], Use] = {}

    def add(self, name: str, verdict: Verdict, line: int) -> None:
        """Note a use."""
        use = self._uses.setdefault((name, verdict), Use(name, verdict))
        use.called = use.called or self.called
        if line not in use.lines:
            use.lines.append(line)
            use.lines.sort()

    def has(self, name: str) -> bool:
        """True if a use of a name has been noted."""
        return any(name == known for known, _ in self._uses)

    @property
    def uses(self) -> list[Use]:
        """All uses, in the order of the first line of each."""
        return sorted(self._uses.values(), key=lambda use: (use.lines[0], use.name))

    @property
    def runs(self) -> bool:
        """True if nothing prevents the script from running."""
        return all(use.verdict.status.runs for use in self.uses if use.called)

    def count(self, status: Status) -> int:
        """Return how many names have a status."""
        return sum(use.verdict.status is status for use in self.uses)
