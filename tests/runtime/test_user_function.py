"""Functions as they were when they were added."""

from __future__ import annotations

import functools
import threading

import pytest

from pyflink_on_spark._runtime.user_code import (
    PlainFunction,
    UserFunction,
    close_function,
    describe,
    open_function,
)


class Doubles:
    def __call__(self, value):
        return value * 2

    def map(self, value):
        return value * 2


def plain(value):
    return value


def test_later_changes_are_not_seen():
    seen = [1]
    function = UserFunction.of(lambda: seen)
    seen.append(2)
    assert function.load()() == [1]
    assert function.load()() is not function.load()()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (plain, "plain"),
        (Doubles(), "Doubles"),
        (functools.partial(plain, 1), "partial of plain"),
        (PlainFunction("map", plain), "plain"),
        (len, "len"),
    ],
)
def test_description(function, text):
    assert describe(function) == text
    assert UserFunction.of(function).description == text


def test_what_cannot_be_pickled_says_what_and_where():
    lock = threading.Lock()

    def guarded(value):
        with lock:
            return value

    with pytest.raises(TypeError, match=r"guarded cannot be sent .*lock.*; it holds lock = lock"):
        UserFunction.of(guarded)
    with pytest.raises(TypeError, match="it holds lock = lock"):
        UserFunction.of(PlainFunction("map", guarded))


def test_an_attribute_that_cannot_be_pickled():
    function = Doubles()
    function.connection = threading.Lock()
    with pytest.raises(TypeError, match=r"Doubles .* it holds connection = lock object\. Create"):
        UserFunction.of(function)


def test_a_spark_session_in_a_function():
    class Session:
        __module__ = "pyspark.sql.session"

        def __reduce__(self):
            raise RuntimeError("[CONTEXT_ONLY_VALID_ON_DRIVER] It appears that ...")

    spark = Session()
    with pytest.raises(TypeError) as caught:
        UserFunction.of(lambda value: spark.range(value).count())
    assert "it holds spark = " in str(caught.value)
    assert "Spark can only be used where the job is described" in str(caught.value)
    assert "CONTEXT_ONLY" not in str(caught.value)


def test_what_cannot_be_pickled_itself():
    with pytest.raises(TypeError, match=r"lock cannot be sent to the workers: .*\. Create such"):
        UserFunction.of(threading.Lock())


def test_a_plain_function_has_one_method():
    function = PlainFunction("filter", plain)
    assert function.filter("x") == "x"
    assert function.plain is plain
    assert not hasattr(function, "map")


def test_open_and_close_are_called_if_they_are_there():
    calls = []

    class Opens:
        def open(self, context):
            calls.append(context)

        def close(self):
            calls.append("close")

    for function in (Opens(), object()):
        open_function(function, "context")
        close_function(function)
    assert calls == ["context", "close"]
