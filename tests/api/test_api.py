"""Every public name of PyFlink 1.13 to 2.3 is here, with its signature."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location(
    "mirror_check", Path(__file__).with_name("mirror_check.py")
)
mirror_check = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = mirror_check
spec.loader.exec_module(mirror_check)

NAMES = mirror_check.known_names()


@pytest.mark.parametrize("module", NAMES)
def test_every_name_is_here_and_exact(module):
    found = [
        f"{name}: {problem}"
        for name, entry in NAMES[module].items()
        for problem in mirror_check.problems(module, name, entry)
    ]
    assert not found


def test_the_list_is_complete():
    assert len(NAMES) == 93
    assert sum(map(len, NAMES.values())) == 3184


class Sample:
    def method(self, a, b=1, *rest):
        self.kept = a

    @staticmethod
    def static(a):
        pass


@pytest.mark.parametrize(
    ("wanted", "given", "text"),
    [
        (["a", "b=1"], ["a"], "it lacks the parameter b=1"),
        (["a"], ["b"], "its parameter 1 is b, not a"),
        (["a=1"], ["a=2"], "its parameter 1 is a=2, not a=1"),
        (["a"], ["a=1"], "its parameter 1 is a=1, not a"),
        (["a"], ["a", "b"], "it has one more parameter, b"),
    ],
)
def test_differences_are_found(wanted, given, text):
    assert list(mirror_check.differences(wanted, given)) == [text]


def test_further_optional_parameters_are_allowed():
    assert not list(mirror_check.differences(["a"], ["a", "b=1", "**rest"]))


def test_parameters_are_read_off_functions():
    assert mirror_check.parameters(Sample.method) == ["self", "a", "b=1", "*rest"]


@pytest.mark.parametrize(
    ("name", "entry", "text"),
    [
        ("Absent", {"kind": "class"}, "cannot be imported"),
        ("Row.absent", {"kind": "method", "parameters": []}, "Row has no absent"),
        ("Row.as_dict", {"kind": "staticmethod", "parameters": []}, "it is a method of objects"),
        ("Time.seconds", {"kind": "method", "parameters": []}, "it is not a method of objects"),
        ("Row.as_dict", {"kind": "method", "parameters": ["a"]}, "its parameter 1 is recursive"),
        ("RowKind.INSERT", {"kind": "enum_value", "value": "7"}, "value"),
        ("RowKind", {"kind": "class", "enum": True, "also_in": ["pyflink.absent"]}, "cannot be"),
        ("Row", {"kind": "class", "enum": True}, "it is not an enum"),
        ("Row", {"kind": "class", "bases": ["pyflink.common.time.Time"]}, "it has no days"),
    ],
)
def test_problems_are_found(name, entry, text):
    (found, *_) = mirror_check.problems("pyflink.common", name, entry)
    assert text in found
