"""The generator: the same programs for a seed, and of every kind."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.random_tables.expressions import to_lite
from tests.random_tables.generator import generate
from tests.random_tables.program import from_json, used
from tests.random_tables.rendering import definitions, script

SEEDS = range(150)


@pytest.fixture(scope="module")
def programs():
    return [generate(seed) for seed in SEEDS]


def test_a_seed_always_gives_the_same_program(programs):
    assert [generate(seed) for seed in SEEDS[:50]] == programs[:50]


def test_programs_are_python(programs):
    for program in programs[:100]:
        compile(definitions(program), "definitions", "exec")
        compile(script(program), "script", "exec")


def test_programs_survive_json(programs):
    assert [from_json(program.to_json()) for program in programs] == programs


def test_nothing_is_there_that_no_output_needs(programs):
    assert [used(program) for program in programs] == programs


def test_every_operation_comes_up(programs):
    operations = Counter(relation.op for program in programs for relation in program.relations)
    assert operations.keys() >= {
        "select", "group", "join", "semi", "set", "distinct", "rank", "dedup", "limit", "lateral",
        "unnest", "scalar", "over", "window", "interval", "window_join", "stream",
    }  # fmt: skip


def test_all_modes_and_sources_come_up(programs):
    assert {(p.mode, p.parallelism) for p in programs} == {
        (mode, parallelism) for mode in ("STREAMING", "BATCH") for parallelism in (1, 2)
    }
    assert {p.how for p in programs} == {"collect", "print", "stream"}
    assert {bool(p.settings) for p in programs} == {True, False}
    sources = {table.source for program in programs for table in program.tables}
    assert sources == {"json", "elements", "changelog", "debezium"}


def test_an_expression_that_sqlite_has_not_is_refused():
    assert to_lite(["+:INT", ["$", "a", "INT"], ["=INT", 1]], "l.") == '(l."a" + 1)'
    with pytest.raises(LookupError):
        to_lite(["md5", ["=STRING", "a"]])
