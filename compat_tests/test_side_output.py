"""Side outputs of a ProcessFunction."""

from __future__ import annotations

import pytest
from pyflink.common import Row, Types
from pyflink.datastream import OutputTag, ProcessFunction

from compat_tests.running import collect

ODD = OutputTag("odd", Types.INT())
UNTYPED = OutputTag("untyped")


class Separate(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield ODD, value
        else:
            yield value


def test_typed_side_output(env):
    main = env.from_collection([1, 2, 3, 4]).process(Separate())
    side = main.get_side_output(ODD)
    assert collect(side) == [1, 3]
    assert collect(main) == [2, 4]


def test_untyped_side_output(env):
    class Describe(ProcessFunction):
        def process_element(self, value, ctx):
            yield UNTYPED, {"value": value}
            yield UNTYPED, (value, [value])

    side = env.from_collection([1]).process(Describe()).get_side_output(UNTYPED)
    assert collect(side) == [{"value": 1}, (1, [1])]


def test_side_output_and_main_output_in_one_job(env, run_printed):
    main = env.from_collection([1, 2, 3]).process(Separate(), Types.INT())
    main.print("even")
    main.get_side_output(ODD).map(lambda x: x * 100, Types.INT()).print("odd")
    assert sorted(run_printed(env)) == ["even> 2", "odd> 100", "odd> 300"]


def test_several_tags(env, run_printed):
    tags = {name: OutputTag(name, Types.STRING()) for name in ("a", "b")}

    class ByFirstLetter(ProcessFunction):
        def process_element(self, value, ctx):
            if value[0] in tags:
                yield tags[value[0]], value
            else:
                yield value

    main = env.from_collection(["a1", "b1", "c1", "a2"]).process(ByFirstLetter(), Types.STRING())
    main.print("main")
    main.get_side_output(tags["a"]).print("a")
    main.get_side_output(tags["b"]).print("b")
    assert sorted(run_printed(env)) == ["a> a1", "a> a2", "b> b1", "main> c1"]


@pytest.mark.pyflink_bug("with no side output taken, (tag, value) comes out as an element")
def test_a_side_output_that_nobody_takes_is_dropped(env):
    assert collect(env.from_collection([1, 2]).process(Separate()).map(str)) == ["2"]


def test_one_of_two_tags_that_nobody_takes_is_dropped(env):
    other = OutputTag("other", Types.INT())

    class Both(ProcessFunction):
        def process_element(self, value, ctx):
            yield ODD, value
            yield other, value
            yield value

    main = env.from_collection([1]).process(Both(), Types.INT())
    side = main.get_side_output(other)
    assert collect(main.union(side)) == [1, 1]


def test_the_tag_s_type_is_applied(env):
    tag = OutputTag("row", Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.FLOAT()]))

    class ToRow(ProcessFunction):
        def process_element(self, value, ctx):
            yield tag, Row(value, 0.1)

    side = env.from_collection([1]).process(ToRow()).get_side_output(tag)
    assert collect(side.map(repr)) == ["Row(a=1, b=0.10000000149011612)"]


def test_through_operators_and_a_keyed_stream(env):
    side = env.from_collection([1, 3, 5]).process(Separate()).get_side_output(ODD)
    sums = side.key_by(lambda x: "all").reduce(lambda a, b: a + b)
    assert collect(sums) == [1, 4, 9]


def test_tags_are_equal_by_name(env):
    main = env.from_collection([1, 2]).process(Separate())
    assert collect(main.get_side_output(OutputTag("odd", Types.INT()))) == [1]


@pytest.mark.parametrize("other", [OutputTag("odd", Types.STRING()), OutputTag("odd")])
def test_one_id_with_two_types(env, other):
    main = env.from_collection([1]).process(Separate())
    main.get_side_output(ODD)
    with pytest.raises(Exception, match="already requested with a different type"):
        main.get_side_output(other)


def test_one_id_with_one_type_twice(env):
    main = env.from_collection([1, 2]).process(Separate())
    again = main.get_side_output(OutputTag("odd", Types.INT()))
    assert collect(main.get_side_output(ODD).union(again)) == [1, 1]


def test_one_id_of_two_operators(env):
    first, second = (env.from_collection([1]).process(Separate()) for _ in range(2))
    assert collect(first.get_side_output(ODD)) == [1]
    assert collect(second.get_side_output(OutputTag("odd", Types.LONG()))) == [1]
