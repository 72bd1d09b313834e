"""Ports as text."""

from __future__ import annotations

import pytest

from pyflink_on_spark._options.option import parse_ports


@pytest.mark.parametrize(
    ("text", "ports"),
    [("0", (0,)), ("50100-50102", (50100, 50101, 50102)), ("1, 3-4", (1, 3, 4))],
)
def test_ports(text, ports):
    assert parse_ports(text) == ports


@pytest.mark.parametrize("text", ["", "a", "5-4", "65536", "-1", "1,,2", "1-2-3"])
def test_no_ports(text):
    with pytest.raises(ValueError, match="expected ports such as"):
        parse_ports(text)
