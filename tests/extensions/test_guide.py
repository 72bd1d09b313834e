"""The programs in docs/use/extensions.md print what their comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs" / "use" / "extensions.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
PRINTED = [
    ["(1, 'a')", "(2, 'b')"],
    ["0", "1", "2"],
    [],
    [
        "('a', (3, 1), [])",
        "('a', (3, 1), [3])",
        "('a', (3, 2), [])",
        "('a', 11)",
        "('a', 3)",
        "('a', 8)",
    ],
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number, local_engine, capsys, tmp_path):
    program = PROGRAMS[number].replace("/tmp/upper.txt", str(tmp_path / "upper.txt"))
    exec(compile(program, f"{GUIDE.name} {number}", "exec"), {"__name__": "guide"})
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(PRINTED[number])


def test_every_program_is_checked():
    assert len(PROGRAMS) == len(PRINTED)
