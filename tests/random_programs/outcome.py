"""The outcome of a program, as text that both engines write alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.random_programs.program import ANY, BY_FIRST, TOTAL, Output
from tests.random_programs.rendering import FILE_NAME

USER, ENGINE, BUILD, HANGS = "user", "engine", "build", "hangs"


@dataclass(frozen=True)
class Failure:
    """How a program failed.

    Args:
        by: who raised the error: the program's own code, the engine, the engine while the program
            was built; or nobody, if the job hung.
        error: the last line of the traceback, or what there is of it.
    """

    by: str
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """The results of each output in their order, or how the program failed."""

    results: tuple[tuple[str, ...], ...] = ()
    failure: Failure | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        if self.failure is not None:
            return {"failure": asdict(self.failure)}
        return {"results": [list(result) for result in self.results]}


@dataclass(frozen=True)
class Reading:
    """The differences that do not count when outcomes are compared.

    Args:
        any_subtask: the number of the subtask before a printed line.
        any_order: the order of results, even where it is fixed.
    """

    any_subtask: bool = False
    any_order: bool = field(default=False)


def from_data(data: dict[str, Any]) -> Outcome:
    """Return the outcome that ``to_data`` wrote."""
    if "failure" in data:
        return Outcome(failure=Failure(**data["failure"]))
    return Outcome(tuple(tuple(result) for result in data["results"]))


def canonical(value: Any) -> str:
    """Return a value as text that shows its types and does not depend on the order of a map."""
    kind = type(value).__name__
    if kind == "Row":
        return _row(value)
    if kind in {"tuple", "list"}:
        inner = ", ".join(map(canonical, value))
        return f"({inner},)" if kind == "tuple" else f"[{inner}]"
    if kind in {"set", "frozenset"}:
        return f"{kind}{{{', '.join(sorted(map(canonical, value)))}}}"
    if kind == "dict":
        pairs = sorted(f"{canonical(k)}: {canonical(v)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if kind in {"int", "float", "str", "bool", "bytes", "NoneType", "date", "datetime", "time"}:
        return _anywhere(repr(value).removeprefix("datetime."))
    return f"{kind}:{_anywhere(repr(value))}"


def _anywhere(text: str) -> str:
    """Return a text without addresses, and without the name of this project's package."""
    return re.sub(r" at 0x[0-9a-f]+", "", text).replace("pyflink_on_spark.", "pyflink.")


def difference(
    outputs: Iterable[Output], expected: Outcome, found: Outcome, reading: Reading | None = None
) -> str | None:
    """Say in a line how an outcome differs from the expected one; None if it does not."""
    reading = reading or Reading()
    if expected.failure is not None or found.failure is not None:
        return _failures(expected.failure, found.failure)
    for output, one, other in zip(outputs, expected.results, found.results):
        one, other = (_read(results, reading) for results in (one, other))
        order = ANY if reading.any_order else output.order
        difference = _elements(one, other, order)
        if difference is not None:
            return f"{output.stream}: {difference}"
    return None


def _failures(expected: Failure | None, found: Failure | None) -> str | None:
    if expected is None:
        assert found is not None
        return f"fails ({found.by}): {found.error}"
    if found is None:
        return f"does not fail ({expected.by}): {expected.error}"
    if USER not in {expected.by, found.by}:
        if (expected.by == HANGS) != (found.by == HANGS):
            return f"{found.by} in place of {expected.by}"
        return None  # the engines' own words differ
    if expected.error == found.error:
        return None  # an error of a Row is raised by the engine's code and the program's fault
    return f"fails ({found.by}) with {found.error!r} in place of {expected.by}: {expected.error!r}"


def _elements(expected: list[str], found: list[str], order: str) -> str | None:
    missing, added = Counter(expected), Counter(found)
    missing, added = missing - added, added - missing
    if missing or added:
        return f"misses {_some(missing)}, has {_some(added)}"
    if order == TOTAL and expected != found:
        return f"the order is {found}, not {expected}"
    if order == BY_FIRST and _by_first(expected) != _by_first(found):
        return f"the order of a key is {_by_first(found)}, not {_by_first(expected)}"
    return None


def _some(counted: Counter[str]) -> str:
    elements = sorted(counted.elements())
    return f"{elements[:4]}{' ...' if len(elements) > 4 else ''}"


def _by_first(elements: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for element in elements:
        groups.setdefault(first_field(element), []).append(element)
    return groups


def first_field(text: str) -> str:
    """Return the text before the first comma that is not in brackets inside a value's own."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 1:
            return text[:place]
    return text


def _read(results: Iterable[str], reading: Reading) -> list[str]:
    if reading.any_subtask:
        return [re.sub(r"^\d+> ", "", result) for result in results]
    return list(results)


def _row(row: Any) -> str:
    kind = str(row.get_row_kind())
    names = getattr(row, "_fields", None)
    values = [canonical(value) for value in row]
    if names:
        values = [f"{name}={value}" for name, value in zip(names, values)]
    return f"{'' if kind == '+I' else kind}Row({', '.join(values)})"


def root_cause(text: str) -> str:
    """Return the line that says why, of an error without a Python traceback."""
    found = text.strip().splitlines()
    causes = [line.removeprefix("Caused by: ") for line in found if line.startswith("Caused by: ")]
    named = [line[2:] for line in found[1:2] if line.startswith(": ")]
    return (causes[-1:] or named or found or [""])[0][:200]


_OWN = "pyflink_on_spark."
"""How the errors of this project begin, whose tracebacks leave its own frames out."""
_TRACEBACK = "Traceback (most recent call last):"
_END = re.compile(r"^(\s+at [\w.$/]+\(|in operator '|while it worked on |Caused by: |\t\.\.\. )")


def failure(text: str) -> Failure:
    """Return the failure that an error's text tells of: that of its first Python traceback."""
    if _TRACEBACK not in text:
        return Failure(ENGINE, root_cause(text))
    last_file, error = "", []
    for line in text.split(_TRACEBACK, 1)[1].splitlines()[1:]:
        if _END.match(line):
            break
        if line.strip() == _TRACEBACK:
            error = []
        elif line.startswith("  File "):
            last_file, error = line, []
        elif error or (line and not line.startswith(" ")):
            error.append(line.rstrip())
    text = "\n".join(error).strip()[:500]
    by = USER if f'"{FILE_NAME}"' in last_file and not text.startswith(_OWN) else ENGINE
    return Failure(by, text)
