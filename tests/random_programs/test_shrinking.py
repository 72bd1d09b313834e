"""The shrinker, on engines that are stood in for by functions."""

from __future__ import annotations

import pytest

from tests.random_programs.generator import generate
from tests.random_programs.outcome import Outcome, Reading
from tests.random_programs.program import ClassDefinition, Method, Output, Program, Step
from tests.random_programs.shrinking import shrink
from tests.random_programs.simpler import simpler_expressions, simpler_statements, smaller, tidy


def engine(differs):
    def run(programs):
        return [Outcome((("x" if differs(p) else "y",),)) for p in programs]

    return run


def shrunk(program, differs):
    return shrink(program, engine(lambda p: False), engine(differs), Reading())


def uses(program, method):
    return any(step.method == method for step in program.steps)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["map", "filter", "key_by"])
def test_only_what_differs_is_left(method):
    program = next(p for p in map(generate, range(200)) if uses(p, method) and len(p.steps) > 4)
    small = shrunk(program, lambda p: uses(p, method))
    assert uses(small, method)
    assert len(small.steps) == 2
    assert small.parallelism == 1
    assert not small.settings


def test_elements_and_lines_go():
    body = ("a = 1", ["if value:", "b = 2", "yield a"])
    method = {"process_element": Method("self, value, ctx", body)}
    program = Program(
        seed=1,
        classes={"F0": ClassDefinition("ProcessFunction", method)},
        steps=(
            Step("s0", "env", "from_collection", ("[1, 2, 3, 5, 4]",)),
            Step("s1", "s0", "process", ("F0()",)),
        ),
        outputs=(Output("s1"),),
    )

    def differs(candidate):
        kept = candidate.classes.get("F0")
        return "4]" in candidate.steps[0].args[0] and kept is not None and "yield" in str(kept)

    small = shrunk(program, differs)
    assert small.steps[0].args == ("[4]",)
    assert small.classes["F0"].methods["process_element"].body == ("yield a",)


def test_a_program_that_does_not_differ_is_refused():
    with pytest.raises(ValueError, match="does not differ"):
        shrunk(generate(1), lambda p: False)


def test_smaller_programs_are_all_different():
    found = [program.to_json() for program in smaller(generate(3))]
    assert len(found) == len(set(found)) > 10


def test_what_nobody_uses_is_left_out():
    unused = ClassDefinition("MapFunction", {})
    program = Program(
        seed=1,
        classes={"F0": unused, "F1": ClassDefinition("F2", {}), "F2": unused},
        constants={"TAG0": "1", "TAG1": "2"},
        steps=(
            Step("s0", "env", "from_collection", ("[1]",)),
            Step("s1", "s0", "map", ("F1(TAG1)",)),
            Step("s2", "s0", "map", ("F0(TAG0)",)),
        ),
        outputs=(Output("s1"),),
    )
    kept = tidy(program)
    assert [step.name for step in kept.steps] == ["s0", "s1"]
    assert list(kept.classes) == ["F1", "F2"]
    assert list(kept.constants) == ["TAG1"]


def test_simpler_expressions():
    assert set(simpler_expressions("[7, 'abc']")) == {
        "['abc']", "[7]", "7", "'abc'", "[0, 'abc']", "[1, 'abc']", "[2, 'abc']", "[7, 'a']",
    }  # fmt: skip
    assert "lambda v: 0" in set(simpler_expressions("lambda v: v[0] % 2"))


def test_simpler_statements():
    assert set(simpler_statements("yield (v if w else 5)")) == {
        "yield v", "yield 5", "yield (v if w else 0)", "yield (v if w else 1)",
        "yield (v if w else 2)",
    }  # fmt: skip
