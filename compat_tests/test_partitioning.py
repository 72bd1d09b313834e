"""Which subtask an element goes to."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import MapFunction, Partitioner

from compat_tests.running import Journal, collect, collect_sorted


class WithSubtask(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return self.index, value


def per_subtask(stream):
    found = {}
    for index, value in collect_sorted(stream.map(WithSubtask())):
        found.setdefault(index, []).append(value)
    return found


@pytest.fixture
def parallelism():
    return 2


@pytest.fixture
def numbers(env):
    return env.from_collection(list(range(8)), Types.INT())


@pytest.mark.one_attempt("each attempt has rounds of its own")
def test_rebalance_is_round_robin(numbers):
    shares = sorted(per_subtask(numbers.rebalance()).values())
    assert shares == [[0, 2, 4, 6], [1, 3, 5, 7]]


@pytest.mark.one_attempt("each attempt has rounds of its own")
def test_the_step_from_a_collection_is_round_robin(numbers):
    assert sorted(per_subtask(numbers).values()) == [[0, 2, 4, 6], [1, 3, 5, 7]]


@pytest.mark.one_attempt("each attempt has rounds of its own")
def test_rescale_is_even(numbers):
    assert sorted(map(len, per_subtask(numbers.rescale()).values())) == [4, 4]


def test_shuffle_loses_nothing(numbers):
    shares = per_subtask(numbers.shuffle())
    assert sorted(value for share in shares.values() for value in share) == list(range(8))


def test_broadcast_goes_everywhere(numbers):
    assert per_subtask(numbers.broadcast()) == {0: list(range(8)), 1: list(range(8))}


def test_forward_keeps_the_subtask(numbers):
    stream = numbers.map(WithSubtask()).forward().map(WithSubtask())
    assert all(first == second for first, (second, _) in collect_sorted(stream))


def test_forward_to_another_parallelism_is_refused(env, numbers):
    numbers.map(lambda v: v).forward().map(lambda v: v).set_parallelism(1).print()
    with pytest.raises(Exception, match="Forward partitioning does not allow change"):
        env.execute()


def test_a_partitioning_before_key_by_has_no_effect(numbers):
    spread = numbers.map(lambda v: v, Types.INT()).broadcast()
    assert collect_sorted(spread.key_by(lambda v: v).map(lambda v: v)) == list(range(8))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_keyed_union_of_several_parallelisms_is_refused(numbers, reverse):
    streams = [numbers, numbers.filter(lambda v: v > 1)]  # of one subtask and of two
    first, second = reversed(streams) if reverse else streams
    keyed = first.union(second).key_by(lambda v: v)
    with pytest.raises(Exception, match="Forward partitioning does not allow change"):
        collect(keyed.map(lambda v: v))


class Last(Partitioner):
    def partition(self, key, num_partitions):
        return num_partitions - 1 if key == "b" else 0


def to_files(stream, tmp_path):
    folder = str(tmp_path)

    class Write(MapFunction):
        def open(self, runtime_context):
            self.path = f"{folder}/{runtime_context.get_index_of_this_subtask()}"

        def map(self, value):
            with open(self.path, "a") as file:
                file.write(f"{value} ")
            return value

    stream.map(Write())
    return lambda: {p.name: sorted(p.read_text().split()) for p in tmp_path.iterdir()}


def test_partition_custom_function(env, numbers, tmp_path):
    shares = to_files(numbers.partition_custom(lambda key, n: key % n, lambda v: v // 4), tmp_path)
    env.execute()
    assert shares() == {"0": ["0", "1", "2", "3"], "1": ["4", "5", "6", "7"]}


def test_partitioner_class(env, tmp_path):
    letters = env.from_collection(list("abab"))
    shares = to_files(letters.partition_custom(Last(), lambda v: v), tmp_path)
    env.execute()
    assert shares() == {"0": ["a", "a"], "1": ["b", "b"]}


def test_partition_custom_counts_the_next_operator_s_instances(env, tmp_path):
    seen = Journal(tmp_path / "seen")

    def note(key, count):
        seen.write(count)
        return 0

    stream = env.from_collection([1, 2]).partition_custom(note, lambda v: v)
    stream.map(lambda v: v).set_parallelism(2)
    env.execute()
    assert set(seen.lines()) == {"2"}


@pytest.mark.pyflink_bug("the number of partitions is -1 under execute_and_collect")
def test_partition_custom_can_be_collected(numbers):
    stream = numbers.partition_custom(lambda key, n: key % n, lambda v: v)
    assert per_subtask(stream) == {0: [0, 2, 4, 6], 1: [1, 3, 5, 7]}


@pytest.mark.parametrize("parallelism", [1])
def test_partitioning_at_parallelism_one_keeps_the_order(numbers):
    stream = numbers.rebalance().map(lambda v: v).rescale().map(lambda v: v).shuffle()
    with stream.map(lambda v: v).broadcast().map(lambda v: v).execute_and_collect() as results:
        assert list(results) == list(range(8))
