from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark.common.time import Duration, Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream.functions import AggregateFunction, ReduceFunction
from pyflink_on_spark.datastream.state import (
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueState,
    ValueStateDescriptor,
)

TTL = Time.seconds(10)


class Larger(ReduceFunction):
    def reduce(self, value1, value2):
        return max(value1, value2)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


DESCRIPTORS = [
    (ValueStateDescriptor("s", Types.INT()), "value", Types.INT()),
    (ListStateDescriptor("s", Types.INT()), "list", Types.LIST(Types.INT())),
    (
        MapStateDescriptor("s", Types.INT(), Types.STRING()),
        "map",
        Types.MAP(Types.INT(), Types.STRING()),
    ),
    (ReducingStateDescriptor("s", Larger(), Types.INT()), "reducing", Types.INT()),
    (AggregatingStateDescriptor("s", Mean(), Types.INT()), "aggregating", Types.INT()),
]


@pytest.mark.parametrize(("descriptor", "kind", "type_info"), DESCRIPTORS)
def test_descriptors_are_plain_data(descriptor, kind, type_info):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(TTL).build())
    copy = pickle.loads(pickle.dumps(descriptor))
    assert (copy.get_name(), copy.name, copy._kind, copy.type_info) == ("s", "s", kind, type_info)
    assert copy._ttl_config.get_ttl() == TTL


def test_a_callable_reduces_too():
    assert DESCRIPTORS[3][0].get_reduce_function().reduce(1, 2) == 2
    descriptor = ReducingStateDescriptor("s", lambda a, b: a - b, Types.INT())
    assert descriptor.get_reduce_function().reduce(5, 2) == 3
    assert isinstance(DESCRIPTORS[4][0].get_agg_function(), Mean)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="must be a ReduceFunction or a callable"):
        ReducingStateDescriptor("s", 5, Types.INT())
    with pytest.raises(TypeError, match="AggregateFunction"):
        AggregatingStateDescriptor("s", lambda a, b: a, Types.INT())


def test_the_default_time_to_live():
    config = StateTtlConfig.new_builder(TTL).build()
    assert config.get_ttl() is TTL
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert (
        config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    )
    assert config.is_enabled()
    cleanup = config.get_cleanup_strategies()
    assert cleanup.is_cleanup_in_background()
    assert not cleanup.in_full_snapshot()
    incremental = cleanup.get_incremental_cleanup_strategy()
    assert incremental.get_cleanup_size() == 5
    assert incremental.run_cleanup_for_every_record() is False
    rocksdb = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert rocksdb.get_query_time_after_num_entries() == 1000
    assert rocksdb.get_periodic_compaction_time() == Duration.of_days(30)


def test_every_setting_of_the_time_to_live():
    config = (
        StateTtlConfig.new_builder(TTL)
        .set_ttl(Time.seconds(1))
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_full_snapshot()
        .cleanup_incrementally(10, True)
        .cleanup_in_rocksdb_compact_filter(7, Duration.of_days(2))
        .disable_cleanup_in_background()
        .build()
    )
    assert config.get_ttl() == Time.seconds(1)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
    visibility = StateTtlConfig.StateVisibility
    assert config.get_state_visibility() is visibility.ReturnExpiredIfNotCleanedUp
    cleanup = config.get_cleanup_strategies()
    assert cleanup.in_full_snapshot()
    assert not cleanup.is_cleanup_in_background()
    assert cleanup.get_incremental_cleanup_strategy().get_cleanup_size() == 10
    assert cleanup.get_incremental_cleanup_strategy().run_cleanup_for_every_record() is True
    rocksdb = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert rocksdb.get_query_time_after_num_entries() == 7
    assert rocksdb.get_periodic_compaction_time() == Duration.of_days(2)
    assert pickle.loads(pickle.dumps(config)).get_cleanup_strategies().in_full_snapshot()


def test_without_background_cleanup_there_are_no_default_strategies():
    config = StateTtlConfig.new_builder(TTL).disable_cleanup_in_background().build()
    cleanup = config.get_cleanup_strategies()
    assert cleanup.get_incremental_cleanup_strategy() is None
    assert cleanup.get_rocksdb_compact_filter_cleanup_strategy() is None


def test_a_disabled_time_to_live():
    disabled = StateTtlConfig.UpdateType.Disabled
    assert not StateTtlConfig.new_builder(TTL).set_update_type(disabled).build().is_enabled()


def test_a_builder_goes_on_after_build():
    builder = StateTtlConfig.new_builder(TTL)
    first = builder.build()
    builder.cleanup_full_snapshot()
    assert not first.get_cleanup_strategies().in_full_snapshot()
    assert builder.build().get_cleanup_strategies().in_full_snapshot()


def test_the_text_of_a_time_to_live():
    assert repr(StateTtlConfig.new_builder(TTL).build()) == (
        "StateTtlConfig<update_type=UpdateType.OnCreateAndWrite, "
        "state_visibility=StateVisibility.NeverReturnExpired,"
        "ttl_time_characteristic =TtlTimeCharacteristic.ProcessingTime,ttl=10000 ms>"
    )


def test_states_work_like_python_containers():
    class Entries(dict):
        put, remove, contains = dict.__setitem__, dict.__delitem__, dict.__contains__

        def put_all(self, dict_value):
            self.update(dict_value)

        def is_empty(self):
            return not self

    class Dict(MapState):
        def __init__(self):
            self.entries = Entries()

    for name in MapState.__abstractmethods__:

        def call(self, *args, _name=name):
            return getattr(self.entries, _name)(*args)

        setattr(Dict, name, call)
    Dict.__abstractmethods__ = frozenset()
    state = Dict()
    state["a"] = 1
    state["b"] = 2
    del state["a"]
    assert (state["b"], "a" in state, "b" in state, list(state)) == (2, False, True, ["b"])


def test_a_list_state_is_iterated_by_get():
    class Two(ListState):
        def get(self):
            return [1, 2]

        add = update = add_all = clear = None

    assert list(Two()) == [1, 2]
    with pytest.raises(TypeError, match="abstract"):
        ValueState()
