"""The plans of statements, and the errors of wrong ones, are those that were recorded."""

from __future__ import annotations

import pytest

from tests.sql.recorded import FILES, blocks


@pytest.mark.parametrize(
    ("becomes", "statement", "answer"),
    [
        pytest.param(becomes, statement, answer, id=f"{path.stem}: {name}")
        for path, becomes in FILES.items()
        for name, statement, answer in blocks(path)
    ],
)
def test_a_statement(becomes, statement, answer):
    assert becomes(statement) == answer
