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
# Python itself runs real PyFlink.
ON_FLINK = [sys.executable]
ON_SPARK = [sys.executable, "-m", "pyflink_on_spark"]


def run(arguments):
    done = subprocess.run(
        arguments, cwd=EXAMPLES.parent, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr


def access_log(folder):
    log = folder / "access.log"
    size = ["--lines", "500", "--malformed", "0.04"]
    run([sys.executable, EXAMPLES / "generate_access_log.py", log, *size])
    return log


def sorted_lines(folder):
    """All lines of a folder's part files; `folder` is as FileSink left it."""
    parts = [path for path in folder.rglob("*") if path.is_file()]
    assert parts, f"no part file in {folder}"
    assert all(path.name.startswith("part-") for path in parts), parts
    return sorted(line for part in parts for line in part.read_text().splitlines())


def run_word_count(engine, folder):
    run([*engine, EXAMPLES / "word_count.py", "--output", folder / "word_count"])
    return {"word_count": sorted_lines(folder / "word_count")}


def run_on_access_log(engine, example, outputs, folder):
    output = folder / example
    log = access_log(folder)
    run([*engine, EXAMPLES / f"{example}.py", "--input", log, "--output", output])
    return {f"{example}/{name}": sorted_lines(output / name) for name in outputs}


def run_log_analysis(engine, folder):
    outputs = ["by_status", "by_path", "by_minute", "top_pages"]
    return run_on_access_log(engine, "log_analysis", outputs, folder)


def run_side_output(engine, folder):
    return run_on_access_log(engine, "side_output", ["requests", "malformed"], folder)


def expected(names):
    return {name: (GOLDEN / f"{name}.txt").read_text().splitlines() for name in names}


def test_word_count(tmp_path):
    counts = run_word_count(ON_SPARK, tmp_path)
    assert counts == expected(counts)


def test_log_analysis(tmp_path):
    reports = run_log_analysis(ON_SPARK, tmp_path)
    assert reports == expected(reports)


def test_side_output(tmp_path):
    lines = run_side_output(ON_SPARK, tmp_path)
    assert lines == expected(lines)


def record():
    for example in (run_word_count, run_log_analysis, run_side_output):
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in example(ON_FLINK, Path(folder)).items():
                golden = GOLDEN / f"{name}.txt"
                golden.parent.mkdir(parents=True, exist_ok=True)
                golden.write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    record()
