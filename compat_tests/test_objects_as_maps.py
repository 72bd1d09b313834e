"""Objects where a type declares a MAP: Flink reads their pickles."""

from __future__ import annotations

import collections
import dataclasses

import pytest
from pyflink.common import Types

from compat_tests.running import collect

MAP = Types.MAP(Types.STRING(), Types.STRING())
ROW = Types.ROW_NAMED(["id", "info"], [Types.INT(), MAP])
HERE = __name__


class Sensor:
    kind = "of the class, not of the object"

    def __init__(self, name, count):
        self.name = name
        self.count = count


class Empty:
    pass


@dataclasses.dataclass
class Data:
    a: str = "x"


class OwnState:
    def __getstate__(self):
        return {"z": "y"}


class MyDict(dict):
    pass


class Slots:
    __slots__ = ("a",)

    def __init__(self):
        self.a = "x"


def test_attributes_of_objects(env):
    objects = [
        Sensor("s1", 2),
        Empty(),
        Data(),
        OwnState(),
        MyDict(a="x"),
        collections.OrderedDict(a="x"),
        {"a": "x"},
    ]
    stream = env.from_collection(list(enumerate(objects)), ROW)
    found = collect(stream.map(lambda row: sorted(row.info.items()), Types.PICKLED_BYTE_ARRAY()))
    assert found == [
        [("__class__", f"{HERE}.Sensor"), ("count", "2"), ("name", "s1")],
        [("__class__", f"{HERE}.Empty")],
        [("__class__", f"{HERE}.Data"), ("a", "x")],
        [("__class__", f"{HERE}.OwnState"), ("z", "y")],
        [("__class__", f"{HERE}.MyDict"), ("a", "x")],
        [("__class__", "collections.OrderedDict"), ("a", "x")],
        [("a", "x")],
    ]


def test_objects_that_are_elements(env):
    stream = env.from_collection([Data()], MAP)
    found = collect(stream.map(lambda entries: sorted(entries.items())))
    assert found == [[("__class__", f"{HERE}.Data"), ("a", "x")]]


def test_objects_that_are_no_maps(env):
    with pytest.raises(Exception, match=r"(?i)slots|ClassDict"):
        collect(env.from_collection([(1, Slots())], ROW))
