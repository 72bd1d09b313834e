"""The console that output and progress share."""

from __future__ import annotations

import io
import sys

from pyflink_on_spark._job.display import Console

ERASE = "\r\033[K"


def test_output_comes_above_the_progress(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stdout", terminal)
    console = Console()
    console.write("before")
    console.show("half", terminal)
    console.write("1> a\n1> b")
    console.write("1> c")
    console.show("whole", terminal)
    console.keep()
    console.keep()
    shown = f"{ERASE}half{ERASE}1> a\n1> b\n1> c\n{ERASE}whole\n"
    assert terminal.getvalue() == f"before\n{shown}"


def test_progress_fits_into_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    terminal = io.StringIO()
    Console().show("a line of progress", terminal)
    assert terminal.getvalue() == f"{ERASE}a line of"
