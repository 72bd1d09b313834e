"""Texts of jobs and of data, as an operator's terminal may show them."""

from __future__ import annotations

import re

_COMMANDS_OF_TERMINALS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ENDS_OF_LINES = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")


def plain(text: str) -> str:
    """A text with an escape in place of each command of a terminal.

    Errors, logs and results have texts of records, and those who write records are no operators.
    """
    return _COMMANDS_OF_TERMINALS.sub(lambda found: ascii(found[0])[1:-1], text)


def in_line(text: str) -> str:
    """A name in a list that has a line for each job: it adds none of its own."""
    return _ENDS_OF_LINES.sub(lambda found: ascii(found[0])[1:-1], text)
