from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.datastream.slot_sharing_group import MemorySize, SlotSharingGroup


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 bytes"),
        (1025, "1025 bytes"),
        (2048, "2 kb"),
        (1536, "1536 bytes"),
        (1024**2, "1 mb"),
        (1024**3, "1 gb"),
        (10 * 1024**4 + 5, "10995116277765 bytes"),
    ],
)
def test_memory_texts(size, text):
    assert str(MemorySize(bytes_size=size)) == text


def test_memory_in_units():
    size = MemorySize(bytes_size=10 * 1024**4 + 5)
    assert size.get_bytes() == 10 * 1024**4 + 5
    assert (size.get_kibi_bytes(), size.get_mebi_bytes()) == (10 * 1024**3, 10 * 1024**2)
    assert (size.get_gibi_bytes(), size.get_tebi_bytes()) == (10 * 1024, 10)
    assert MemorySize.of_mebi_bytes(3) == MemorySize(bytes_size=3 * 1024**2)


def test_memory_is_ordered():
    one, two = MemorySize(bytes_size=1), MemorySize(bytes_size=2)
    assert one < two
    assert one <= MemorySize(bytes_size=1)
    assert hash(one) == hash(MemorySize(bytes_size=1))
    with pytest.raises(Exception, match="non-MemorySize 3"):
        assert one < 3


def test_impossible_memory():
    with pytest.raises(ValueError, match="bytes must be >= 0"):
        MemorySize(bytes_size=-1)
    with pytest.raises(TypeError):
        MemorySize()
    with pytest.raises(UnsupportedFlinkFeature, match=r"MemorySize\.get_java_memory_size"):
        MemorySize(bytes_size=1).get_java_memory_size()


def test_a_group_without_resources():
    group = SlotSharingGroup.builder("a").build()
    assert group.get_name() == "a"
    assert group.get_cpu_cores() is None
    assert group.get_task_heap_memory() is None
    assert group.get_task_off_heap_memory() is None
    assert group.get_managed_memory() is None
    assert group.get_external_resources() == {}


def test_a_group_with_all_resources():
    group = (
        SlotSharingGroup.builder("a")
        .set_cpu_cores(1.5)
        .set_task_heap_memory_mb(10)
        .set_task_off_heap_memory_mb(2)
        .set_managed_memory_mb(4)
        .set_external_resource("gpu", 1.0)
        .set_external_resource("gpu", 2.0)
        .build()
    )
    assert group.get_cpu_cores() == 1.5
    assert group.get_task_heap_memory() == MemorySize.of_mebi_bytes(10)
    assert group.get_task_off_heap_memory() == MemorySize.of_mebi_bytes(2)
    assert group.get_managed_memory() == MemorySize.of_mebi_bytes(4)
    assert group.get_external_resources() == {"gpu": 2.0}
    assert pickle.loads(pickle.dumps(group)) == group


def test_what_was_not_set_is_nothing():
    heap = MemorySize.of_mebi_bytes(5)
    group = SlotSharingGroup.builder("a").set_cpu_cores(1.0).set_task_heap_memory(heap).build()
    assert str(group.get_managed_memory()) == str(group.get_task_off_heap_memory()) == "0 bytes"


@pytest.mark.parametrize(
    "build",
    [
        lambda b: b.set_cpu_cores(1.0),
        lambda b: b.set_task_heap_memory_mb(1),
        lambda b: b.set_managed_memory_mb(1),
        lambda b: b.set_external_resource("x", 1.0),
    ],
)
def test_cores_and_heap_come_together(build):
    with pytest.raises(ValueError, match="cpu cores and task heap memory are required"):
        build(SlotSharingGroup.builder("a")).build()


def test_impossible_resources():
    builder = SlotSharingGroup.builder("a")
    with pytest.raises(ValueError, match="cpu cores should be positive"):
        builder.set_cpu_cores(0.0)
    with pytest.raises(ValueError, match="heap memory should be positive"):
        builder.set_task_heap_memory_mb(0)
    with pytest.raises(TypeError):
        builder.set_cpu_cores(1)
    with pytest.raises(TypeError):
        SlotSharingGroup.builder(None)


def test_groups_are_compared_by_their_resources():
    a, b = SlotSharingGroup.builder("a"), SlotSharingGroup.builder("b")
    assert a.build() == b.build()
    assert hash(a.build()) == hash(b.build())
    a.set_cpu_cores(1.0).set_task_heap_memory_mb(1)
    assert a.build() != b.build()
