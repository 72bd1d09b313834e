"""The automaton of row patterns against a search that tries everything."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.match import PatternVariable, RowPattern, Skip
from pyflink_on_spark._sql.runtime.match_recognize import Automaton, edges_of
from tests.effort import share

pytestmark = pytest.mark.slow

NAMES = "ABCD"


@dataclass(frozen=True)
class Rule:
    """When a variable may take a row.

    Args:
        bit: of the row, which has to be set.
        counted: a variable that may have taken only a few rows before; None for no such.
        limit: how many.
    """

    bit: int
    counted: int | None = None
    limit: int = 0

    def holds(self, bits, counts):
        few = self.counted is None or counts[self.counted] <= self.limit
        return bool(bits >> self.bit & 1) and few


@dataclass(frozen=True)
class Row:
    number: int
    bits: int
    time: int


# -- everything tried ----------------------------------------------------------------------------


@dataclass
class Search:
    """Follows an automaton: knows what it may return, and continues with what it chose.

    A match so far is the number of its first row and how many rows each variable has. Where two
    matches begin and end with the same rows, either may come out.
    """

    pattern: RowPattern
    rules: list[Rule]
    alive: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    ended: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def take(self, row, chosen):
        """Checks what came out for a row."""
        nothing = (0,) * len(self.rules)
        before = [*self.alive, (row.number, row.time, nothing)]
        self.alive = []
        for start, began, counts in before:
            for variable in range(len(self.rules)):
                if self._may_take(variable, row.bits, counts):
                    after = tuple(n + (i == variable) for i, n in enumerate(counts))
                    if self._may_go_on(variable, after):
                        self.alive.append((start, began, after))
                    if self._may_end(variable, row.bits, counts, after):
                        self.ended.append((start, after))
        self._release(chosen)

    def advance(self, time, chosen):
        """Checks what came out because of the time."""
        within = self.pattern.within
        if within:
            before = len(self.alive)
            self.alive = [each for each in self.alive if time - each[1] < within]
            if len(self.alive) == before:
                assert chosen == []
                return
        else:
            assert chosen == []
            return
        self._release(chosen)

    def _release(self, chosen):
        for match in chosen:
            assert match in self._free(), (match, self._free())
            first = self._next_start(*match)
            self.alive = [each for each in self.alive if each[0] >= first]
            self.ended = [each for each in self.ended if each[0] >= first]
        assert self._free() == []

    def _free(self):
        """Returns the matches that may come out next."""
        first = min((start for start, _ in self.ended), default=None)
        if first is None or any(start < first for start, _, _ in self.alive):
            return []
        return [match for match in self.ended if match[0] == first]

    def _next_start(self, start, counts):
        skip, target = self.pattern.skip, self.pattern.target
        if skip is Skip.PAST_LAST_ROW:
            return start + sum(counts)
        if skip is Skip.TO_NEXT_ROW:
            return start + 1
        before = sum(counts[:target])
        return start + before + (counts[target] - 1 if skip is Skip.TO_LAST else 0)

    def _may_take(self, variable, bits, counts):
        if not self.rules[variable].holds(bits, counts):
            return False
        last = max((i for i, n in enumerate(counts) if n), default=None)
        if last == variable:
            most = self.pattern.variables[variable].most
            return most is None or counts[variable] < most
        if last is not None and variable < last:
            return False
        return self._may_leave(last, variable, bits, counts)

    def _may_leave(self, last, variable, bits, counts):
        """True if a match may skip all variables from the last one up to another."""
        for number in range(0 if last is None else last, variable):
            if counts[number] < self._least(number, counts[number]):
                return False
            if self._greedy(number) and self.rules[number].holds(bits, counts):
                return False
        return True

    def _may_end(self, variable, bits, counts, after):
        if after[variable] < self._least(variable, after[variable]):
            return False
        variables = self.pattern.variables
        if any(not each.optional for each in variables[variable + 1 :]):
            return False
        return not any(
            self._greedy(number) and self.rules[number].holds(bits, counts)
            for number in range(variable, len(variables) - 1)
        )

    def _may_go_on(self, variable, after):
        most = self.pattern.variables[variable].most
        return variable < len(self.rules) - 1 or most is None or after[variable] < most

    def _least(self, number, count):
        variable = self.pattern.variables[number]
        return 0 if variable.optional and not count else max(variable.least, 1)

    def _greedy(self, number):
        variable = self.pattern.variables[number]
        return variable.greedy and variable.most != max(variable.least, 1)


# -- the automaton -------------------------------------------------------------------------------


def automaton_of(pattern, rules):
    """Returns an automaton whose matches are what a search knows of them."""

    def condition(rule):
        def holds(row, rows, offset, ends, time):
            assert row.time == time
            return rule.holds(row.bits, counts_of(ends))

        return holds

    def measure(rows, offset, ends, time):
        numbers = [row.number for row in rows[offset : offset + ends[-1]]]
        assert numbers == list(range(numbers[0], numbers[0] + ends[-1]))
        return numbers[0], counts_of(ends)

    alone = [rule.counted is None for rule in rules]
    return Automaton(pattern, [condition(rule) for rule in rules], alone, measure)


def counts_of(ends):
    return tuple(end - (ends[i - 1] if i else 0) for i, end in enumerate(ends))


@st.composite
def cases(draw):
    width = draw(st.integers(1, 4))
    variables = []
    for name in NAMES[:width]:
        least = draw(st.integers(0, 3))
        most = draw(st.none() | st.integers(max(least, 1), 4))
        variables.append(PatternVariable(name, least, most, draw(st.booleans())))
    if all(each.optional for each in variables):
        variables[0] = PatternVariable("A")
    skip = draw(st.sampled_from([Skip.PAST_LAST_ROW, Skip.TO_NEXT_ROW]))
    rules = [
        Rule(draw(st.integers(0, 2)), draw(st.none() | st.integers(0, width - 1)),
             draw(st.integers(0, 2)))
        for _ in variables
    ]  # fmt: skip
    pattern = RowPattern(tuple(variables), skip, None, draw(st.sampled_from([0, 0, 2, 5])))
    rows, time = [], 0
    for bits in draw(st.lists(st.integers(0, 7), max_size=14)):
        time += draw(st.integers(0, 2))
        rows.append(Row(len(rows), bits, time))
    return pattern, rules, rows


@settings(max_examples=share(400), deadline=None)
@given(cases(), st.data())
def test_what_comes_out_is_what_a_search_finds(case, data):
    pattern, rules, rows = case
    automaton, search = automaton_of(pattern, rules), Search(pattern, rules)
    known = automaton.new()
    for row in rows:
        search.advance(row.time, automaton.advance(known, row.time))
        made, _ = automaton.process(known, row, row.time)
        search.take(row, made)
        if not search.alive and not search.ended:
            assert known == automaton.new()
        if data.draw(st.booleans()):
            known = pickle.loads(pickle.dumps(known))
    search.advance(MAX_WATERMARK, automaton.advance(known, MAX_WATERMARK))


def test_skipping_to_a_variable():
    rules = [Rule(0), Rule(1), Rule(2)]
    variables = tuple(PatternVariable(n, 1, m, False) for n, m in zip("ABC", (1, None, 1)))
    rows = [1, 3, 3, 7, 6]

    def found(skip, target):
        automaton = automaton_of(RowPattern(variables, skip, target), rules)
        known = automaton.new()
        return [
            match
            for number, bits in enumerate(rows)
            for match in automaton.process(known, Row(number, bits, 0), 0)[0]
        ]

    assert found(Skip.TO_NEXT_ROW, None) == [(0, (1, 2, 1)), (1, (1, 1, 1)), (2, (1, 1, 1))]
    assert found(Skip.TO_FIRST, 1) == [(0, (1, 2, 1)), (1, (1, 1, 1)), (2, (1, 1, 1))]
    assert found(Skip.TO_LAST, 1) == [(0, (1, 2, 1)), (2, (1, 1, 1))]
    assert found(Skip.TO_FIRST, 2) == [(0, (1, 2, 1))]
    with pytest.raises(TableError, match="Could not skip to first element of a match"):
        found(Skip.TO_LAST, 0)


def test_skipping_to_a_variable_without_rows():
    variables = (PatternVariable("A"), PatternVariable("B", 0, 1), PatternVariable("C"))
    automaton = automaton_of(RowPattern(variables, Skip.TO_LAST, 1), [Rule(0), Rule(1), Rule(2)])
    known = automaton.new()
    automaton.process(known, Row(0, 1, 0), 0)
    with pytest.raises(TableError, match="No such element in the found match"):
        automaton.process(known, Row(1, 4, 0), 0)


def test_a_greedy_variable_forbids_its_rows_to_the_next_one():
    edges = edges_of([PatternVariable("A", 1, None), PatternVariable("B")])
    assert [[(edge.tests, edge.variable, edge.target) for edge in state] for state in edges] == [
        [((0,), 0, 1)], [((0,), 0, 1), ((1, ~0), 1, -1)],
    ]  # fmt: skip


def test_a_match_waits_for_an_earlier_one_that_may_become_longer():
    variables = (PatternVariable("A"), PatternVariable("B", 0, None, False), PatternVariable("C"))
    pattern = RowPattern(variables, Skip.TO_NEXT_ROW, None, within=10)
    rules = [Rule(0), Rule(1), Rule(2, counted=1, limit=0)]
    automaton = automaton_of(pattern, rules)
    known = automaton.new()
    for number, bits in enumerate([1, 3, 6]):
        assert automaton.process(known, Row(number, bits, number), number)[0] == []
    assert automaton.advance(known, 9) == []
    assert automaton.advance(known, 10) == [(1, (1, 0, 1))]


def test_rows_that_nothing_needs_are_forgotten():
    variables = (PatternVariable("A", 1, None, False), PatternVariable("B"))
    pattern = RowPattern(variables, Skip.PAST_LAST_ROW, None, within=50)
    automaton = automaton_of(pattern, [Rule(0), Rule(1)])
    known = automaton.new()
    for number in range(2_000):
        automaton.advance(known, number)
        automaton.process(known, Row(number, 1, number), number)
        assert len(known[1]) <= 2 * 66
    known_size = len(pickle.dumps(known))
    assert known_size < 20_000


def test_long_patterns():
    states = edges_of([PatternVariable("A", 20_000, 20_000), PatternVariable("B", 0, 20_000)])
    assert len(states) == 40_000
    assert max(map(len, states)) == 1
    optional = [PatternVariable(f"V{number}", 0, 1) for number in range(200)]
    states = edges_of([*optional, PatternVariable("Z")])
    assert [len(edges) for edges in states] == list(range(201, 0, -1))
