"""The frames of a traceback that are shown."""

from __future__ import annotations

import contextlib
import json
import traceback

import pytest

from pyflink_on_spark._compat.own_frames import (
    capture_call_site,
    compiled_file,
    forget_causes,
    is_own,
    raised_on_purpose,
    users_frames,
    without_own_frames,
)
from pyflink_on_spark.common import Configuration


def told(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of whatever sort
        call()
    return traceback.TracebackException.from_exception(caught.value)


def wrong_option():
    Configuration().set_string("a", 5)


def wrong_json():
    json.loads("{")


def from_a_library():
    try:
        wrong_json()
    except ValueError as error:
        wrong_option_from(error)


def wrong_option_from(error):
    raise RuntimeError("both") from error


def test_frames_of_this_package_and_of_libraries():
    assert is_own(json.__file__) is False
    assert is_own(compiled_file("loop"))
    stack = told(wrong_option).stack
    assert is_own(stack[-1].filename)
    assert users_frames(stack)[-1].name == "wrong_option"
    assert users_frames(told(wrong_json).stack)[-1].name == "wrong_json"


def test_errors_that_are_raised_on_purpose():
    assert raised_on_purpose(told(wrong_option).stack)
    assert not raised_on_purpose(told(wrong_json).stack)
    assert not raised_on_purpose(traceback.StackSummary())


def test_causes_with_a_frame_of_the_users_stay():
    whole = told(from_a_library)
    forget_causes(whole)
    assert whole.__cause__ is not None


def test_causes_without_one_go():
    def both():
        try:
            raise ValueError("inner")
        except ValueError as error:
            raise KeyError("outer") from error

    whole = told(both)
    whole.__cause__.stack = traceback.StackSummary()
    forget_causes(whole)
    assert whole.__cause__ is None
    assert whole.__context__ is None


def test_what_this_package_uses_of_python_is_hidden_with_it():
    def failing():
        raise ValueError

    @contextlib.contextmanager
    def opened():
        try:
            yield
        except ValueError as error:
            raise KeyError from error

    opened.__wrapped__.__code__ = opened.__wrapped__.__code__.replace(
        co_filename=compiled_file("x")
    )
    names = {"opened": opened}
    call = "def call(function):\n    with opened():\n        function()"
    exec(compile(call, compiled_file("x"), "exec"), names)
    with pytest.raises(KeyError) as caught:
        names["call"](failing)
    whole = caught.value.__traceback__
    assert [frame.name for frame in traceback.extract_tb(whole)][1:] == [
        "call",
        "__exit__",
        "opened",
    ]
    assert len(traceback.extract_tb(without_own_frames(whole))) == 1


def test_the_place_of_a_call_is_in_no_standard_module():
    library = {}
    source = compile("def pop(call): return call()", "<frozen _collections_abc>", "exec")
    exec(source, library)
    assert library["pop"](capture_call_site).file == __file__
