"""What functions of texts compute."""

from __future__ import annotations

import re
from urllib.parse import quote_plus, unquote_plus, urlsplit


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """Return a part; positions count from 1, or from the end if they are negative."""
    if length is not None and length < 0:
        return None
    if start > 0:
        begin = start - 1
    elif start < 0:
        begin = len(text) + start
        if begin < 0:
            return ""
    else:
        begin = 0
    return text[begin:] if length is None else text[begin : begin + length]


def left(text: str, length: int) -> str:
    """Return the first characters."""
    return text[:length] if length > 0 else ""


def right(text: str, length: int) -> str:
    """Return the last characters."""
    return text[-length:] if length > 0 else ""


def pad_left(text: str, length: int, padding: str) -> str | None:
    """Return a text of some length, filled up before it."""
    filled = _padding(text, length, padding)
    return None if filled is None else filled + text[:length]


def pad_right(text: str, length: int, padding: str) -> str | None:
    """Return a text of some length, filled up after it."""
    filled = _padding(text, length, padding)
    return None if filled is None else text[:length] + filled


def _padding(text: str, length: int, padding: str) -> str | None:
    missing = length - len(text)
    if length < 0 or (missing > 0 and not padding):
        return None
    return "" if missing <= 0 else (padding * (missing // len(padding) + 1))[:missing]


def repeat(text: str, count: int) -> str:
    """Return a text several times."""
    return text * count


def reverse(text: str) -> str:
    """Return a text from its end to its beginning."""
    return text[::-1]


def initcap(text: str) -> str:
    """Return a text with a capital at the beginning of each word."""
    return re.sub(r"[^\W_]+", lambda word: word[0][0].upper() + word[0][1:].lower(), text)


def replace(text: str, searched: str, replacement: str) -> str:
    """Replace a text in another one everywhere."""
    return text.replace(searched, replacement)


def position(searched: str, text: str, start: int = 1) -> int:
    """Return where a text is found in another one, counted from 1; 0 if nowhere."""
    if start < 1:
        return 0
    return text.find(searched, start - 1) + 1


def instr(text: str, searched: str, start: int = 1, occurrence: int = 1) -> int:
    """Return where a text is found for the nth time, counted from 1; 0 if nowhere."""
    found = start - 2
    for _ in range(occurrence):
        found = text.find(searched, found + 1)
        if found < 0:
            return 0
    return found + 1


def trim_both(text: str, characters: str = " ") -> str:
    """Remove some characters at both ends."""
    return text.strip(characters)


def trim_left(text: str, characters: str = " ") -> str:
    """Remove some characters at the beginning."""
    return text.lstrip(characters)


def trim_right(text: str, characters: str = " ") -> str:
    """Remove some characters at the end."""
    return text.rstrip(characters)


def split(text: str, separator: str) -> tuple[str, ...]:
    """Return the parts between separators."""
    if not separator:
        return tuple(text)
    return tuple(text.split(separator))


def split_index(text: str, separator: str, index: int) -> str | None:
    """Return a part between separators, counted from 0."""
    if index < 0:
        return None
    parts = text.split(separator) if separator else [text]
    return parts[index] if index < len(parts) else None


def text_to_map(text: str, pairs: str = ",", equals: str = "=") -> dict[str, str | None]:
    """Return a map of pairs; both separators are regular expressions."""
    found: dict[str, str | None] = {}
    for pair in re.split(pairs, text):
        key, *value = re.split(equals, pair, maxsplit=1)
        found[key] = value[0] if value else None
    return found


def overlay(text: str, placed: str, start: int, length: int | None = None) -> str:
    """Replace some characters of a text, from a position on."""
    size = len(placed) if length is None else length
    if start <= 0 or start > len(text):
        return text
    return text[: start - 1] + placed + text[start - 1 + max(size, 0) :]


def first_code(text: str) -> int:
    """Return the code of the first character."""
    return text.encode()[0] if text else 0


def character(code: int) -> str:
    """Return the character of a code."""
    return chr(code & 255) if code >= 0 else ""


def concat(*texts: str) -> str:
    """Return texts one after the other."""
    return "".join(texts)


def concat_with(separator: str | None, *texts: str | None) -> str | None:
    """Return texts with a separator between them; NULL is left out."""
    if separator is None:
        return None
    return separator.join([text for text in texts if text is not None])


def is_alpha(text: str) -> bool:
    """Tell whether there are letters only."""
    return bool(text) and text.isalpha()


def is_digit(text: str) -> bool:
    """Tell whether there are digits only."""
    return bool(text) and text.isdigit()


def is_decimal(text: str) -> bool:
    """Tell whether it is a number."""
    return re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text.strip()) is not None


def translate(text: str, searched: str, replacement: str) -> str:
    """Replace characters, each by the one at its place; those without one go."""
    table: dict[int, int | None] = {}
    for index, letter in enumerate(searched):
        replaced = ord(replacement[index]) if index < len(replacement) else None
        table.setdefault(ord(letter), replaced)
    return text.translate(table)


def starts_with(text: str, beginning: str) -> bool:
    """Tell whether a text begins with another one."""
    return text.startswith(beginning)


def ends_with(text: str, end: str) -> bool:
    """Tell whether a text ends with another one."""
    return text.endswith(end)


def encode_url(text: str) -> str:
    """Write a text as a part of a URL."""
    return quote_plus(text, safe="*-._")


def decode_url(text: str) -> str | None:
    """Read a part of a URL."""
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        return None


def parse_url(url: str, part: str, key: str | None = None) -> str | None:
    """Return a part of a URL, or the value of a key of its query."""
    parts = urlsplit(url)
    if not parts.scheme:
        return None
    if key is not None:
        if part != "QUERY":
            return None
        found = re.search(rf"(?:^|&){re.escape(key)}=([^&]*)", parts.query)
        return None if found is None else found[1]
    query = f"?{parts.query}" if parts.query else ""
    known = {
        "HOST": parts.hostname,
        "PATH": parts.path,
        "QUERY": parts.query or None,
        "REF": parts.fragment or None,
        "PROTOCOL": parts.scheme,
        "FILE": parts.path + query,
        "AUTHORITY": parts.netloc,
        "USERINFO": parts.netloc.rpartition("@")[0] or None,
    }
    return known.get(part)
