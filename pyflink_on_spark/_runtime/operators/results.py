"""What functions give back: elements, and elements for side outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

SideOutput = Callable[[str, Any], None]


def is_output_tag(value: Any) -> bool:
    """Whether a value is an OutputTag; those have the class attribute ``_is_output_tag``."""
    return getattr(type(value), "_is_output_tag", False) is True


def main_results(results: Iterable[Any], side_output: SideOutput) -> Iterator[Any]:
    """Yield the results for the main output; send ``(tag, value)`` to the side output."""
    for result in results:
        if type(result) is tuple and len(result) == 2 and is_output_tag(result[0]):
            side_output(result[0].tag_id, result[1])
        else:
            yield result
