"""Small functions in line: they do what a call does, and tracebacks show them."""

from __future__ import annotations

import random
import re
import sys
import traceback

import pytest

from pyflink_on_spark._runtime.operators import inlining
from pyflink_on_spark._runtime.operators.function_loop import processes, step_of
from pyflink_on_spark._runtime.operators.inlining import inlined
from pyflink_on_spark._runtime.operators.rolling import RollingReduceOperator
from pyflink_on_spark._runtime.operators.stateless import (
    ConvertOperator,
    CopyMutableOperator,
    FilterOperator,
    MapOperator,
    SelectKeyOperator,
)
from pyflink_on_spark._runtime.types.fitting import named_in
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.common import Row, Types
from tests.runtime.harness import Harness

FACTOR = 7


class Scaled:
    def __init__(self, factor):
        self.factor = factor
        self.__hidden = factor + 1

    def times(self, value):
        return self.factor * value

    def hidden(self, value):
        return self.__hidden + value


def halves(value):
    """Has a docstring, and names for its parts."""
    first = value // 2
    value = value - first
    return first, value


def fitting(value: int, limit: int = 5) -> bool:
    return value < limit


def counted(value):
    return sum(1 for _ in range(value))


def of_outer(offset):
    return lambda value: value - offset


def of_nothing():
    def add(value):
        return value + later

    if FACTOR < 0:
        later = 1
    return add


IN_LINE = [
    lambda value: value,
    lambda value: (value, 1, "a", None, 2.5, (1, 2)),
    lambda value: value[0],
    lambda value: value[-1]["a"],
    lambda value: value % FACTOR == 0,
    lambda value: not value,
    lambda value: -value + ~value,
    lambda value: value is None,
    lambda value: value not in (1, "a"),
    lambda value: f"{value}: {len(value)}",
    lambda value: max(value, 3) - min(value, 4) + abs(value),
    lambda value: [value, value],
    lambda value: value.real,
    lambda value: value != (value, 1),
    lambda value: value**2 / (value - 3) // 1,
    lambda value: (value << 1) ^ 5 | 3 & 9 >> 1,
    lambda value: str(value) + "x",
    Scaled(3).times,
    Scaled(3).hidden,
    halves,
    of_outer(4),
]
CALLED = [
    lambda value: value or 1,
    lambda value: value and value[0],
    lambda value: 0 < value < 5,
    lambda value: print(value, value),
    lambda value: value.strip(),
    lambda value: halves(value)[0],
    lambda value: sorted(value, key=str),
    lambda value: {"a": value},
    lambda *values: values,
    lambda value: (yield value),
    lambda value: lambda: value,
    lambda value: (
        value[0],
        1,
    ),
    lambda value: value + nobody_has_it,  # noqa: F821 - a call raises NameError
    of_nothing(),
    counted,
    fitting,
    str,
    Scaled,
]
LEAVES = ["value", "value[0]", "3", "-2.5", "FACTOR", "'ab'", "f'{value} to {value[0]}'"]
SIGNS = ["+", "*", "%", "//", "-", "<", ">=", "==", "in", "&", "^"]
VALUES = [0, 3, 7, -4, 2**70, True, None, 1.5, float("nan"), "", "ab", b"x", (), (1, {"a": 2}),
          [5], {0: 1}, {"a": 1}, object]  # fmt: skip


def in_line(function):
    """The statements for a function of one argument in a function again; None if there are none."""
    names, variables = {}, iter(f"variable{number}" for number in range(9))
    found = inlined(function, ["argument"], named_in(names), lambda: next(variables))
    if found is None:
        return None
    lines = [f" {each.target or 'result'} = {each.expression}" for each in found.statements]
    exec("\n".join(["def made(argument):", *lines, " return result"]), names)
    return names["made"]


def outcome(function, value):
    try:
        return repr(function(value))
    except Exception as error:  # noqa: BLE001 - any is the outcome
        return type(error), str(error)


@pytest.mark.parametrize("function", IN_LINE)
def test_the_same_as_a_call(function):
    made = in_line(function)
    assert made is not None
    for value in VALUES:
        assert outcome(made, value) == outcome(function, value)


