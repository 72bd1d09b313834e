"""The ports that an option names."""

from __future__ import annotations

import re

_LAST = 2**16 - 1


def port_range(text: str, key: str) -> list[int]:
    """Return the ports that a text names: a number, a range, or several with commas between.

    Args:
        text: the value of an option.
        key: the option.

    Raises:
        ValueError: the text names no port.
    """
    ports: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if found is None:
            raise ValueError(
                f"{key} is {text!r}, which is neither a port nor a range such as 9249-9260"
            )
        first = int(found[1])
        ports += range(first, int(found[2] or first) + 1)
    if not all(port <= _LAST for port in ports):
        raise ValueError(f"{key} is {text!r}, which has a port above {_LAST}")
    return ports
