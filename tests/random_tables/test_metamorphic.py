"""Checks without an oracle: a few programs here, any number on the command line."""

from __future__ import annotations

import itertools

import pytest

from tests.random_tables import lite, metamorphic
from tests.random_tables.generator import generate
from tests.random_tables.program import Program, Relation, Table
from tests.random_tables.shrinking import shrink

PROGRAMS = 4


@pytest.mark.parametrize("name", metamorphic.CHECKS)
def test_programs_give_what_has_to_be_the_same(name):
    """If this fails: ``python -m tests.random_tables check --by NAME --first SEED --count 1``."""
    seeds = itertools.count(sum(map(ord, name)))
    programs = (generate(seed) for seed in seeds)
    fitting = (
        each
        for each in programs
        if metamorphic.other(name, metamorphic.prepared(name, each)) is not None
    )
    found = metamorphic.check(name, itertools.islice(fitting, PROGRAMS))
    assert found.programs > PROGRAMS // 2
    assert found.differing == {}


TABLE = Table("t0", [["id", "INT"], ["ci", "INT"]], [["+I", n, n % 3] for n in range(9)])


def _program(where):
    items = [["a", ["$", "ci", "INT"]], ["b", ["+:INT", ["$", "id", "INT"], ["=INT", 1]]]]
    columns = [["a", "INT"], ["b", "INT"]]
    chosen = Relation("v0", "select", ["t0"], columns, {"items": items, "where": where})
    first = Relation(
        "v1", "limit", ["v0"], columns, {"order": [["b", "ASC"], ["a", "ASC"]], "most": 2}
    )
    return Program(1, (TABLE,), (chosen, first), ("v1",))


def test_sqlite_gives_rows_as_engines_do():
    found = lite.outcome(_program([">:INT", ["$", "ci", "INT"], ["=INT", 1]]))
    assert found.results == (("+I(2, 3)", "+I(2, 6)"),)
    with pytest.raises(LookupError):
        lite.outcome(_program(["similar", ["=STRING", "a"]]))


def test_a_program_is_shrunk_to_what_still_differs():
    """The right engine here keeps rows whose ``ci`` is 2; the wrong one loses the first of them."""

    def right(programs):
        return [lite.outcome(each) for each in programs]

    def wrong(programs):
        lacking = [
            each.with_(
                tables=tuple(
                    Table(t.name, t.columns, [row for row in t.rows if row[1:] != [2, 2]])
                    for t in each.tables
                )
            )
            for each in programs
        ]
        return [lite.outcome(each) for each in lacking]

    small = shrink(_program([">:INT", ["$", "ci", "INT"], ["=INT", 1]]), right, wrong)
    assert small.outputs == ("v0",)
    assert small.tables[0].rows == [["+I", 2, 2]]
    assert len(small.relations) == 1
    with pytest.raises(ValueError, match="does not differ"):
        shrink(small, right, right)
