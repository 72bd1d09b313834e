"""The examples that need no service: how each is run, and what of its output is determined."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_PRICE = r"[1-9]\d|[1-9]\d\d|1000"
_LOOKED_UP = rf"\| +[0-9a-f] \| +(db_value_for_[0-9a-f]|Product [0-9a-f]: \$({_PRICE})) \|"
RECORDED = Path(__file__).with_name("recorded")


def _all(lines: Sequence[str]) -> list[str]:
    """Return all lines: only their order differs from run to run."""
    return sorted(lines)


def _without_plans(lines: Sequence[str]) -> list[str]:
    """Return the lines except those of plans, in which the engines differ."""
    kept: list[str] = []
    in_plan = False
    for line in lines:
        if line.startswith("== "):
            in_plan = True
        elif line.startswith("+--"):
            in_plan = False
        if not in_plan:
            kept.append(line)
    return sorted(kept)


def _any_number(lines: Sequence[str]) -> list[str]:
    """Return the lines with a word in place of each number."""
    return sorted(re.sub(r"-?\d+", "number", line) for line in lines)


def _looked_up(lines: Sequence[str]) -> list[str]:
    """Return the lines of an example whose ids and prices are random.

    Real PyFlink shows results of asynchronous functions beside the ids of other rows.
    """
    return sorted(re.sub(_LOOKED_UP, "| id | result |", line) for line in lines)


def _counts(lines: Sequence[str]) -> list[str]:
    """Return the kinds of lines that count words, which are random, one after the other."""
    counts: dict[str, int] = {}
    kinds = set()
    for line in lines:
        match = re.fullmatch(r"(..)\[(\w+), (\d+)\]", line)
        if match is None:
            kinds.add(line)
            continue
        kind, word, number = match.group(1), match.group(2), int(match.group(3))
        expected = {"+I": 1, "-U": counts.get(word), "+U": counts.get(word, 0) + 1}
        known = word not in counts if kind == "+I" else word in counts
        kinds.add(f"{kind} as expected" if known and expected.get(kind) == number else line)
        if kind != "-U":
            counts[word] = number
    return sorted(kinds)


def _comments(lines: Sequence[str]) -> list[str]:
    """Return the kinds of lines of an example with random comments of a length."""
    shape = r'\{"user_id": -?\d+, "comments": "[0-9a-f]{100}", "analysis_result": "positive"\}'
    return sorted({"a comment" if re.fullmatch(shape, line) else line for line in lines})


@dataclass(frozen=True)
class Example:
    """An example.

    Args:
        path: in PyFlink's folder of examples.
        determined: returns what of its lines is the same in all runs.
        lines: after how many lines it is stopped; None if it ends.
        error: what is at the end of its errors; None if it ends well.
        functions: what of it is called, in place of all.
    """

    path: str
    determined: Callable[[Sequence[str]], list[str]] = _all
    lines: int | None = None
    error: str | None = None
    functions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the example."""
        parts = Path(self.path).with_suffix("").parts
        return "/".join([parts[0], "-".join([parts[-1], *self.functions])])

    @property
    def recorded(self) -> Path:
        """The file with what real PyFlink prints."""
        return RECORDED / f"{self.name}.txt"


STREAMS = (
    Example("datastream/basic_operations.py"),
    Example("datastream/event_time_timer.py"),
    Example("datastream/process_json_data.py"),
    Example("datastream/state_access.py"),
    Example("datastream/word_count.py"),
    Example("datastream/windowing/session_with_dynamic_gap_window.py"),
    Example("datastream/windowing/session_with_gap_window.py"),
    Example("datastream/windowing/sliding_time_window.py"),
    Example("datastream/windowing/tumbling_count_window.py"),
    Example("datastream/windowing/tumbling_time_window.py"),
)
TABLES = (
    # An expression hides the module `json` on which its second half relies.
    Example(
        "table/basic_operations.py",
        _without_plans,
        error="AttributeError: 'function' object has no attribute 'loads'",
    ),
    Example("table/basic_operations.py", _without_plans, functions=("sql_operations",)),
    Example("table/basic_operations.py", functions=("column_operations",)),
    Example("table/basic_operations.py", functions=("row_operations",)),
    Example("table/async/async_scalar_function.py", _looked_up),
    Example("table/mixing_use_of_datastream_and_table.py", _any_number),
    Example("table/multi_sink.py"),
    Example("table/pandas/conversion_from_dataframe.py"),
    Example("table/pandas/pandas_udaf.py"),
    Example("table/process_json_data.py"),
    Example("table/process_json_data_with_udf.py"),
    Example("table/streaming_word_count.py", _counts, lines=30),
    Example("table/windowing/over_window.py"),
    Example("table/windowing/session_window.py"),
    Example("table/windowing/sliding_window.py"),
    Example("table/windowing/tumble_window.py"),
    Example("table/word_count.py"),
    Example("datastream/asyncio/remote_model_inference.py", _comments, lines=30),
)