@pytest.mark.parametrize("function", CALLED)
def test_these_are_called(function):
    assert in_line(function) is None


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions_are_the_same_as_a_call(seed):
    chance = random.Random(seed)

    def expression(depth):
        if depth == 0:
            return chance.choice(LEAVES)
        one, other = expression(depth - 1), expression(depth - chance.randint(1, depth))
        return chance.choice([
            f"({one} {chance.choice(SIGNS)} {other})",
            f"({one}, {other})", f"(not {one})",
            f"max({one}, {other})", f"value[{other}]",
        ])  # fmt: skip

    text = expression(chance.randint(1, 4))
    function = eval(f"lambda value: {text}", {"FACTOR": FACTOR})
    made = in_line(function)
    for value in [*VALUES, (4, 5), (2**63, -1), ("x", "y")]:
        assert made is None or outcome(made, value) == outcome(function, value)


def test_globals_are_read_when_the_expression_is_evaluated(monkeypatch):
    made = in_line(lambda value: value * FACTOR)
    assert made(2) == 14
    monkeypatch.setitem(globals(), "FACTOR", 10)
    assert made(2) == 20


def test_variables_that_another_function_changes_are_read_when_they_are_needed():
    count = 1

    def increase():
        nonlocal count
        count += 1

    made = in_line(lambda value: value + count)
    assert made(1) == 2
    increase()
    assert made(1) == 3


@pytest.mark.parametrize("watch", ["gettrace", "getprofile"])
def test_functions_are_called_where_somebody_watches(watch, monkeypatch):
    monkeypatch.setattr(sys, watch, lambda: print)
    assert in_line(lambda value: value + 1) is None


def run(kind, method, function, elements):
    operator = Harness(kind(UserFunction.of(PlainFunction(method, function)))).operator
    found = iter(elements)
    for process in processes([operator]):
        found = process(found)
    return list(found)


def ratio(pair):
    part = pair[0]
    return part / pair[1]


@pytest.mark.parametrize("called", [False, True])
def test_a_traceback_shows_the_function(called, monkeypatch):
    monkeypatch.setattr(inlining, "_is_watched", lambda: called)
    with pytest.raises(ZeroDivisionError) as caught:
        run(MapOperator, "map", ratio, [(4, 2), (1, 0)])
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.filename, last.name) == (__file__, "ratio")
    assert last.line == "return part / pair[1]"


def test_a_traceback_shows_what_the_function_calls():
    class Refusing:
        def __mod__(self, other):
            raise LookupError("no")

    with pytest.raises(LookupError) as caught:
        run(FilterOperator, "filter", lambda value: value % 2 == 0, [2, Refusing()])
    names = [each.name for each in traceback.extract_tb(caught.tb)]
    assert names[-3:] == ["loop", "<lambda>", "__mod__"]


def test_a_stop_iteration_is_an_error():
    class Stopping:
        def __add__(self, other):
            raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        run(MapOperator, "map", lambda value: value + 1, [1, Stopping(), 3])


def test_errors_of_the_elements_themselves_are_left_alone():
    def failing():
        yield 1
        raise LookupError("no more")

    with pytest.raises(LookupError) as caught:
        run(MapOperator, "map", lambda value: value + 1, failing())
    assert [each.name for each in traceback.extract_tb(caught.tb)][-2:] == ["loop", "failing"]


