"""The generator: programs that are valid Python, the same for a seed, and of every kind."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.random_programs.generator import generate
from tests.random_programs.program import from_json
from tests.random_programs.rendering import definitions, script
from tests.random_programs.simpler import tidy

SEEDS = range(300)


@pytest.fixture(scope="module")
def programs():
    return [generate(seed) for seed in SEEDS]


def test_a_seed_always_gives_the_same_program(programs):
    assert [generate(seed) for seed in SEEDS] == programs


def test_programs_are_python(programs):
    for program in programs:
        compile(definitions(program), "definitions", "exec")
        compile(script(program), "script", "exec")


def test_programs_survive_json(programs):
    assert [from_json(program.to_json()) for program in programs] == programs


def test_what_an_output_needs_is_there(programs):
    for program in programs:
        names = {step.name for step in program.steps}
        assert program.outputs[0].stream in names
        assert {step.of for step in program.steps} <= names | {"env", "AsyncDataStream"}
        assert {step.name for step in tidy(program).steps} <= names


def test_every_operator_comes_up(programs):
    methods = Counter(step.method for program in programs for step in program.steps)
    assert {
        "from_collection", "from_source", "map", "flat_map", "filter", "process", "key_by",
        "reduce", "sum", "min_by", "window", "project", "window_all", "count_window", "trigger",
        "allowed_lateness", "aggregate", "apply", "union", "connect", "broadcast", "rebalance",
        "get_side_output", "set_parallelism", "assign_timestamps_and_watermarks",
    } <= methods.keys()  # fmt: skip


def test_both_modes_and_parallelisms_come_up(programs):
    assert {(p.mode, p.parallelism) for p in programs} == {
        (mode, parallelism)
        for mode in ("STREAMING", "BATCH", "AUTOMATIC")
        for parallelism in (1, 2)
    }
