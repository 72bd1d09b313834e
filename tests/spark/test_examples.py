"""The examples give on Spark what they give on real PyFlink.

The expected lines are in golden/examples; real PyFlink wrote them, and writes them again with

    PYTHON_WITH_PYFLINK tests/spark/test_examples.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
GOLDEN = Path(__file__).resolve().parent / "golden" / "examples"


def run(*arguments):
    """Run Python itself, which finds real PyFlink where that is installed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_command(*arguments):
    run("-m", "pyflink_on_spark", *arguments)


def access_log(folder):
    log = folder / "access.log"
    run(EXAMPLES / "generate_access_log.py", log, "--lines", "500", "--malformed", "0.04")
    return log


def sorted_lines(folder):
    """All lines of a folder's part files; `folder` is as FileSink left it."""
    parts = [path for path in folder.rglob("*") if path.is_file()]
    assert parts, f"no part file in {folder}"
    assert all(path.name.startswith("part-") for path in parts), parts
    return sorted(line for part in parts for line in part.read_text().splitlines())


def run_word_count(run_script, folder):
    run_script(EXAMPLES / "word_count.py", "--output", folder / "word_count")
    return {"word_count": sorted_lines(folder / "word_count")}


def run_on_access_log(run_script, example, outputs, folder):
    output = folder / example
    log = access_log(folder)
    run_script(EXAMPLES / f"{example}.py", "--input", log, "--output", output)
    return {f"{example}/{name}": sorted_lines(output / name) for name in outputs}


def run_log_analysis(run_script, folder):
    outputs = ["by_status", "by_path", "by_minute", "top_pages"]
    return run_on_access_log(run_script, "log_analysis", outputs, folder)


def run_side_output(run_script, folder):
    return run_on_access_log(run_script, "side_output", ["requests", "malformed"], folder)


def expected(names):
    return {name: (GOLDEN / f"{name}.txt").read_text().splitlines() for name in names}


def test_word_count(tmp_path):
    counts = run_word_count(run_command, tmp_path)
    assert counts == expected(counts)


def test_log_analysis(run_script, tmp_path):
    reports = run_log_analysis(run_script, tmp_path)
    assert reports == expected(reports)


def test_side_output(run_script, tmp_path):
    lines = run_side_output(run_script, tmp_path)
    assert lines == expected(lines)


def record():
    for example in (run_word_count, run_log_analysis, run_side_output):
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in example(run, Path(folder)).items():
                golden = GOLDEN / f"{name}.txt"
                golden.parent.mkdir(parents=True, exist_ok=True)
                golden.write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    record()
