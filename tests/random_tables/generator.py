"""Makes programs from seeds: a world of tables, and relations upon them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.random_tables.aggregates import aggregates
from tests.random_tables.expressions import (
    NUMBERS_OF_ANY,
    Columns,
    calls,
    column,
    expression,
    kind_of,
    mixed_expression,
    predicate,
)
from tests.random_tables.kinds import (
    ARRAY,
    BOOLEAN,
    COMPARABLE,
    DOUBLE,
    FLOAT,
    INT,
    KINDS,
    LTZ,
    MAP,
    NUMBERS,
    OF_ELEMENTS,
    OF_STREAMS,
    ROW,
    ROWS,
    STRING,
    TIMESTAMP,
    seconds,
    value,
)
from tests.random_tables.operations import NUMBER
from tests.random_tables.program import EXACT, FINAL, Program, Relation, Table, used

PROGRAMS_OF_A_WORLD = 10
_KEYS = [k for k in COMPARABLE if k not in {FLOAT, DOUBLE}]


@dataclass(frozen=True)
class Scope:
    """A table or view, and its properties.

    Args:
        name: of it.
        columns: pairs of name and type.
        time: the column that is its rowtime.
        delay: of its watermark.
        late: whether some rows may be late.
        updating: whether rows are taken back.
        ordered: whether the order of its changes is fixed.
        python: whether Python functions are called.
    """

    name: str
    columns: Columns
    time: str | None = None
    late: bool = False
    updating: bool = False
    ordered: bool = True
    python: bool = False

    def of(self, *kinds: str) -> list[str]:
        """Return the names of the columns of some types, without the rowtime."""
        return [
            n for n, k in self.columns if k.removesuffix(" NOT NULL") in kinds and n != self.time
        ]

    def kind(self, name: str) -> str:
        """Return the type of a column."""
        return dict(self.columns)[name].removesuffix(" NOT NULL")


def world(seed: int) -> tuple[Table, ...]:
    """Return the tables that some programs have in common."""
    rng = Random(f"world {seed}")
    return tuple(_table(rng, f"t{number}", number) for number in range(3))


def _table(rng: Random, name: str, number: int) -> Table:
    source = ["json", rng.choice(["json", "elements", "changelog"]), "debezium"][number]
    choice = sorted({"changelog": OF_STREAMS, "elements": OF_ELEMENTS}.get(source, KINDS))
    kinds = rng.sample(choice, rng.randint(3, 6))
    kinds = [*dict.fromkeys([INT, rng.choice([STRING, STRING, *choice]), *kinds])]
    columns = [["id", INT], *([KINDS[k].column, k] for k in kinds)]
    timed = number < 2 and source == "json"
    if timed:
        columns.append(["ts", TIMESTAMP])
    if rng.random() < 0.3:
        columns[1] = [columns[1][0], INT + " NOT NULL"]
    delay = rng.choice([0, 2, 5])
    late = rng.random() < 0.5
    rows: list[list[Any]] = []
    clock = 0
    for place in range(rng.choice([0, *(5, 8, 8, 11, 11, 14, 20) * 2])):
        clock += rng.choice([0, 1, 1, 2, 3, 9])
        row = ["+I", place, *(_value(rng, kind) for _, kind in columns[1:])]
        if timed:
            back = rng.choice([0, 0, 1, delay] + ([delay + 1, 30] if late else []))
            row[-1] = seconds(max(0, clock - min(back, 1000)) if back else clock)
        rows.append(row)
    if source in {"changelog", "debezium"}:
        rows = _updated(rng, rows, columns)
    return Table(name, columns, rows, source, delay if timed else None)


def is_late(table: Table) -> bool:
    """Return True if a row of a table comes after a watermark that is not before it."""
    if table.delay is None:
        return False
    highest = ""
    for row in table.rows:
        if row[-1] <= highest:
            return True
        highest = max(highest, _shifted(row[-1], table.delay))
    return False


_TIMED = {"over", "dedup", "interval", "window_join", "window"}


def has_late_rows(program: Program) -> bool:
    """Return True if rows may be late for an operator; with two subtasks Flink races then."""
    timed = any(relation.op in _TIMED for relation in program.relations)
    return timed and program.mode != "BATCH" and any(map(is_late, program.tables))


def _shifted(text: str, delay: int) -> str:
    moment = datetime.datetime.fromisoformat(text) - datetime.timedelta(seconds=delay)
    return str(moment)


def _value(rng: Random, kind: str) -> Any:
    if kind.endswith(" NOT NULL"):
        return value(kind.removesuffix(" NOT NULL"), rng)
    return None if rng.random() < 0.15 else value(kind, rng)


def _updated(rng: Random, rows: list[list[Any]], columns: list[list[str]]) -> list[list[Any]]:
    """Return rows with updates and deletions of some of them."""
    made: list[list[Any]] = []
    current: dict[int, list[Any]] = {}
    for row in rows:
        made.append(row)
        current[row[1]] = row
        if rng.random() < 0.4:
            old = current.pop(rng.choice(sorted(current)))
            if rng.random() < 0.7:
                new = ["+U", old[1], *(_value(rng, kind) for _, kind in columns[1:])]
                made += [["-U", *old[1:]], new]
                current[new[1]] = new
            else:
                made.append(["-D", *old[1:]])
    return made


@dataclass
class Draft:
    """Collects the relations of a program."""

    rng: Random
    tables: dict[str, Table]
    batch: bool
    fixed: bool
    """True where the order of changes can be fixed at all."""
    relations: list[Relation] = field(default_factory=list)

    def add(
        self, op: str, inputs: list[Scope], columns: Columns, parts: dict[str, Any], **known: Any
    ) -> Scope:
        """Add a relation, and return what is known of it."""
        name = f"v{len(self.relations)}"
        named = [list(pair) for pair in columns]
        api = known.pop("api", "sql")
        inputs_names = [scope.name for scope in inputs]
        self.relations.append(Relation(name, op, inputs_names, named, parts, api))
        merged: dict[str, Any] = {
            "late": any(s.late for s in inputs),
            "updating": any(s.updating for s in inputs),
            "ordered": len(inputs) == 1 and inputs[0].ordered,
            "python": any(s.python for s in inputs),
            **known,
        }
        return Scope(name, named, **merged)

    def names(self, count: int) -> list[str]:
        """Return names of new columns."""
        return [f"{'abcdefghijkl'[n]}{len(self.relations)}" for n in range(count)]


MIXED_NUMBERS = 20_000
"""The first seed of programs that mix types of numbers."""


def generate(seed: int) -> Program:
    """Return the program of a seed."""
    if seed >= MIXED_NUMBERS:
        return _with_mixed_numbers(seed)
    rng = Random(f"program {seed}")
    tables = {table.name: table for table in world(seed // PROGRAMS_OF_A_WORLD)}
    batch = rng.random() < 0.3
    if batch:
        tables = {n: t for n, t in tables.items() if t.source in {"json", "elements"}}
    parallelism = rng.choice([1, 1, 1, 2])
    settings = {}
    if not batch and rng.random() < 0.25 and not any(map(is_late, tables.values())):
        settings = {
            "table.exec.mini-batch.enabled": "true",
            "table.exec.mini-batch.allow-latency": "5 s",
            "table.exec.mini-batch.size": rng.choice(["2", "5", "1000"]),
        }
    draft = Draft(rng, tables, batch, not batch and parallelism == 1 and not settings)
    scope = _base(draft)
    # The planner of PyFlink leaves out an OVER that nobody uses, and then keeps late rows.
    for _ in range(0 if scope.late else rng.choice([0, 1, 1, 2, 2, 3])):
        scope = _further(draft, scope)
    readers, how = [scope], "collect"
    if rng.random() < 0.15 and not batch:
        how = rng.choice(["print", "stream"])
        readers += [rng.choice([_select, _group, _distinct])(draft, scope)]
    outputs = tuple(dict.fromkeys(_shown(draft, reader).name for reader in readers))
    order = EXACT if draft.fixed and scope.ordered and how == "collect" else FINAL
    program = Program(
        seed,
        tuple(tables.values()),
        tuple(draft.relations),
        outputs,
        how,
        "BATCH" if batch else "STREAMING",
        parallelism,
        settings,
        order,
    )
    program = used(program)
    return program.with_(parallelism=1) if has_late_rows(program) else program


def _with_mixed_numbers(seed: int) -> Program:
    """Return a program on tables of numbers, whose operations have operands of several types."""
    rng = Random(f"mixed {seed}")
    tables = {name: _numbers(rng, name) for name in ("t0", "t1")}
    batch = rng.random() < 0.4
    draft = Draft(rng, tables, batch, False)
    scope = _number_source(draft)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        scope = rng.choice(
            [_number_select, _number_join, _number_set, _number_group, _number_semi]
        )(draft, scope)
    plain = [pair for pair in scope.columns if pair[1] in NUMBERS_OF_ANY]
    items = {
        name: mixed_expression(rng, STRING if rng.random() < 0.7 else BOOLEAN, plain, 3)
        for name in draft.names(rng.randint(3, 5))
    }
    where = mixed_expression(rng, BOOLEAN, plain, 1) if rng.random() < 0.3 else None
    shown = _selected(draft, scope, items, where)
    mode = "BATCH" if batch else "STREAMING"
    return used(Program(seed, tuple(tables.values()), tuple(draft.relations), (shown.name,),
                        mode=mode))  # fmt: skip


def _numbers(rng: Random, name: str) -> Table:
    columns = [["id", INT], *([KINDS[kind].column, kind] for kind in NUMBERS)]
    source = rng.choice(["json", "elements"])
    rows = [
        ["+I", place, *(_value(rng, kind) for _, kind in columns[1:])]
        for place in range(rng.choice([3, 5, 8]))
    ]
    return Table(name, columns, rows, source)


def _number_source(draft: Draft) -> Scope:
    table = draft.rng.choice(list(draft.tables.values()))
    return Scope(table.name, table.columns)


def _number_items(draft: Draft, scope: Scope, count: int) -> dict[str, Any]:
    rng = draft.rng
    names = draft.names(count)
    return {name: mixed_expression(rng, NUMBER, scope.columns, 1) for name in names}


def _number_select(draft: Draft, scope: Scope) -> Scope:
    items = _number_items(draft, scope, draft.rng.randint(2, 4))
    where = None
    if draft.rng.random() < 0.3:
        where = mixed_expression(draft.rng, BOOLEAN, scope.columns, 1)
    return _selected(draft, scope, items, where)


def _number_join(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    other = _number_source(draft)
    on = [[rng.choice(scope.columns)[0], rng.choice(other.columns)[0]]]
    kind = rng.choice(["INNER", "LEFT", "FULL"])
    sides = [["l", n] for n, _ in scope.columns] + [["r", n] for n, _ in other.columns]
    sides = rng.sample(sides, min(len(sides), 4))
    names = draft.names(len(sides))
    columns = [[n, (scope if s == "l" else other).kind(c)] for n, (s, c) in zip(names, sides)]
    parts = {"kind": kind, "on": on, "extra": None, "items": sides}
    return draft.add("join", [scope, other], columns, parts, updating=True)


def _number_semi(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    other = _number_source(draft)
    on = [rng.choice(scope.columns)[0], rng.choice(other.columns)[0]]
    parts = {"kind": rng.choice(["IN", "NOT IN", "EXISTS", "NOT EXISTS"]), "on": on}
    return draft.add("semi", [scope, other], scope.columns, parts, updating=True)


def _number_set(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    other = _number_source(draft)
    count = min(rng.randint(1, 2), len(scope.columns))
    lefts, rights = (rng.sample(list(s.columns), count) for s in (scope, other))
    pairs = [[left[0], right[0]] for left, right in zip(lefts, rights)]
    kind = rng.choice(["UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT"])
    columns = [[n, NUMBER] for n in draft.names(count)]
    api = "table" if kind == "UNION ALL" and rng.random() < 0.3 else "sql"
    parts = {"kind": kind, "pairs": pairs}
    return draft.add("set", [scope, other], columns, parts, updating=True, api=api)


def _number_group(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    keys = rng.sample([n for n, _ in scope.columns], rng.choice([0, 1]))
    aggs = [
        {"name": rng.choice(["SUM", "MIN", "MAX", "AVG"]), "distinct": False, "filter": None,
         "of": mixed_expression(rng, NUMBER, scope.columns, 1), "kind": NUMBER}
        for _ in range(rng.randint(1, 3))
    ]  # fmt: skip
    names = draft.names(len(keys) + len(aggs))
    kinds = [*(scope.kind(k) for k in keys), *(NUMBER for _ in aggs)]
    parts = {"keys": keys, "aggs": aggs, "having": None, "sets": ""}
    columns = [list(pair) for pair in zip(names, kinds)]
    return draft.add("group", [scope], columns, parts, updating=True)


_SHOWN = {LTZ: "local", **{kind: f"as_text:{kind}" for kind in (ARRAY, MAP, ROW, ROWS)}}
"""Types that PyFlink cannot always collect, and the operations that change them."""


def _shown(draft: Draft, scope: Scope) -> Scope:
    """Return a relation of what PyFlink can collect."""
    if not scope.of(*_SHOWN):
        return scope
    items = {}
    for name, (old, _) in zip(draft.names(12), scope.columns):
        found = column(old, scope.kind(old))
        made = _SHOWN.get(scope.kind(old))
        items[name] = [made, found] if made else found
    return _selected(draft, scope, items)


def _source(draft: Draft) -> Scope:
    table = draft.rng.choice(list(draft.tables.values()))
    return Scope(
        table.name,
        table.columns,
        "ts" if table.delay is not None else None,
        late=is_late(table),
        updating=table.source in {"changelog", "debezium"},
    )


def _base(draft: Draft) -> Scope:
    """Return a relation without rowtime on a table."""
    source = _source(draft)
    if source.time is not None and draft.rng.random() < 0.55:
        timed = _timed(draft, source)
        if timed is not None:
            return timed
    return replace(_select(draft, source), late=False)


def _further(draft: Draft, scope: Scope) -> Scope:
    """Return a relation on a given one."""
    made = draft.rng.choice(
        [_select, _select, _group, _group, _group, _join, _join, _join, _set, _rank, _limit,
         _lateral, _unnest, _semi, _distinct, _scalar, _over, _stream]
    )(draft, scope)  # fmt: skip
    return made if made is not None else _select(draft, scope)


def _select(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    items = []
    python = rng.random() < 0.2
    names = draft.names(8)
    if rng.random() < 0.5:
        kept = rng.sample(scope.columns, min(len(scope.columns), rng.randint(1, 5)))
    else:
        kept = [pair for pair in scope.columns if rng.random() < 0.8]
    if scope.time is not None:
        kept = [pair for pair in kept if pair[0] != scope.time]
    plain = [pair for pair in scope.columns if pair[0] != scope.time]
    for name, _ in kept[:5]:
        items.append(column(name, scope.kind(name)))
    for _ in range(rng.randint(0 if items else 1, 2)):
        kind = rng.choice(sorted(KINDS))
        items.append(expression(rng, kind, plain, 3, python=python))
    where = predicate(rng, plain, 2, python=python) if rng.random() < 0.3 else None
    return _selected(draft, scope, dict(zip(names, items)), where)


def _selected(draft: Draft, scope: Scope, items: dict[str, Any], where: Any = None) -> Scope:
    rng = draft.rng
    columns = [[name, kind_of(node)] for name, node in items.items()]
    used_python = any(map(calls, items.values())) or (where is not None and calls(where))
    parts = {"items": [[n, e] for n, e in items.items()], "where": where}
    api = "table" if rng.random() < 0.4 else "sql"
    return draft.add("select", [scope], columns, parts, api=api, python=scope.python or used_python)


def _plain(draft: Draft, scope: Scope, kinds: list[str]) -> Scope:
    """Return a relation of columns of some types only, each with a new name."""
    kept = [pair for pair in scope.columns if scope.kind(pair[0]) in kinds][:6]
    names = draft.names(len(kept) + 1)
    items = {n: column(old, scope.kind(old)) for n, (old, _) in zip(names, kept)}
    if not items:
        items = {names[0]: ["=INT", 1]}
    return _selected(draft, scope, items)


def _other(draft: Draft) -> Scope:
    """Return another relation, to be joined."""
    scope = _select(draft, _source(draft))
    return _group(draft, scope) if draft.rng.random() < 0.25 else scope


def _group(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    keys = _keys(rng, scope, 2)
    ordered = draft.fixed and scope.ordered and not scope.updating
    aggs = aggregates(rng, scope.columns, batch=draft.batch, ordered=ordered)
    names = draft.names(len(keys) + len(aggs))
    sets = ""
    if len(keys) > 1 and rng.random() < 0.2:
        sets = rng.choice(["ROLLUP", "CUBE"])
    columns = [[n, scope.kind(k)] for n, k in zip(names, keys)]
    columns += [[n, a["kind"]] for n, a in zip(names[len(keys) :], aggs)]
    having = None
    if rng.random() < 0.2:
        having = predicate(rng, columns[len(keys) :], 1)
    parts = {"keys": keys, "aggs": aggs, "having": having, "sets": sets}
    simple = not sets and all(a["name"] in _FLUENT and not a["filter"] for a in aggs)
    api = "table" if simple and rng.random() < 0.4 else "sql"
    python = scope.python or any(a["name"].startswith(("py_", "pd_")) for a in aggs)
    return draft.add(
        "group", [scope], columns, parts, updating=True, api=api, python=python,
        ordered=scope.ordered and not sets and all(a["name"] != "py_total" for a in aggs),
    )  # fmt: skip


_FLUENT = {"COUNT", "SUM", "MIN", "MAX", "AVG", "py_total"}


def _keys(rng: Random, scope: Scope, most: int) -> list[str]:
    found = scope.of(*_KEYS)
    return rng.sample(found, min(len(found), rng.randint(0, most)))


def _pairs(rng: Random, left: Scope, right: Scope, most: int) -> list[list[str]]:
    """Return pairs of columns of the same type."""
    found = [
        [a, b]
        for a, _ in left.columns
        for b, _ in right.columns
        if left.kind(a) == right.kind(b) and left.kind(a) in _KEYS and left.kind(a) != BOOLEAN
    ]
    return rng.sample(found, min(len(found), rng.randint(1, most)))


def _join(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    other = _other(draft)
    on = _pairs(rng, scope, other, 2)
    if not on:
        return None
    kind = rng.choice(["INNER", "INNER", "LEFT", "RIGHT", "FULL"])
    extra = None
    if rng.random() < (0.4 if kind == "INNER" else 0.15):
        extra = predicate(rng, [*scope.columns, *other.columns], 1)
    sides = [["l", n] for n, _ in scope.columns] + [["r", n] for n, _ in other.columns]
    sides = rng.sample(sides, min(len(sides), rng.randint(1, 6)))
    names = draft.names(len(sides))
    columns = [[n, (scope if s == "l" else other).kind(c)] for n, (s, c) in zip(names, sides)]
    parts = {"kind": kind, "on": on, "extra": extra, "items": sides}
    fluent = kind == "INNER" and scope.name != other.name  # others lose NULL in PyFlink
    api = "table" if fluent and rng.random() < 0.4 else "sql"
    updating = scope.updating or other.updating or kind != "INNER"
    return draft.add("join", [scope, other], columns, parts, updating=updating, api=api)


def _semi(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    other = _other(draft)
    on = _pairs(rng, scope, other, 1)
    if not on:
        return None
    parts = {"kind": rng.choice(["IN", "NOT IN", "EXISTS", "NOT EXISTS"]), "on": on[0]}
    return draft.add("semi", [scope, other], scope.columns, parts, updating=True)


def _set(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    other = _other(draft)
    pairs = _pairs(rng, scope, other, 3)
    pairs = (
        [list(p) for p in zip(*[dict.fromkeys(column) for column in zip(*pairs)])] if pairs else []
    )
    pairs = [p for p in pairs if scope.kind(p[0]) == other.kind(p[1])]
    if not pairs:
        return None
    kind = rng.choice(["UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT",
                       "INTERSECT ALL", "EXCEPT ALL"])  # fmt: skip
    names = draft.names(len(pairs))
    columns = [[n, scope.kind(a)] for n, (a, _) in zip(names, pairs)]
    updating = kind != "UNION ALL" or scope.updating or other.updating
    fluent = draft.batch or kind == "UNION ALL"
    api = "table" if fluent and rng.random() < 0.3 else "sql"
    return draft.add("set", [scope, other], columns, {"kind": kind, "pairs": pairs},
                     updating=updating, api=api)  # fmt: skip


def _distinct(draft: Draft, scope: Scope) -> Scope:
    scope = _plain(draft, scope, _KEYS)
    return draft.add("distinct", [scope], scope.columns, {}, updating=True)


def _order(rng: Random, scope: Scope) -> list[list[str]]:
    """Return an order in which rows that differ are never equal."""
    names = [n for n, _ in scope.columns]
    rng.shuffle(names)
    return [[n, rng.choice(["ASC", "DESC"])] for n in names]


_RANKED = [k for k in COMPARABLE if k not in {"BYTES", BOOLEAN}]


def _rank(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    scope = _plain(draft, scope, _RANKED)
    keys = rng.sample(scope.of(*_KEYS), min(len(scope.of(*_KEYS)), rng.randint(0, 1)))
    order = [pair for pair in _order(rng, scope) if pair[0] not in keys] or _order(rng, scope)
    number = rng.random() < 0.4
    names = [n for n, _ in scope.columns]
    columns = [*scope.columns, *([[f"n{len(draft.relations)}", "BIGINT"]] if number else [])]
    parts = {"keys": keys, "order": order, "most": rng.choice([1, 1, 2, 3]), "number": number,
             "names": names}  # fmt: skip
    return draft.add("rank", [scope], columns, parts, updating=True)


def _limit(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    scope = _plain(draft, scope, _RANKED)
    parts = {"order": _order(rng, scope), "most": rng.choice([1, 2, 3, 5])}
    api = "table" if rng.random() < 0.4 else "sql"
    return draft.add("limit", [scope], scope.columns, parts, updating=True, api=api)


def _lateral(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    kind, function, results = rng.choice(
        [(STRING, "py_split", [STRING, INT]), (INT, "py_upto", [INT])]
    )
    if not scope.of(kind):
        return None
    names = draft.names(len(results))
    columns = [*scope.columns, *([n, k] for n, k in zip(names, results))]
    parts = {"function": function, "argument": rng.choice(scope.of(kind)), "names": names,
             "left": rng.random() < 0.5}  # fmt: skip
    api = "table" if rng.random() < 0.4 else "sql"
    return draft.add("lateral", [scope], columns, parts, api=api, python=True)


def _unnest(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    found = scope.of(ARRAY, MAP, ROWS)
    if not found:
        return None
    name = rng.choice(found)
    results = {ARRAY: [INT], MAP: [STRING, INT], ROWS: [INT, STRING]}[scope.kind(name)]
    names = draft.names(len(results))
    columns = [*scope.columns, *([n, k] for n, k in zip(names, results))]
    parts = {"column": name, "names": names, "left": rng.random() < 0.5}
    ordered = scope.ordered and scope.kind(name) != MAP  # entries have no order
    return draft.add("unnest", [scope], columns, parts, ordered=ordered)


def _scalar(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    other = _other(draft)
    if not other.of(INT):
        return None
    name = f"s{len(draft.relations)}"
    parts = {
        "call": rng.choice(["MAX", "MIN", "COUNT", "SUM"]),
        "column": rng.choice(other.of(INT)),
    }
    kind = "BIGINT" if parts["call"] == "COUNT" else INT
    columns = [*scope.columns, [name, kind]]
    return draft.add("scalar", [scope, other], columns, {**parts, "name": name}, updating=True)


def _over(draft: Draft, scope: Scope) -> Scope | None:
    """Return aggregates over all rows in an order, which needs no rowtime in BATCH."""
    rng = draft.rng
    if not draft.batch:
        return None
    scope = _plain(draft, scope, _RANKED)
    return _over_with(draft, scope, _order(rng, scope), scope.of(*_KEYS))


def _over_with(draft: Draft, scope: Scope, order: list[list[str]], keys: list[str]) -> Scope:
    rng = draft.rng
    keys = rng.sample(keys, min(len(keys), rng.randint(0, 1)))
    aggs = aggregates(rng, scope.columns, batch=draft.batch, ordered=False, over=True)
    frames = ["ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
              "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"]  # fmt: skip
    if scope.time is not None:
        frames = ["RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
                  "RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW"]  # fmt: skip
    names = draft.names(len(aggs))
    kept = [pair for pair in scope.columns if pair[0] != scope.time]
    columns = [*kept, *([n, a["kind"]] for n, a in zip(names, aggs))]
    parts = {"keys": keys, "order": order, "aggs": aggs, "frame": rng.choice(frames),
             "names": [n for n, _ in kept]}  # fmt: skip
    return draft.add("over", [scope], columns, parts, ordered=False)


def _stream(draft: Draft, scope: Scope) -> Scope | None:
    """Return the relation that comes back of a stream."""
    if draft.batch:
        return None
    rng = draft.rng
    how = "changelog" if scope.updating else rng.choice(["changelog", "data"])
    if any(n for n, _ in scope.columns if n == scope.time):
        return None
    return draft.add("stream", [scope], scope.columns, {"how": how}, updating=how == "changelog",
                     python=True)  # fmt: skip


def _timed(draft: Draft, scope: Scope) -> Scope | None:
    """Return a relation that needs the rowtime of its input, and has none itself."""
    rng = draft.rng
    made = rng.choice([_window, _window, _window, _dedup, _timed_over, _interval, _window_join])
    return made(draft, scope)


_WINDOWS = [
    ("TUMBLE", "INTERVAL '5' SECOND"),
    ("TUMBLE", "INTERVAL '10' SECOND, INTERVAL '3' SECOND"),
    ("HOP", "INTERVAL '3' SECOND, INTERVAL '9' SECOND"),
    ("CUMULATE", "INTERVAL '4' SECOND, INTERVAL '12' SECOND"),
]


def _window(draft: Draft, scope: Scope) -> Scope:
    rng = draft.rng
    windows = [*_WINDOWS, ("SESSION", "INTERVAL '4' SECOND")]
    name, sizes = rng.choice(windows)
    keys = _keys(rng, scope, 2)
    aggs = aggregates(rng, scope.columns, batch=draft.batch, ordered=False, window=True)
    names = draft.names(len(keys) + len(aggs) + 2)
    kinds = [TIMESTAMP, TIMESTAMP, *(scope.kind(k) for k in keys), *(a["kind"] for a in aggs)]
    partition = rng.sample(keys, len(keys)) if name == "SESSION" else []
    if draft.batch and name == "SESSION":
        name, sizes, partition = "TUMBLE", "INTERVAL '5' SECOND", []
    parts = {"window": name, "sizes": sizes, "keys": keys, "aggs": aggs, "partition": partition,
             "time": scope.time}  # fmt: skip
    columns = [list(pair) for pair in zip(names, kinds)]
    return draft.add("window", [scope], columns, parts, ordered=False, late=False)


def _dedup(draft: Draft, scope: Scope) -> Scope | None:
    rng = draft.rng
    if draft.batch:
        return None
    keys = _keys(rng, scope, 2) or scope.of(INT)[:1]
    names = [n for n, _ in scope.columns if n != scope.time]
    columns = [pair for pair in scope.columns if pair[0] != scope.time]
    last = rng.random() < 0.5
    parts = {"keys": keys, "time": scope.time, "last": last, "names": names}
    return draft.add("dedup", [scope], columns, parts, updating=True, ordered=False, late=False)


def _timed_over(draft: Draft, scope: Scope) -> Scope:
    assert scope.time is not None
    return _over_with(draft, scope, [[scope.time, "ASC"]], scope.of(*_KEYS))


def _two_timed(draft: Draft, scope: Scope) -> Scope | None:
    """Return another input with a rowtime, if none of the two has late rows."""
    others = [
        replace(_source_of(t), name=n) for n, t in draft.tables.items() if t.delay is not None
    ]
    other = draft.rng.choice(others)
    return None if scope.late or other.late else other


def _source_of(table: Table) -> Scope:
    return Scope(table.name, table.columns, "ts", late=is_late(table))


def _interval(draft: Draft, scope: Scope) -> Scope | None:
    return _timed_join(draft, scope, "interval")


def _window_join(draft: Draft, scope: Scope) -> Scope | None:
    return _timed_join(draft, scope, "window_join")


def _timed_join(draft: Draft, scope: Scope, op: str) -> Scope | None:
    rng = draft.rng
    other = _two_timed(draft, scope)
    if other is None:
        return None
    on = [p for p in _pairs(rng, scope, other, 2) if "ts" not in p] or [["id", "id"]]
    sides = [["l", n] for n, _ in scope.columns if n != "ts"]
    sides += [["r", n] for n, _ in other.columns if n != "ts"]
    sides = rng.sample(sides, min(len(sides), rng.randint(2, 6)))
    names = draft.names(len(sides))
    columns = [[n, (scope if s == "l" else other).kind(c)] for n, (s, c) in zip(names, sides)]
    kind = rng.choice(["INNER", "LEFT", "RIGHT", "FULL"])
    name, sizes = rng.choice(_WINDOWS[:1] + _WINDOWS[2:])
    parts = {"on": on, "kind": kind, "items": sides, "low": rng.choice([0, 2, 5]),
             "high": rng.choice([0, 3, 10]), "window": name, "sizes": sizes}  # fmt: skip
    return draft.add(op, [scope, other], columns, parts)
