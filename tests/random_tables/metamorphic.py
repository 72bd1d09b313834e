"""Pairs of programs that have to give the same, whatever that is: checks without an oracle."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random

from tests.random_programs.outcome import Outcome
from tests.random_tables import lite
from tests.random_tables.differences import difference
from tests.random_tables.expressions import column, predicate
from tests.random_tables.generator import has_late_rows
from tests.random_tables.here import outcome
from tests.random_tables.plain import plain
from tests.random_tables.program import FINAL, Program, Relation
from tests.random_tables.running import left
from tests.random_tables.shrinking import shrink

Change = Callable[[Program], "Program | None"]
_MINI_BATCHES = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "5 s",
    "table.exec.mini-batch.size": "3",
}
_ONLY_STREAMED = {"stream", "dedup", "interval", "window_join", "window"}
"""Operations that BATCH mode has not, or not in the same way."""


def split(program: Program) -> Program:
    """Return a program whose rows are chosen by a predicate that is true, false and unknown."""
    return _above(program, _parted)


def _parted(program: Program, relation: Relation) -> list[Relation]:
    rng = Random(f"split {program.seed} {relation.name}")
    columns = relation.columns
    chosen = predicate(rng, columns, 2)
    parts = [chosen, ["not", chosen], ["is_null:BOOLEAN", chosen]]
    items = [[name, column(name, kind)] for name, kind in columns]
    made = [
        Relation(
            f"{relation.name}_{n}",
            "select",
            [relation.name],
            columns,
            {"items": items, "where": part},
        )
        for n, part in enumerate(parts)
    ]
    pairs = [[name, name] for name, _ in columns]
    together = {"kind": "UNION ALL", "pairs": pairs}
    both = Relation(f"{relation.name}_3", "set", [made[0].name, made[1].name], columns, together)
    return [
        *made,
        both,
        Relation(f"{relation.name}_4", "set", [both.name, made[2].name], columns, together),
    ]


def wrapped(program: Program) -> Program:
    """Return a program with a view that chooses all columns above each view."""
    relations: list[Relation] = []
    names: dict[str, str] = {}
    for relation in program.relations:
        inputs = [names.get(name, name) for name in relation.inputs]
        items = [[name, column(name, kind)] for name, kind in relation.columns]
        above = Relation(
            f"{relation.name}_w",
            "select",
            [relation.name],
            relation.columns,
            {"items": items, "where": None},
        )
        names[relation.name] = above.name
        relations += [replace(relation, inputs=inputs), above]
    outputs = tuple(names[name] for name in program.outputs)
    return program.with_(relations=tuple(relations), outputs=outputs)


def as_batch(program: Program) -> Program | None:
    """Return a program of streams in BATCH mode, where both have the same rows in the end."""
    if program.mode == "BATCH" or has_late_rows(program) or program.how != "collect":
        return None
    if any(table.source not in {"json", "elements"} for table in program.tables):
        return None
    for relation in program.relations:
        aggs = relation.parts.get("aggs", ())
        if relation.op in _ONLY_STREAMED or any(a["name"].startswith("py_") for a in aggs):
            return None
        if relation.op == "scalar" or (relation.op == "group" and not relation.parts["keys"]):
            return None  # BATCH has a row where there are none
    return program.with_(mode="BATCH", settings={}, order=FINAL)


def other_parallelism(program: Program) -> Program | None:
    """Return a program with two subtasks in place of one, or the other way round."""
    if has_late_rows(program) or _needs_an_order(program):
        return None
    return program.with_(parallelism=3 - program.parallelism, order=FINAL)


def mini_batches(program: Program) -> Program | None:
    """Return a program with mini-batches in place of single rows, or the other way round."""
    if program.mode == "BATCH" or has_late_rows(program):
        return None
    return program.with_(settings={} if program.settings else _MINI_BATCHES, order=FINAL)


def _needs_an_order(program: Program) -> bool:
    names = {a["name"] for relation in program.relations for a in relation.parts.get("aggs", ())}
    return bool(names & {"LISTAGG", "FIRST_VALUE", "LAST_VALUE"})


def _above(program: Program, make: Callable[[Program, Relation], list[Relation]]) -> Program:
    """Return a program with relations above each output, the last of which is the output."""
    relations, outputs = list(program.relations), []
    for name in program.outputs:
        [relation] = [each for each in program.relations if each.name == name]
        relations += make(program, relation)
        outputs.append(relations[-1].name)
    return program.with_(relations=tuple(relations), outputs=tuple(outputs), order=FINAL)


CHANGES: dict[str, Change] = {
    "split": split,
    "wrapped": wrapped,
    "batch": as_batch,
    "parallelism": other_parallelism,
    "mini-batch": mini_batches,
}
LITE = "sqlite"
CHECKS = (*CHANGES, LITE)


@dataclass
class Checked:
    """The result of a check.

    Args:
        programs: how many were compared.
        differing: the differences, by seed.
    """

    programs: int
    differing: dict[int, str]


def check(name: str, programs: Iterable[Program]) -> Checked:
    """Compare programs with what has to give the same; those that fail are left out."""
    made = Checked(0, {})
    for program in programs:
        found = _compared(name, program)
        if found is None:
            continue
        made.programs += 1
        if found[0] is not None:
            made.differing[program.seed] = found[0]
    return made


def _compared(name: str, program: Program) -> tuple[str | None] | None:
    """Return a difference or None in a tuple; None if nothing can be compared."""
    program = prepared(name, program)
    expected = other(name, program)
    if expected is None:
        return None
    found = final(outcome(program))
    return None if found.failure is not None else (difference(expected, found, any_order=True),)


def prepared(name: str, program: Program) -> Program:
    """Return the form of a program that a check takes."""
    return plain(program.with_(how="collect")) if name == LITE else program


def other(name: str, program: Program) -> Outcome | None:
    """Return the outcome that a program has to have by a check; None if it does not say."""
    if name == LITE:
        if has_late_rows(program):
            return None
        try:
            return lite.outcome(program)
        except LookupError:
            return None
    changed = CHANGES[name](program)
    return None if changed is None else final(outcome(changed))


def final(found: Outcome) -> Outcome:
    """Return the rows that are left of all changes."""
    if found.failure is not None:
        return found
    return Outcome(tuple(tuple(left(rows)) for rows in found.results))


def smallest(name: str, program: Program) -> Program:
    """Return the smallest program found that differs by a check as the given one does."""

    def here(program: Program) -> Outcome:
        return final(outcome(program))

    def expected(program: Program) -> Outcome:
        try:
            return other(name, program) or here(program)
        except (sqlite3.Error, ValueError):
            return here(program)  # one of the smaller programs that are not sound

    return shrink(program, lambda p: list(map(expected, p)), lambda p: list(map(here, p)))