PAIR, TRIPLE = Types.TUPLE([Types.INT(), Types.LONG()]), Types.TUPLE([Types.LONG()] * 3)
SHAPES = [
    lambda value: (value % 4, value),
    lambda value: (value % 4, 1, value),
    lambda value: (1, value),
    lambda value: (value % 4, 2**63),
    lambda value: (value % 4, value * 2**60),
    lambda value: (f"{value % 4}", value),
    lambda value: (value % 4, [value]),
    lambda value: (value % 4, (value, "x")),
    lambda value: [value % 4, value],
    lambda value: (value % 4, value + 1),
    lambda value: (value % 4, -value - 2),
    lambda value: (min(value, 3), abs(value)),
    lambda value: (value & 3, value * value),
    lambda value: (value // 2, value % -7, value >> 1),
    lambda value: (len(f"{value}!"), value ^ -5),
    lambda value: (value % 4, value < 5),
    lambda value: (value % 4, value + 0.5),
]
SELECTORS = [
    lambda item: item[0],
    lambda item: item[-1],
    lambda item: f"{item[0]}",
    lambda item: f"{item[0]}/",
    lambda item: item[0] + item[-1],
]
RECEIVED = [None, Types.LONG(), Types.LONG()]
EDGES = [0, 1, -1, 2**63 - 1, -(2**63), 2**63 - 2, 5, -6]
KEY_TYPES = [None, Types.LONG(), Types.INT(), Types.STRING()]
REDUCTIONS = [
    lambda one, other: (one[0], one[1] + other[1]),
    lambda one, other: (other[0], one[1], one[-1]),
    lambda one, other: other,
]
TYPES = [None, PAIR, PAIR, TRIPLE, Types.STRING()]


@pytest.mark.parametrize("seed", range(100))
def test_random_chains_do_the_same_with_calls(seed, monkeypatch):
    chance = random.Random(seed)
    kind = chance.choice(TYPES)
    functions = chance.choice(SHAPES), chance.choice(SELECTORS), chance.choice(REDUCTIONS)
    key_type, received = chance.choice(KEY_TYPES), chance.choice(RECEIVED)
    elements = [*range(-3, 40), *chance.sample(EDGES, 3)]

    def results(called):
        monkeypatch.setattr(inlining, "_is_watched", lambda: called)
        shape, select, reduce = (
            UserFunction.of(PlainFunction(name, function))
            for name, function in zip(("map", "get_key", "reduce"), functions, strict=True)
        )
        convert = (
            CopyMutableOperator(pairs=True) if kind is None else ConvertOperator(kind, pairs=True)
        )
        operators = [
            MapOperator(shape),
            SelectKeyOperator(select, key_type),
            convert,
            RollingReduceOperator(reduce, kind),
        ]
        found = iter(elements)
        operators[0].received_type = received
        for process in processes([Harness(each).operator for each in operators]):
            found = process(found)
        seen = []
        try:
            seen.extend(found)
        except Exception as error:  # noqa: BLE001 - any is the outcome
            seen.append((type(error), str(error)))
        return seen

    assert results(False) == results(True)


def chained(*functions):
    """The results of maps over the numbers 1 to 4."""
    return list(through(*(MapOperator(of("map", function)) for function in functions)))


def of(method, function):
    return UserFunction.of(PlainFunction(method, function))


def through(*operators):
    """An iterator over what operators make of the numbers 1 to 4."""
    found = iter(range(1, 5))
    for process in processes([Harness(each).operator for each in operators]):
        found = process(found)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "(value2, value)", "(elements, value)", "(type, value)", "(len, value)",
        "('value1', value, f'value1: {value}')", "(value, value2, elements, type, STEPS)",
    ],
)  # fmt: skip
def test_names_and_texts_of_a_user_are_not_taken_for_those_of_the_loop(text):
    names = {"value2": 5, "elements": 6, "type": "a text", "len": 7, "STEPS": 8}
    function = eval(f"lambda value: {text}", names)

    def whole(item):
        return item, "value1", f"value1: {item[1]}", item

    wanted = [whole(function(number)) for number in range(1, 5)]
    assert chained(function, lambda item: item, whole) == wanted
    found = through(
        MapOperator(of("map", function)), CopyMutableOperator(), MapOperator(of("map", whole))
    )
    assert list(found) == wanted


def test_texts_of_a_user_are_not_taken_for_variables():
    found = chained(lambda value: (value, 1), lambda item: ("value1", item[0]))
    assert found == [("value1", number) for number in range(1, 5)]


def test_variables_of_outer_functions_may_be_called_as_those_of_the_loop():
    def adding(value):
        return lambda item: (item + value, value, item)

    assert chained(adding(1), lambda item: item[0] + item[2]) == [3, 5, 7, 9]
    assert chained(adding(1), lambda item: item[2], adding(2), lambda item: item) == [
        (number + 2, 2, number) for number in range(1, 5)
    ]


