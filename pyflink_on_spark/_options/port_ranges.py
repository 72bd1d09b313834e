"""Ports of a machine as text: ``50100``, ``50100-50200``, ``50100,50200-50300``."""

from __future__ import annotations

_LAST = 65535


def parse_ports(text: str) -> tuple[int, ...]:
    """Return the ports; 0 stands for any free one.

    Raises:
        ValueError: the text is not a list of ports and ranges.
    """
    ports: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            found = range(int(first), int(last or first) + 1)
        except ValueError:
            found = range(0)
        if not found or found[0] < 0 or found[-1] > _LAST:
            raise ValueError(f"expected ports such as 50100 or 50100-50200, not {text!r}")
        ports += found
    return tuple(ports)


def check_ports(text: str) -> None:
    """Raise ValueError unless a text is a list of ports and ranges."""
    parse_ports(text)
