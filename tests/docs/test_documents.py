"""Runs the Python in the documents, and compares what it prints with what the document shows.

The ``python`` blocks of a document are one program. An ``output`` block has to be what that program
printed since the ``output`` block before it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]
BLOCK = re.compile(r"^```(python|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

RUNNER = """
import contextlib, io, json, linecache, sys
import pyflink_on_spark
from pyflink_on_spark.testing import install_local_engine

pyflink_on_spark.install()
install_local_engine()
printed = []
names = {"__name__": "__main__"}
blocks = json.load(sys.stdin)
out = io.StringIO()
with contextlib.redirect_stdout(out):
    for kind, line, text in blocks:
        if kind == "output":
            printed.append(out.getvalue())
            out.seek(0)
            out.truncate()
        else:
            exec(compile("\\n" * line + text, sys.argv[1], "exec"), names)
json.dump(printed, sys.stdout)
"""


def blocks_of(document):
    text = document.read_text(encoding="utf-8")
    return [
        (found[1], text.count("\n", 0, found.start()) + 1, found[2])
        for found in BLOCK.finditer(text)
    ]


@pytest.mark.parametrize(
    "document",
    [document for document in DOCUMENTS if any(b[0] == "python" for b in blocks_of(document))],
    ids=lambda document: document.name,
)
def test_a_document_s_program(document, tmp_path):
    blocks = blocks_of(document)
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, document.name],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "PATH": ""},
        input=json.dumps(blocks),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = [text for kind, _, text in blocks if kind == "output"]
    assert json.loads(done.stdout) == shown