def test_a_chain_sees_globals_that_change_while_it_runs():
    operator = Harness(MapOperator(of("map", lambda value: value * FACTOR))).operator
    found = operator.process(iter([1, 2]))
    assert next(found) == FACTOR
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(operator.call.__globals__, "FACTOR", 10)
        assert next(found) == 20


@pytest.mark.parametrize("reads", [1, 2, 3])
def test_tuples_are_whole_where_functions_get_them(reads):
    def seeing(item):
        for _ in ():
            pass  # not in line
        return (*item[:2], item)

    def shortened(item):
        for _ in ():
            pass
        return item[0], item[1], len(item)

    found = through(
        MapOperator(of("map", lambda value: (value, -value))),
        *[ConvertOperator(PAIR)] * (reads % 2),
        *(FilterOperator(of("filter", lambda item: str(item) == f"({item[0]}, {item[1]})")),)
        * reads,
        MapOperator(of("map", seeing)),
        MapOperator(of("map", shortened)),
    )
    assert list(found) == [(number, -number, 3) for number in range(1, 5)]


def test_a_failure_shows_an_element_that_was_never_made():
    divide = MapOperator(of("map", lambda item: item[0] // item[1]))
    found = through(MapOperator(of("map", lambda value: (value, 3 - value))), divide)
    with pytest.raises(ZeroDivisionError) as caught:
        list(found)
    steps = [step_of(*place) for place in traceback.walk_tb(caught.value.__traceback__)]
    assert [step[1:] for step in steps if step] == [((3, 0), ())]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_a_reduction_keeps_is_right_and_what_it_changes_is_tested(place):
    reductions = [
        lambda one, other: ("x", one[1], one[2]),
        lambda one, other: (one[0], "x", one[2]),
        lambda one, other: (one[0], one[1], "x"),
    ]
    found = through(
        MapOperator(of("map", lambda value: (1, value, 2))),
        SelectKeyOperator(of("get_key", SELECTORS[0])),
        ConvertOperator(TRIPLE, pairs=True),
        RollingReduceOperator(of("reduce", reductions[place]), TRIPLE),
    )
    assert next(found) == (1, 1, 2)
    with pytest.raises(TypeError):
        next(found)


NAMES = ["key", "count", "as_dict"]
ROW = Types.ROW_NAMED(NAMES, [Types.LONG()] * 3)
MIXED = Types.ROW_NAMED(NAMES, [Types.LONG(), Types.STRING(), Types.DOUBLE()])
SMALL = Types.ROW_NAMED(NAMES[:2], [Types.INT(), Types.LONG()])


def of_a_closure():
    kind = Row
    return lambda value: kind(key=value % 4, count=value, as_dict=1)


def renamed(row):
    for _ in ():
        pass  # not in line
    row.set_field_names(["count", "key", "as_dict"])
    return row


def kept(row):
    for _ in ():
        pass
    return row


ROW_MAKERS = [
    lambda value: Row(key=value % 4, count=value, as_dict=1),
    of_a_closure(),
    lambda value: Row(key=value % 4, count=1, as_dict=value),
    lambda value: Row(key=f"{value % 4}", count="a", as_dict=0.5),
    lambda value: Row(key=value % 4, count=f"{value}!", as_dict=0.5),
    lambda value: Row(key=value % 4, count=None, as_dict=value),
    lambda value: Row(count=value, key=value % 4, as_dict=1),
    lambda value: Row(key=value % 4, count=value * 2**60, as_dict=2),
    lambda value: Row(key=value % 4, count=[value], as_dict=2),
    lambda value: Row(value % 4, value, 1),
    lambda value: Row(key=value % 4, count=value),
    lambda value: Row(key=value % 4),
    lambda value: (Row(key=value, count=1), value),
    lambda value: kept(Row(key=value % 4, count=value, as_dict=1)),
    lambda value: Row(1, key=value),
]
ROW_READERS = [
    lambda row: row.key,
    lambda row: row["key"],
    lambda row: row[0],
    lambda row: row[-1],
    lambda row: row.count,
    lambda row: f"{row.key} {row['count']}",
    lambda row: row.as_dict,
    lambda row: row.nothing,
    lambda row: row["nothing"],
    lambda row: row._values[0],
    lambda row: (row.key, len(row)),
]
ROW_MAPPERS = [
    lambda row: row,
    lambda row: Row(key=row.key, count=row.count, as_dict=row[2]),
    lambda row: Row(key=row.count, count=row.key, as_dict=row["as_dict"]),
    lambda row: Row(key=row.count, count=row, as_dict=2),
    lambda row: Row(key=row[1], count=len(row), as_dict=row._names[0]),
    renamed,
    kept,
]
ROW_REDUCTIONS = [
    lambda one, other: Row(key=one.key, count=one.count + other.count, as_dict=other[2]),
    lambda one, other: Row(key=other.key, count=one["count"], as_dict=one[2] + 1),
    lambda one, other: Row(count=other.count, key=one.key, as_dict=one[2]),
    lambda one, other: Row(key=one, count=other, as_dict=1),
    lambda one, other: kept(Row(key=one.key, count=one.count, as_dict=other[2])),
    lambda one, other: other,
]


def shown(value):
    if isinstance(value, Row):
        return str(value._names), list(map(shown, value._values)), value.get_row_kind()
    if isinstance(value, (list, tuple)):
        return type(value), list(map(shown, value))
    return without_places(value), type(value)


def without_places(value):
    """Return a text without the addresses of objects."""
    return re.sub(r"0x\w+", "", repr(value))


@pytest.mark.parametrize("seed", range(300))
def test_random_chains_of_rows_do_the_same_with_calls(seed, monkeypatch):
    chance = random.Random(seed)
    kind = chance.choice([None, ROW, ROW, MIXED, SMALL])
    maker, mapper = chance.choice(ROW_MAKERS), chance.choice(ROW_MAPPERS)
    readers = chance.choices(ROW_READERS, k=3)
    reduction, selector = chance.choice(ROW_REDUCTIONS), chance.choice(ROW_READERS)
    key_type, received = chance.choice(KEY_TYPES), chance.choice(RECEIVED)
    ways = [chance.random() < 0.5 for _ in range(6)]
    elements = [*range(-3, 20), *chance.sample(EDGES, 2)]

    def results(called):
        monkeypatch.setattr(inlining, "_is_watched", lambda: called)
        operators = [MapOperator(of("map", maker))]
        operators[0].received_type = received
        convert = ConvertOperator(kind) if kind is not None else CopyMutableOperator()
        if ways[0]:
            operators.append(convert)
        if ways[1]:
            operators += [MapOperator(of("map", mapper)), convert]
        if ways[2]:
            operators.append(FilterOperator(of("filter", readers[0])))
        if ways[3]:
            operators += [
                SelectKeyOperator(of("get_key", selector), key_type),
                ConvertOperator(kind, pairs=True),
                RollingReduceOperator(of("reduce", reduction), kind),
            ]
        if ways[4]:
            operators.append(FilterOperator(of("filter", readers[1])))
        if ways[5]:
            operators.append(MapOperator(of("map", readers[2])))
        found, seen = iter(elements), []
        for process in processes([Harness(each).operator for each in operators]):
            found = process(found)
        try:
            seen.extend(map(shown, found))
        except Exception as error:  # noqa: BLE001 - all of them are the same
            seen.append((type(error), without_places(error)))
        return seen

    assert results(called=False) == results(called=True)


def test_rows_that_nobody_needs_are_not_made(monkeypatch):
    monkeypatch.setattr("pyflink_on_spark._runtime.types.composite._new", None)
    found = through(
        MapOperator(of("map", ROW_MAKERS[0])),
        ConvertOperator(ROW),
        FilterOperator(of("filter", lambda row: row.count > 1)),
        MapOperator(of("map", lambda row: f"{row.key} {row['count']}")),
    )
    assert list(found) == ["2 2", "3 3", "0 4"]


def test_a_failure_shows_a_row_that_was_never_made():
    divide = MapOperator(of("map", lambda row: row.key // row.count))
    found = through(MapOperator(of("map", lambda value: Row(key=value, count=3 - value))), divide)
    with pytest.raises(ZeroDivisionError) as caught:
        list(found)
    steps = [step_of(*place) for place in traceback.walk_tb(caught.value.__traceback__)]
    assert [step[1:] for step in steps if step] == [(Row(key=3, count=0), ())]
