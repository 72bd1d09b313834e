"""Divides the text of a file or of a prompt into statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyflink_on_spark._options.secrets import HIDDEN, masked, masked_text

_PART = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*|/\*(?!\+).*?(?:\*/|\Z))
  | (?P<quoted>(?:[uU]&|[eE])?'(?:[^']|'')*(?:'|\Z)|`(?:[^`]|``)*(?:`|\Z)|"[^"]*(?:"|\Z))
  | (?P<word>[^\W\d][\w$]*)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCKS = re.compile(
    r"(EXPLAIN (\w+ )*)?(EXECUTE )?STATEMENT SET BEGIN|EXECUTE STATEMENT SET|"
    r"(EXPLAIN (\w+ )*)STATEMENT SET|BEGIN STATEMENT SET"
)
_LONGEST_BEGINNING = 6
_COMMENT = re.compile(r"(--|/\*)(.*)", re.DOTALL)


def split_statements(text: str) -> tuple[list[str], str]:
    """Return the statements of a text, and what follows the last one that has ended.

    A statement ends with a semicolon; a statement set ends with the one after END. A statement has
    no comment at its beginning.

    Args:
        text: statements, comments and blanks.
    """
    found: list[str] = []
    begin: int | None = None
    words: list[str] = []
    for part in _PART.finditer(text):
        if part.lastgroup == "blank":
            continue
        if begin is None and part.group() == ";":
            continue
        begin = part.start() if begin is None else begin
        if part.lastgroup == "word":
            words.append(part.group().upper())
        elif part.group() == ";" and (not _is_block(words) or words[-1] == "END"):
            found.append(text[begin : part.start()].strip())
            begin, words = None, []
    return found, "" if begin is None else text[begin:].strip()


def _is_block(words: list[str]) -> bool:
    return _BLOCKS.match(" ".join(words[:_LONGEST_BEGINNING])) is not None


def masked_statement(text: str) -> str:
    """Return a statement without the secrets among its options.

    Args:
        text: a statement. Its comments are looked through as well.
    """
    shown = "".join(_masked_parts(text))
    parts = (part for part in _PART.finditer(text) if part.lastgroup != "blank")
    first = next(parts, None)
    sets = first is not None and first.group().upper() in {"SET", "RESET"}
    return masked_text(shown) if sets else shown


def _masked_parts(text: str) -> Iterator[str]:
    key, is_assigned = "", False
    for part in _PART.finditer(text):
        found = part.group()
        if part.lastgroup == "blank":
            yield _COMMENT.sub(lambda inside: inside[1] + masked_statement(inside[2]), found)
        elif part.lastgroup == "quoted":
            prefix, quote, inside = found.partition("'")
            if not quote:
                yield found
                key, is_assigned = found.strip('"`'), False
                continue
            content = inside.removesuffix("'").replace("''", "'")
            # A wrong statement may lack the sign between a key and its value.
            named = key if is_assigned or masked(key, "") == HIDDEN else ""
            yield prefix + quote + masked(named, content).replace("'", "''") + "'"
            key, is_assigned = content, False
        elif part.lastgroup == "word":
            key, is_assigned = found, False
            yield found
        else:
            is_assigned = found in "=:>" and bool(key)
            key = key if is_assigned else ""
            yield found
