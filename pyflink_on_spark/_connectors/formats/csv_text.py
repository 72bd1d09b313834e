"""How a text is written in CSV: quoted where Jackson quotes."""

from __future__ import annotations

import re
from collections.abc import Callable

_LONGEST_WITHOUT_LOOKING = 24
"""In characters: Jackson quotes what is longer without looking whether that is needed."""


def quoting(
    delimiter: str, quote: str | None, escape: str | None, line_end: str = ""
) -> Callable[[str], str]:
    """Return what writes a text.

    Every character up to the highest of those that mean something counts as special, as in
    Jackson: with ``|`` between fields nearly all texts are quoted.

    Args:
        delimiter: the character between fields.
        quote: the character around texts; None: nothing is quoted or escaped.
        escape: the character that is written twice, or None.
        line_end: what records end with.
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
