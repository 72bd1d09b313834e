"""Elements into buffers, and out again."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.contract.plan import (
    BroadcastPartitioner,
    CustomPartitioner,
    ExchangePlan,
    ForwardPartitioner,
    GlobalPartitioner,
    HashPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)
from pyflink_on_spark._runtime.elements.bundle import (
    Barrier,
    Bundle,
    ChannelStatus,
    Cursor,
    EndOfInput,
    Watermark,
    timed,
)
from pyflink_on_spark._runtime.elements.immutability import serialize, wrap_key
from pyflink_on_spark._runtime.key_groups import KeyGroups, subtask_of_key_group
from pyflink_on_spark._runtime.task import exchange_writer
from pyflink_on_spark._runtime.task import exchange_writer as key_routes
from pyflink_on_spark._runtime.task.exchange_writer import ExchangeWriter, FanOut, decode, encode


class Sent:
    """A writer, and what it shipped, by the index of the receiver."""

    def __init__(self, partitioner, *, receivers=3, sender=0, senders=2, here=(), **asked):
        settings = {"max_parallelism": 16, "keyed": False, "timestamped": False, "isolate": False}
        plan = ExchangePlan(
            first_channel=10, first_subtask_id=100, senders=senders, receivers=receivers,
            partitioner=partitioner, **(settings | asked),
        )  # fmt: skip
        self.rows = []
        self.writer = ExchangeWriter(plan, sender, self.rows.append, here)

    def write(self, *elements, at=None):
        cursor = Cursor()
        source = iter(elements) if at is None else timed(elements, at, cursor)
        self.writer.write(source, cursor)
        return self

    def flush(self):
        self.writer.flush()
        return self

    def events(self, receiver):
        rows = chain.from_iterable(
            row.for_each() if isinstance(row, FanOut) else (row,) for row in self.rows
        )
        return [decode(row.payload) for row in rows if row.subtask_id == 100 + receiver]

    def values(self, receiver):
        bundles = [event for event in self.events(receiver) if isinstance(event, Bundle)]
        return [value for bundle in bundles for value in bundle.values]


@pytest.mark.parametrize(
    "event",
    [
        Watermark(5),
        ChannelStatus(True),
        EndOfInput(),
        Barrier(7),
        Bundle([1, [2]]),
        Bundle(["a"], [None], [wrap_key((1,))]),
    ],
)
def test_what_travels_comes_back(event):
    assert decode(encode(event)) == event


def test_sealed_elements_come_back_as_copies():
    value = [1]
    bundle = decode(encode(Bundle([serialize(value), serialize(value)]), sealed=True))
    assert bundle.values == [[1], [1]]
    assert bundle.values[0] is not bundle.values[1]


def test_round_robin_goes_on_where_it_stopped():
    sent = Sent(RebalancePartitioner())
    sent.write("a", "b").write("c", "d", "e", "f", "g").write("h").flush()
    assert [sent.values(i) for i in range(3)] == [["a", "d", "g"], ["b", "e", "h"], ["c", "f"]]


@given(st.lists(st.integers(0, 7), max_size=8))
def test_round_robin_does_not_depend_on_cuts(sizes):
    whole, cut = Sent(RebalancePartitioner()), Sent(RebalancePartitioner())
    numbers = iter(range(100))
    for size in sizes:
        cut.write(*[next(numbers) for _ in range(size)])
    whole.write(*range(sum(sizes))).flush()
    cut.flush()
    assert [cut.values(i) for i in range(3)] == [whole.values(i) for i in range(3)]


def test_rescale_reaches_its_own_share():
    sent = Sent(RescalePartitioner(), receivers=4, sender=1).write(1, 2, 3).flush()
    assert [sent.values(i) for i in range(4)] == [[], [], [1, 3], [2]]


def test_broadcast_reaches_all():
    sent = Sent(BroadcastPartitioner()).write(1, 2).flush()
    assert [sent.values(i) for i in range(3)] == [[1, 2]] * 3


def test_forward_and_global():
    sent = Sent(ForwardPartitioner(), receivers=2, sender=1).write(1, 2).flush()
    assert [sent.values(i) for i in range(2)] == [[], [1, 2]]
    sent = Sent(GlobalPartitioner(), sender=1).write(1, 2).flush()
    assert [sent.values(i) for i in range(3)] == [[1, 2], [], []]


def test_shuffle_loses_nothing_and_keeps_the_order_of_each_receiver():
    times = range(1000, 1300)
    sent = Sent(ShufflePartitioner(), timestamped=True).write(*range(300), at=times).flush()
    values = [sent.values(i) for i in range(3)]
    assert Counter(chain.from_iterable(values)) == Counter(range(300))
    assert all(found == sorted(found) and len(found) > 50 for found in values)
    for receiver in range(3):
        for bundle in sent.events(receiver):
            assert bundle.timestamps == [1000 + value for value in bundle.values]


def test_a_key_goes_where_its_key_group_is():
    keys = ["a", 7, None, wrap_key((1, 2)), wrap_key(1.5)]
    sent = Sent(HashPartitioner(), keyed=True).write(*[(key, [key]) for key in keys]).flush()
    for receiver in range(3):
        for bundle in sent.events(receiver):
            assert bundle.values == [[key] for key in bundle.keys]
            for key in bundle.keys:
                assert subtask_of_key_group(KeyGroups(16).of(key), 16, 3) == receiver
    assert sum(len(sent.values(i)) for i in range(3)) == len(keys)


@pytest.mark.parametrize("one_by_one", [0, 3, 1000])
def test_routes_are_forgotten_when_there_are_many(monkeypatch, one_by_one):
    monkeypatch.setattr(exchange_writer, "NEW_KEYS_ONE_BY_ONE", one_by_one)
    monkeypatch.setattr(key_routes, "ROUTES_KEPT", 20)
    writes = [[(number % 50, number) for number in range(at, at + 10)] for at in range(0, 200, 10)]
    few, many = Sent(HashPartitioner(), keyed=True), Sent(HashPartitioner(), keyed=True)
    for pairs in writes:
        few.write(*pairs)
        assert len(few.writer._routes.known) <= 20
    monkeypatch.setattr(key_routes, "ROUTES_KEPT", 1000)
    for pairs in writes:
        many.write(*pairs)
    assert few.flush().rows == many.flush().rows


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=20), max_size=5),
    st.integers(0, 5),
    st.booleans(),
    st.sets(st.integers(0, 4)),
)
def test_the_order_of_a_receiver_does_not_depend_on_how_elements_come(
    writes, one_by_one, isolate, bundles
):
    numbers = iter(range(1000))
    writes = [[(k, [next(numbers)] if m else next(numbers)) for k, m in pairs] for pairs in writes]

    def sent(limit, bundles=()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exchange_writer, "NEW_KEYS_ONE_BY_ONE", limit)
            writer = Sent(HashPartitioner(), keyed=True, timestamped=True, isolate=isolate)
            for index, pairs in enumerate(writes):
                if index in bundles:
                    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
                    writer.writer.write_bundle(Bundle(values, list(range(len(pairs))), keys))
                else:
                    writer.write(*pairs, at=range(len(pairs)))
            return writer.flush()

    expected, found = sent(1000), sent(one_by_one, bundles)
    for receiver in range(3):
        assert found.events(receiver) == expected.events(receiver)


def test_what_waits_for_its_receiver_is_shipped_before_an_event(monkeypatch):
    monkeypatch.setattr(exchange_writer, "NEW_KEYS_ONE_BY_ONE", 0)
    sent = Sent(HashPartitioner(), keyed=True)

    def elements():
        yield 1, "a"
        sent.writer.event(Watermark(5))
        yield 1, "b"

    sent.writer.write(elements(), Cursor())
    sent.flush()
    receiver = next(index for index in range(3) if sent.values(index))
    bundles = sent.events(receiver)
    assert [getattr(event, "values", event) for event in bundles] == [["a"], Watermark(5), ["b"]]


def test_custom_partitioning():
    sent = Sent(CustomPartitioner(), keyed=True).write((1, "a"), (0, "b"), (2, "c")).flush()
    assert [sent.values(i) for i in range(3)] == [["b"], ["a"], ["c"]]


@pytest.mark.parametrize(
    ("partitioner", "keyed"),
    [
        (RebalancePartitioner(), False),
        (BroadcastPartitioner(), False),
        (ShufflePartitioner(), False),
        (HashPartitioner(), True),
        (CustomPartitioner(), True),
    ],
)
def test_what_was_emitted_does_not_change(partitioner, keyed):
    sent = Sent(partitioner, receivers=1, keyed=keyed, isolate=True)

    def growing():
        value = [0]
        for element in (1, (2,), value, value, 3):
            yield (0, element) if keyed else element
            value.append("changed")

    sent.writer.write(growing(), Cursor())
    sent.write((0, [9]) if keyed else [9]).flush()
    early = [0, "changed", "changed"]
    assert sent.values(0) == [1, (2,), early, [*early, "changed"], 3, [9]]


def test_events_come_behind_all_elements_so_far_and_reach_all():
    sent = Sent(RebalancePartitioner()).write("a")
    sent.writer.event(Watermark(7))
    sent.write("b").flush()
    assert sent.events(0) == [Bundle(["a"]), Watermark(7)]
    assert sent.events(1) == [Watermark(7), Bundle(["b"])]
    assert sent.events(2) == [Watermark(7)]


def test_rows_are_numbered_and_say_their_channel():
    sent = Sent(RebalancePartitioner(), sender=1)
    sent.write("a", "b")
    sent.writer.event(Watermark(7))
    first, second, third = sent.rows
    assert [(row.subtask_id, row.channel, row.seq) for row in (first, second)] == [
        (100, 11, 0), (101, 11, 1),
    ]  # fmt: skip
    assert third == FanOut(11, 2, Watermark(7), range(100, 103))
    assert [(row.subtask_id, row.channel, row.seq) for row in third.for_each()] == [
        (100, 11, 2), (101, 11, 2), (102, 11, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "event", [Watermark(5), ChannelStatus(True), EndOfInput(), Barrier(7)], ids=str
)
def test_who_reaches_all_of_several_receivers_sends_an_event_once(event):
    sent = Sent(RebalancePartitioner())
    sent.writer.event(event)
    assert sent.rows == [FanOut(10, 0, event, range(100, 103))]


def test_who_reaches_one_receiver_sends_it_all_but_barriers_alone():
    for sent in (Sent(RebalancePartitioner(), receivers=1), Sent(GlobalPartitioner())):
        sent.writer.event(EndOfInput())
        assert [row[:3] for row in sent.rows] == [(100, 10, 0)]


def test_who_reaches_some_receivers_sends_an_event_to_each():
    sent = Sent(RescalePartitioner(), senders=2, receivers=4)
    sent.writer.event(Watermark(5))
    assert [row.subtask_id for row in sent.rows] == [100, 101]


def test_a_full_buffer_leaves_at_once_and_grows():
    sent = Sent(GlobalPartitioner()).write(*range(255))
    assert sent.rows == []
    sent.write(*range(1000))
    sizes = [len(bundle.values) for bundle in sent.events(0)]
    assert sizes == [256, 512]
    sent.write(*range(20_000)).flush()
    assert max(len(bundle.values) for bundle in sent.events(0)) == exchange_writer.BUNDLE_SIZE


def test_buffers_of_large_elements_stay_small():
    sent = Sent(GlobalPartitioner()).write(*["x" * 50_000] * 600).flush()
    assert len(sent.values(0)) == 600
    late = [len(row.payload) for row in sent.rows][1:]
    assert max(late) < 2 * exchange_writer.BUFFER_BYTES


def test_collected_elements():
    sent = Sent(GlobalPartitioner(), timestamped=True)
    sent.writer.write_bundle(Bundle(["a", "b"], [1, 2]))
    sent.writer.write_bundle(Bundle(["c"]))
    assert sent.flush().events(0) == [Bundle(["a", "b", "c"], [1, 2, None])]


def test_what_is_for_a_receiver_in_the_same_process_is_not_pickled():
    sent = Sent(RebalancePartitioner(), here={101}).write("a", "b", "c")
    sent.writer.event(Watermark(7))
    payloads = [row.payload for row in sent.rows]
    assert list(map(type, payloads)) == [bytes, Bundle, bytes, Watermark]
    assert [sent.events(i) for i in range(3)] == [
        [Bundle([value]), Watermark(7)] for value in "abc"
    ]


def test_what_stays_in_the_process_does_not_change_either():
    sent = Sent(GlobalPartitioner(), here={100}, isolate=True)
    value = [1]
    sent.write(value, value)
    value.append("changed")
    sent.flush()
    first, second = sent.values(0)
    assert first == second == [1]
    assert first is not second


def test_all_receivers_of_a_broadcast_have_elements_of_their_own():
    sent = Sent(BroadcastPartitioner(), here={100, 101, 102}).write([1]).flush()
    values = [sent.values(i)[0] for i in range(3)]
    assert values == [[1], [1], [1]]
    assert len(set(map(id, values))) == 3
