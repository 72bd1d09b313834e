"""The kinds of keyed state, without a time to live."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common.typeinfo import Types
from tests.runtime.harness import FakeClock
from tests.runtime.state.backends import new_backend
from tests.runtime.state.descriptors import Adding, Descriptor, Mean


@pytest.fixture
def backend():
    backend = new_backend(FakeClock())
    backend.key = "a"
    return backend


def test_value_belongs_to_key(backend):
    state = backend.value_state(Descriptor("value", "v"))
    assert state.value() is None
    state.update(1)
    backend.key = "b"
    assert state.value() is None
    state.update(2)
    backend.key = "a"
    assert state.value() == 1
    state.clear()
    assert state.value() is None
    backend.key = "b"
    assert state.value() == 2
    state.update(None)
    assert state.value() is None


def test_false_values_are_values(backend):
    state = backend.value_state(Descriptor("value", "v"))
    state.update(0)
    assert state.value() == 0


def test_two_descriptors_of_one_name_are_one_state(backend):
    backend.value_state(Descriptor("value", "v")).update(1)
    assert backend.value_state(Descriptor("value", "v")).value() == 1


def test_name_of_another_kind(backend):
    backend.value_state(Descriptor("value", "v"))
    with pytest.raises(RuntimeError, match="The state name 'v' is already in use and not a list"):
        backend.list_state(Descriptor("list", "v"))


def test_name_with_another_type(backend):
    backend.value_state(Descriptor("value", "v"))
    other = Descriptor("value", "v")
    other.type_info = Types.INT()
    with pytest.raises(RuntimeError, match="State name corrupted: v"):
        backend.value_state(other)


def test_descriptor_of_another_kind(backend):
    with pytest.raises(TypeError):
        backend.list_state(Descriptor("map", "v"))


def test_list(backend):
    state = backend.list_state(Descriptor("list", "l"))
    assert list(state.get()) == list(state) == []
    state.add(1)
    state.add_all([2, 3])
    seen = state.get()
    assert list(seen) == list(seen) == [1, 2, 3]
    with pytest.raises(TypeError):
        seen[0]
    mine = [4]
    state.update(mine)
    mine.append(5)
    assert list(state) == [4]
    assert list(seen) == [1, 2, 3]
    state.update([])
    assert list(state) == []
    state.add(6)
    state.clear()
    assert list(state.get()) == []


def test_map(backend):
    state = backend.map_state(Descriptor("map", "m"))
    assert state.is_empty()
    state.put("b", 1)
    state["a"] = 2
    state.put("b", 3)
    state.put_all({"c": None}.items())
    assert list(state.items()) == [("b", 3), ("a", 2), ("c", None)]
    assert list(state.keys()) == list(state) == ["b", "a", "c"]
    assert list(state.values()) == [3, 2, None]
    assert "a" in state
    assert not state.contains("c")
    assert state["z"] is None
    state.remove("z")
    del state["b"]
    backend.key = "other"
    assert state.is_empty()
    backend.key = "a"
    assert not state.is_empty()
    state.remove("a")
    state.remove("c")
    assert state.is_empty()


def test_put_all_wants_pairs(backend):
    state = backend.map_state(Descriptor("map", "m"))
    with pytest.raises(ValueError, match="unpack"):
        state.put_all({"abc": 1})


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.put("a", 1),
        lambda state: state.put_all([("a", 1)]),
        lambda state: state.remove("a"),
        lambda state: state.clear(),
    ],
)
def test_map_changed_while_iterated(backend, change):
    state = backend.map_state(Descriptor("map", "m"))
    state.put("a", 1)
    items = state.items()
    next(items)
    change(state)
    with pytest.raises(RuntimeError, match="Concurrent modification detected"):
        next(items)


def test_map_iterator_removes(backend):
    state = backend.map_state(Descriptor("map", "m"))
    state.put_all((i, i * i) for i in range(5))
    keys = state.keys()
    with pytest.raises(RuntimeError, match="__next__"):
        keys.remove()
    for key in keys:
        if key % 2:
            keys.remove()
    assert list(state.items()) == [(0, 0), (2, 4), (4, 16)]


def test_reducing(backend):
    state = backend.reducing_state(Descriptor("reducing", "r", Adding()))
    assert state.get() is None
    state.add(1)
    state.add(2)
    assert state.get() == 3
    state.clear()
    assert state.get() is None


def test_aggregating(backend):
    state = backend.aggregating_state(Descriptor("aggregating", "a", Mean()))
    assert state.get() is None
    state.add(1)
    state.add(2)
    assert state.get() == 1.5
    state.add(None)
    assert state.get() is None


def test_namespaces(backend):
    state = backend.value_state(Descriptor("value", "v"))
    state.update(0)
    state.set_current_namespace("w1")
    assert state.value() is None
    state.update(1)
    state.set_current_namespace("w2")
    state.update(2)
    state.clear()
    state.set_current_namespace("w1")
    assert state.value() == 1
    state.set_current_namespace(None)
    assert state.value() == 0
    assert set(backend.table("v", "value").namespaces) == {None, "w1"}


@pytest.mark.parametrize(
    ("kind", "function", "expected"),
    [("list", None, [0, 1, 2]), ("reducing", Adding(), 3), ("aggregating", Mean(), 1.0)],
)
@pytest.mark.parametrize("with_target", [True, False])
def test_merge_namespaces(backend, kind, function, expected, with_target):
    state = getattr(backend, f"{kind}_state")(Descriptor(kind, "s", function))
    spaces = ["t", "x", "y"] if with_target else ["x", "y", "z"]
    for value, namespace in enumerate(spaces):
        state.set_current_namespace(namespace)
        state.add(value)
    state.merge_namespaces("t", ["x", "empty", "y", "z"])
    seen = state.get()
    assert (list(seen) if kind == "list" else seen) == expected
    for namespace in ["x", "y", "z", "empty"]:
        state.set_current_namespace(namespace)
        assert not (list(state.get()) if kind == "list" else state.get())


def test_merge_of_nothing(backend):
    state = backend.list_state(Descriptor("list", "s"))
    state.merge_namespaces("t", ["x"])
    assert list(state) == []


def test_drop_key(backend):
    value = backend.value_state(Descriptor("value", "v"))
    listed = backend.list_state(Descriptor("list", "l"))
    value.update(1)
    listed.set_current_namespace("w")
    listed.add(1)
    backend.key = "b"
    value.update(2)
    backend.drop_key("a")
    assert value.value() == 2
    backend.key = "a"
    assert value.value() is None
    assert list(listed) == []
