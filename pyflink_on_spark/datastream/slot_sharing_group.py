"""Groups of operators that share Flink's slots, with the resources they ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options.option import memory_text
from pyflink_on_spark.datastream._java_gaps import without_java_object

__all__ = ["MemorySize", "SlotSharingGroup"]


class MemorySize:
    """An amount of memory.

    Args:
        j_memory_size: the number of bytes, too.
        bytes_size: the number of bytes.

    Raises:
        ValueError: it is negative.
        TypeError: neither was given.
    """

    def __init__(self, j_memory_size=None, bytes_size: int | None = None):
        size = bytes_size if j_memory_size is None else j_memory_size
        self._bytes = own_handle(size, int, "MemorySize(bytes_size)")
        if self._bytes < 0:
            raise ValueError("bytes must be >= 0")

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return an amount of memory in mebibytes."""
        return MemorySize(bytes_size=mebi_bytes * 1024**2)

    def get_bytes(self) -> int:
        """Return the number of bytes."""
        return self._bytes

    def get_kibi_bytes(self) -> int:
        """Return the number of whole kibibytes."""
        return self._bytes // 1024

    def get_mebi_bytes(self) -> int:
        """Return the number of whole mebibytes."""
        return self._bytes // 1024**2

    def get_gibi_bytes(self) -> int:
        """Return the number of whole gibibytes."""
        return self._bytes // 1024**3

    def get_tebi_bytes(self) -> int:
        """Return the number of whole tebibytes."""
        return self._bytes // 1024**4

    @without_java_object("Use get_bytes().")
    def get_java_memory_size(self):
        """Return Flink's own object."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __lt__(self, other: MemorySize) -> bool:
        if not isinstance(other, MemorySize):
            raise Exception(f"Does not support comparison with non-MemorySize {other}")
        return self._bytes < other._bytes

    def __le__(self, other: MemorySize) -> bool:
        return self == other or self < other

    def __str__(self) -> str:
        return memory_text(self._bytes)


_NOTHING = MemorySize(bytes_size=0)


@dataclass(frozen=True)
class GroupSpec:
    """The name and the resources of a slot sharing group."""

    name: str
    cpu_cores: float | None = None
    task_heap: MemorySize | None = None
    task_off_heap: MemorySize | None = None
    managed: MemorySize | None = None
    external: tuple[tuple[str, float], ...] = ()

    @property
    def resources(self) -> tuple[Any, ...]:
        """All but the name."""
        return (
            self.cpu_cores,
            self.task_heap,
            self.task_off_heap,
            self.managed,
            tuple(sorted(self.external)),
        )


class SlotSharingGroup:
    """A group of operators that share slots, made with ``builder``.

    Two groups are equal if their resources are; the names make no difference.

    Args:
        j_slot_sharing_group: this package's description.

    On Spark: the resources are recorded, without effect: Spark's executors have the resources
    that the session gives them.
    """

    def __init__(self, j_slot_sharing_group):
        self._j_slot_sharing_group = own_handle(
            j_slot_sharing_group, GroupSpec, "SlotSharingGroup(j_slot_sharing_group)"
        )

    def get_name(self) -> str:
        """Return the name."""
        return self._j_slot_sharing_group.name

    def get_managed_memory(self) -> MemorySize | None:
        """Return the managed memory; None if no resources were set."""
        return self._j_slot_sharing_group.managed

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the heap memory; None if no resources were set."""
        return self._j_slot_sharing_group.task_heap

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the memory beside the heap; None if no resources were set."""
        return self._j_slot_sharing_group.task_off_heap

    def get_cpu_cores(self) -> float | None:
        """Return the number of cores; None if no resources were set."""
        return self._j_slot_sharing_group.cpu_cores

    def get_external_resources(self) -> dict:
        """Return the amounts of other resources by their names."""
        return dict(self._j_slot_sharing_group.external)

    @without_java_object("Use the getters.")
    def get_java_slot_sharing_group(self):
        """Return Flink's own object."""

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Begin a group of this name."""
        return SlotSharingGroup.Builder(
            GroupSpec(own_handle(name, str, "SlotSharingGroup.builder(name)"))
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, self.__class__)
            and self._j_slot_sharing_group.resources == other._j_slot_sharing_group.resources
        )

    def __hash__(self) -> int:
        return hash(self._j_slot_sharing_group.resources)

    class Builder:
        """Makes a group step by step; cores and heap memory come together or not at all.

        Args:
            j_builder: this package's description.
        """

        def __init__(self, j_builder):
            self._j_builder = own_handle(j_builder, GroupSpec, "Builder(j_builder)")

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Set the number of cores, a float.

            Raises:
                ValueError: it is not more than 0.
            """
            own_handle(cpu_cores, float, "set_cpu_cores(cpu_cores)")
            if cpu_cores <= 0:
                raise ValueError("The cpu cores should be positive.")
            return self._with(cpu_cores=cpu_cores)

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the heap memory.

            Raises:
                ValueError: it is zero.
            """
            _memory(task_heap_memory)
            if task_heap_memory == _NOTHING:
                raise ValueError("The task heap memory should be positive.")
            return self._with(task_heap=task_heap_memory)

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the heap memory in mebibytes.

            Raises:
                ValueError: it is not more than 0.
            """
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(
            self, task_off_heap_memory: MemorySize
        ) -> SlotSharingGroup.Builder:
            """Set the memory beside the heap."""
            return self._with(task_off_heap=_memory(task_off_heap_memory))

        def set_task_off_heap_memory_mb(
            self, task_off_heap_memory_mb: int
        ) -> SlotSharingGroup.Builder:
            """Set the memory beside the heap in mebibytes."""
            return self._with(task_off_heap=MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the managed memory."""
            return self._with(managed=_memory(managed_memory))

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the managed memory in mebibytes."""
            return self._with(managed=MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Set the amount of another resource, a float."""
            own_handle(value, float, "set_external_resource(name, value)")
            external = dict(self._j_builder.external) | {name: value}
            return self._with(external=tuple(external.items()))

        def build(self) -> SlotSharingGroup:
            """Return the group.

            Raises:
                ValueError: some resource was set, but not both cores and heap memory.
            """
            spec = self._j_builder
            if spec == GroupSpec(spec.name):
                return SlotSharingGroup(spec)
            if spec.cpu_cores is None or spec.task_heap is None:
                raise ValueError(
                    "The cpu cores and task heap memory are required when specifying the resource "
                    "of a slot sharing group. You need to explicitly configure them with positive "
                    "value."
                )
            off_heap, managed = spec.task_off_heap or _NOTHING, spec.managed or _NOTHING
            return SlotSharingGroup(replace(spec, task_off_heap=off_heap, managed=managed))

        def _with(self, **changes: object) -> SlotSharingGroup.Builder:
            self._j_builder = replace(self._j_builder, **changes)
            return self


def _memory(size: object) -> MemorySize:
    return own_handle(size, MemorySize, "a memory setting of SlotSharingGroup.Builder")


__getattr__ = missing_name(__name__)
