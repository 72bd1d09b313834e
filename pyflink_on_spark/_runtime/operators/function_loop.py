"""Neighbouring map, flat_map, filter and key selector functions as one loop.

Each function is called in the frame of a generator. So a StopIteration that escapes from one is an
error (PEP 479), where ``map`` and ``filter`` would take it for the end of the input. One generator
for all functions, compiled for just these, is no slower than ``map`` and ``filter`` are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from types import FrameType
from typing import Any

from pyflink_on_spark._compat.own_frames import compiled_file
from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._runtime.elements.immutability import IMMUTABLE_TYPES, copied, is_immutable
from pyflink_on_spark._runtime.elements.keys import PLAIN_KEY_TYPES, wrap_key

_FILE = compiled_file("function loop")
_LINES = "LINES"
_NAMES: dict[str, Any] = {each.__name__: each for each in (copied, is_immutable, wrap_key)} | {
    "IMMUTABLE_TYPES": IMMUTABLE_TYPES,
    "PLAIN_KEY_TYPES": PLAIN_KEY_TYPES,
}
"""The names that all lines may use."""
_MOST_LOOPS = 10
"""How many flat_maps one loop has at most; Python limits how deep loops are nested."""


class FusableOperator(Operator):
    """Calls one function for each element, and does nothing else.

    ``call`` is the function, once the operator is open.
    """

    line: str = ""
    """The operator's line in a loop, with ``{call}``, ``{value}`` and, if any, ``{result}``.

    ``{own}`` is the operator's ``own``. Empty for an operator that is no part of a loop after all,
    which is known once it is open.
    """

    call: Any = None

    own: Any = None
    """The other objects that the line uses, once the operator is open."""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of the function."""
        return _loop([self])(elements)


def processes(operators: Sequence[Operator]) -> list[Process]:
    """Return the functions that process elements in a chain of open operators, in their order."""
    result: list[Process] = []
    for calls_only, group in groupby(operators, _is_one_call):
        neighbours: list[Any] = list(group)
        result += _loops(neighbours) if calls_only else [each.process for each in neighbours]
    return result


def _is_one_call(operator: Operator) -> bool:
    return isinstance(operator, FusableOperator) and operator.line != ""


def step_of(frame: FrameType, line: int) -> tuple[Operator, Any] | None:
    """Return which operator a loop was at, and with which element; None for another frame."""
    if frame.f_code.co_filename != _FILE:
        return None
    operator, value = frame.f_globals[_LINES].get(line, (None, ""))
    return None if operator is None else (operator, frame.f_locals[value])


def _loops(operators: list[FusableOperator]) -> list[Process]:
    result, begin, nested = [], 0, 0
    for index, operator in enumerate(operators):
        nested += operator.line.startswith("for ")
        if nested > _MOST_LOOPS:
            result.append(_loop(operators[begin:index]))
            begin, nested = index, 1
    return [*result, _loop(operators[begin:])]


def _loop(operators: Sequence[FusableOperator]) -> Process:
    """Compile a loop for some functions: as new code, which Python specialises for just these."""
    names = [f"call{index}, own{index}" for index in range(len(operators))]
    source = [f"def bind({', '.join(names)}):", " def loop(elements):", "  for value in elements:"]
    lines: dict[int, tuple[FusableOperator, str]] = {}
    indent, value = " " * 3, "value"
    for index, operator in enumerate(operators):
        result = f"value{index}"
        call, own = f"call{index}", f"own{index}"
        line = operator.line.format(call=call, own=own, value=value, result=result)
        source.append(indent + line)
        lines[len(source)] = operator, value
        if "{result}" in operator.line:
            value = result
        if operator.line.startswith("for "):
            indent += " "
    source += [f"{indent}yield {value}", " return loop"]
    namespace: dict[str, Any] = {_LINES: lines, **_NAMES}
    exec(compile("\n".join(source), _FILE, "exec"), namespace)  # noqa: S102 - see above
    bound = chain.from_iterable((operator.call, operator.own) for operator in operators)
    loop: Process = namespace["bind"](*bound)
    return loop
