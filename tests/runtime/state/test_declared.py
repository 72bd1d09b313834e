"""The declared type of a state, and what is put into it."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.keyed_state import coercion, element_coercion, entry_coercions
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark._runtime.types.codec import ConversionError, NullValueError
from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.common.types import Row
from pyflink_on_spark.datastream import AggregateFunction
from pyflink_on_spark.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from tests.runtime.harness import FakeClock

PAIR = Types.TUPLE([Types.INT(), Types.STRING()])


@pytest.mark.parametrize("type_info", [None, Types.PICKLED_BYTE_ARRAY()])
def test_untyped_states_look_at_nothing(type_info):
    assert coercion("s", type_info, converted=False) is None
    assert element_coercion("s", type_info, converted=True) is None
    assert entry_coercions("s", type_info, converted=False) == (None, None)


@pytest.mark.parametrize(("type_info", "value"), [
    (Types.INT(), 2**31 - 1),
    (Types.INT(), 2.9),
    (Types.LONG(), -(2**63)),
    (Types.FLOAT(), 0.1),
    (Types.FLOAT(), 1),
    (Types.STRING(), "a"),
    (PAIR, (1, "a")),
    (PAIR, (1, "a", "cut off later")),
    (Types.ROW([Types.INT(), Types.STRING()]), Row(1, None)),
    (Types.ROW_NAMED(["x"], [Types.FLOAT()]), Row(x=0.1)),
    (Types.LIST(Types.INT()), []),
    (Types.LIST(Types.INT()), [1, 2]),
    (Types.MAP(Types.STRING(), Types.INT()), {}),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}),
    (Types.TUPLE([Types.PICKLED_BYTE_ARRAY()]), (None,)),
])  # fmt: skip
def test_what_fits_is_kept_as_it_is(type_info, value):
    fit = coercion("s", type_info, converted=False)
    assert fit is not None
    assert fit(value) is value


@pytest.mark.parametrize(("type_info", "value"), [
    (Types.INT(), "x"),
    (Types.INT(), 2**31),
    (Types.INT(), None),
    (Types.LONG(), 2**63),
    (Types.STRING(), 5),
    (PAIR, [1, "a"]),
    (PAIR, (1, 2)),
    (PAIR, (2**31, "a")),
    (Types.ROW([Types.INT()]), (1,)),
    (Types.ROW([Types.INT()]), Row("a")),
    (Types.LIST(Types.INT()), (1,)),
    (Types.LIST(Types.INT()), [1, "x"]),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": "x"}),
    (Types.MAP(Types.STRING(), Types.INT()), {1: 1}),
])  # fmt: skip
@pytest.mark.parametrize("converted", [False, True])
def test_what_does_not_fit_is_refused(type_info, value, converted):
    fit = coercion("total", type_info, converted)
    assert fit is not None
    with pytest.raises(ConversionError) as raised:
        fit(value)
    assert raised.value.__notes__ == ["It was put into the state 'total'."]


def test_of_a_long_list_only_what_came_last_is_looked_at():
    fit = coercion("s", Types.LIST(Types.INT()), converted=False)
    assert fit is not None
    assert fit(["x", 1]) == ["x", 1]


def test_converted_values():
    fit = coercion("s", Types.MAP(Types.STRING(), Types.FLOAT()), converted=True)
    assert fit is not None
    assert fit({"a": 0.1}) == {"a": 0.10000000149011612}


def test_the_value_of_an_entry_may_be_none():
    fit_key, fit_value = entry_coercions(
        "s", Types.MAP(Types.STRING(), Types.INT()), converted=False
    )
    assert fit_key is not None
    assert fit_value is not None
    assert fit_value(None) is None
    with pytest.raises(ConversionError):
        fit_key(5)


def add(a, b):
    return f"{a}{b}"


class Texts(AggregateFunction):
    """Has an accumulator of text."""

    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return f"{accumulator}{value}"

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


DESCRIPTORS = {
    "value": lambda: ValueStateDescriptor("s", Types.INT()),
    "list": lambda: ListStateDescriptor("s", Types.INT()),
    "map": lambda: MapStateDescriptor("s", Types.INT(), Types.INT()),
    "reducing": lambda: ReducingStateDescriptor("s", add, Types.INT()),
    "aggregating": lambda: AggregatingStateDescriptor("s", Texts(), Types.INT()),
}
WRONG = {
    "value": [lambda s: s.update("x")],
    "list": [
        lambda s: s.add("x"),
        lambda s: s.add_all([1, "x"]),
        lambda s: s.update([1, "x"]),
    ],
    "map": [
        lambda s: s.put("x", 1),
        lambda s: s.put(1, "x"),
        lambda s: s.put_all([(1, "x")]),
    ],
    "reducing": [lambda s: s.add("x")],
    "aggregating": [lambda s: s.add(1)],
}


@pytest.fixture(params=[False, True], ids=["lasting", "expiring"])
def get_state(request):
    backend = KeyedStateBackend(FakeClock())
    backend.key = "k"

    def get(kind):
        descriptor = DESCRIPTORS[kind]()
        if request.param:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        return getattr(backend, f"{kind}_state")(descriptor)

    return get


@pytest.mark.parametrize(
    ("kind", "wrong"), [(kind, wrong) for kind, uses in WRONG.items() for wrong in uses]
)
def test_every_kind_of_state_refuses(get_state, kind, wrong):
    with pytest.raises(ConversionError):
        wrong(get_state(kind))


@pytest.mark.parametrize("converted", [False, True])
@pytest.mark.parametrize(("type_info", "least", "greatest"), [
    (Types.BYTE(), -(2**7), 2**7 - 1),
    (Types.SHORT(), -(2**15), 2**15 - 1),
    (Types.INT(), -(2**31), 2**31 - 1),
    (Types.LONG(), -(2**63), 2**63 - 1),
])  # fmt: skip
def test_ints_up_to_the_limits_of_their_type(type_info, least, greatest, converted):
    backend = KeyedStateBackend(FakeClock(), converted=converted)
    backend.key = "k"
    state = backend.value_state(ValueStateDescriptor("s", type_info))
    for fitting in (least, 0, greatest):
        state.update(fitting)
        assert state.value() == fitting
    for unfit in (least - 1, greatest + 1):
        with pytest.raises(ConversionError):
            state.update(unfit)
    assert state.value() == greatest


@pytest.mark.parametrize("type_info", [None, Types.PICKLED_BYTE_ARRAY(), Types.BIG_INT()])
def test_ints_of_any_size(type_info):
    backend = KeyedStateBackend(FakeClock())
    backend.key = "k"
    state = backend.value_state(ValueStateDescriptor("s", type_info))
    for value in (0, 2**63, -(2**70)):
        state.update(value)
        assert state.value() == value


@pytest.mark.parametrize(("type_info", "kept"), [(Types.BOOLEAN(), True), (Types.DOUBLE(), 1.0)])
def test_an_int_is_converted_to_another_type(type_info, kept):
    backend = KeyedStateBackend(FakeClock(), converted=True)
    backend.key = "k"
    state = backend.value_state(ValueStateDescriptor("s", type_info))
    state.update(1)
    assert (state.value(), type(state.value())) == (kept, type(kept))


def test_values_keep_what_fits(get_state):
    value = get_state("value")
    value.update(5)
    assert value.value() == 5
    with pytest.raises(NullValueError):
        value.update(None)
    assert value.value() == 5


def test_lists_keep_what_fits(get_state):
    elements = get_state("list")
    elements.add(1)
    elements.add_all([2, 3])
    assert list(elements) == [1, 2, 3]


def test_maps_keep_what_fits(get_state):
    entries = get_state("map")
    entries.put(1, 2)
    entries.put_all([(3, 4), (5, None)])
    assert sorted(entries.keys()) == [1, 3, 5]
    assert (entries.get(1), entries.get(3), entries.get(5)) == (2, 4, None)


def test_a_backend_that_converts():
    backend = KeyedStateBackend(FakeClock(), converted=True)
    backend.key = "k"
    state = backend.value_state(ValueStateDescriptor("s", Types.FLOAT()))
    state.update(0.1)
    assert state.value() == 0.10000000149011612


def test_broadcast_state():
    state = OperatorState().broadcast_state(DESCRIPTORS["map"]())
    state.put_all([(1, 2)])
    with pytest.raises(ConversionError):
        state.put("x", 1)
    with pytest.raises(ConversionError):
        state.put_all([(1, "x")])
    assert dict(state.items()) == {1: 2}


def test_a_broadcast_state_is_found_by_its_name():
    states = OperatorState()
    state = states.broadcast_state(MapStateDescriptor("s", Types.INT(), Types.INT()))
    assert states.broadcast_state(MapStateDescriptor("s", Types.INT(), Types.STRING())) is state


def test_a_broadcast_state_is_a_map():
    with pytest.raises(TypeError, match="does not describe a map state"):
        OperatorState().broadcast_state(DESCRIPTORS["value"]())
