"""Numbers as Java writes them, against texts that Java wrote."""

from __future__ import annotations

from pathlib import Path
from struct import pack, unpack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._runtime.types.codec import double_text, float_text

RECORDED = Path(__file__).parent / "data" / "java_numbers.txt"


def recorded(kind: str) -> list[tuple[float, str]]:
    lines = [line.split() for line in RECORDED.read_text().splitlines() if line[0] != "#"]
    return [(float.fromhex(number), text) for name, number, text in lines if name == kind]


def test_doubles_are_written_as_java_wrote_them():
    assert [(n, double_text(n)) for n, _ in recorded("double")] == recorded("double")
    assert len(recorded("double")) > 250


def test_floats_are_written_as_java_wrote_them():
    assert [(n, float_text(n)) for n, _ in recorded("float")] == recorded("float")
    assert len(recorded("float")) > 250


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1e-3, "0.001"),
        (2e-3, "0.002"),
        (9.99e-4, "9.99E-4"),
        (1e23, "9.999999999999999E22"),
        (8.41e21, "8.409999999999999E21"),
        (2.0e11, "2.0E11"),
        (2.0**62, "4.6116860184273879E18"),
        (2.0**-24, "5.9604644775390625E-8"),
        (5e-324, "4.9E-324"),
        (2.2e-322, "2.2E-322"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_doubles(number, text):
    assert double_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"),
        (1 / 3, "0.33333334"),
        (16777217.0, "1.6777216E7"),
        (1e18, "9.9999998E17"),
        (2.0**63, "9.223372E18"),
        (1.4e-45, "1.4E-45"),
        (2e-44, "2.0E-44"),
        (3.4028235e38, "3.4028235E38"),
        (1.1e16, "1.09999997E16"),
        (float("inf"), "Infinity"),
    ],
)
def test_floats(number, text):
    assert float_text(unpack("f", pack("f", number))[0]) == text


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_doubles_text_reads_back_as_the_same_number(number):
    assert float(double_text(number)) == number


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_floats_text_reads_back_as_the_same_number(number):
    assert unpack("f", pack("f", float(float_text(number))))[0] == number
