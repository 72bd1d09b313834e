"""Every module of the benchmarks can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
)
PROGRAM = """
import importlib, sys
import pyflink_on_spark
pyflink_on_spark.install()
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_all_modules_can_be_imported():
    subprocess.run([sys.executable, "-c", PROGRAM, *MODULES], cwd=ROOT, check=True)
