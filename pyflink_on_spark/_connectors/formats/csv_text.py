"""Quotes texts in CSV as Jackson does."""

from __future__ import annotations

import re
from collections.abc import Callable

_LONGEST_WITHOUT_LOOKING = 24
"""In characters: Jackson quotes a longer text without a check whether that is necessary."""


def quoting(
    delimiter: str, quote: str | None, escape: str | None, line_end: str = ""
) -> Callable[[str], str]:
    """Return a function that quotes a text if necessary.

    As in Jackson, every character up to the highest special one counts as special: with ``|``
    between fields nearly all texts are quoted.

    Args:
        delimiter: the character between fields.
        quote: the character around texts; None: texts are neither quoted nor escaped.
        escape: a character that is doubled, or None.
        line_end: the text at the end of a record.
    """
    if quote is None:
        return lambda text: text
    highest = re.escape(max(delimiter, quote, *line_end))
    search = re.compile(f"[\\0-{highest}]|{re.escape(escape or chr(92))}").search
    doubled_quote = quote + quote

    def write(text: str) -> str:
        if len(text) <= _LONGEST_WITHOUT_LOOKING and search(text) is None:
            return text
        text = text.replace(quote, doubled_quote)
        if escape is not None and escape != quote:
            text = text.replace(escape, escape + escape)
        return f"{quote}{text}{quote}"

    return write
