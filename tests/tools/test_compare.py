"""Two runs of a script, compared. The engines are stood in for by programs without them."""

from __future__ import annotations

import re
import sys

import pytest

from pyflink_on_spark.tools.compare import Comparison, Reading, Run, difference, main, run


def runs(first, second, status=0):
    return Run("PyFlink", 0, 1.0, first, ""), Run("here", status, 2.0, second, "oh\nno\n")


def test_the_order_of_lines_counts_on_demand():
    assert not difference(["a", "b", "b"], ["b", "a", "b"], ordered=False)
    found = difference(["a", "b"], ["b", "a"], ordered=True)
    assert found.only_first == found.only_second == ["a"] or found.only_first == ["b"]


def test_how_often_a_line_comes_counts():
    found = difference(["a", "a", "b"], ["a", "b", "c"], ordered=False)
    assert (found.only_first, found.only_second) == (["a"], ["c"])


@pytest.mark.parametrize(
    ("line", "compared"),
    [("3> (a, 1)", "(a, 1)"), ("late:12> x", "late:x"), ("3 > 2", "3 > 2"), ("plain", "plain")],
)
def test_the_subtask_is_left_out_on_demand(line, compared):
    assert Reading(any_subtask=True).lines(line) == [compared]
    assert Reading().lines(line) == [line]


def test_lines_that_do_not_count():
    output = "Python Server ready to receive messages\ntook 3 ms\nresult"
    assert Reading().lines(output) == ["took 3 ms", "result"]
    assert Reading(ignored=(re.compile(r"\d ms"),)).lines(output) == ["result"]
    assert len(Reading(logging=True).lines(output)) == 3


def test_a_report_of_equal_runs():
    comparison = Comparison(*runs("1> a\n2> b\n", "2> b\n1> a\n"), Reading())
    assert comparison.equal
    assert comparison.text(everything=False) == (
        "            PyFlink     here\n"
        "exit status 0           0\n"
        "seconds     1.0         2.0\n"
        "lines       2           2\n"
        "\n"
        "The same lines, in whatever order."
    )


def test_a_report_of_differing_runs():
    comparison = Comparison(*runs("1> a\n1> b\n", "2> a\n1> c\n"), Reading())
    assert not comparison.equal
    text = comparison.text(everything=False)
    assert "only on PyFlink: 2 lines\n  - 1> a\n  - 1> b" in text
    assert "only here: 2 lines\n  + 2> a\n  + 1> c" in text


def test_a_report_says_when_only_subtasks_differ():
    text = Comparison(*runs("1> a\n", "2> a\n"), Reading()).text(everything=False)
    assert "--any-subtask" in text


def test_a_failure_is_a_difference_and_its_reason_is_shown():
    comparison = Comparison(*runs("a\n", "a\n", status=1), Reading())
    assert not comparison.equal
    assert "  oh\n  no" in comparison.text(everything=False)


def test_long_differences_are_cut():
    many = "".join(f"{number}\n" for number in range(50))
    comparison = Comparison(*runs(many, ""), Reading())
    assert "and 30 more" in comparison.text(everything=False)
    assert "  - 49" in comparison.text(everything=True)


@pytest.mark.slow
def test_a_run_has_a_folder_of_its_own_and_is_killed_in_time(tmp_path):
    program = "import os, time; open('x', 'w'); print(os.listdir(), flush=True); time.sleep(60)"
    done = run("it", [sys.executable, "-c", program], {}, timeout=1.5)
    assert done.status is None
    assert done.output == "['x']\n"
    assert done.seconds < 30


@pytest.mark.slow
def test_both_runs_of_a_script(tmp_path, capsys):
    """The script has no job, so that any interpreter will do."""
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('given', *sys.argv[1:])\n")
    assert main([str(script), "--pyflink", sys.executable, "--", "one", "--two"]) == 0
    assert "The same lines" in capsys.readouterr().out
    script.write_text("import sys\nprint('pyflink_on_spark' in sys.modules)\n")
    assert main([str(script), "--pyflink", sys.executable]) == 1
    assert "  - False" in capsys.readouterr().out


def test_what_is_not_there(tmp_path, capsys):
    assert main([str(tmp_path / "none.py"), "--pyflink", sys.executable]) == 2
    script = tmp_path / "script.py"
    script.write_text("")
    assert main([str(script), "--pyflink", str(tmp_path / "python")]) == 2
    assert "there is no program" in capsys.readouterr().err
