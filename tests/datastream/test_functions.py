from __future__ import annotations

import pickle

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream import functions, utils
from pyflink_on_spark.datastream.output_tag import OutputTag
from pyflink_on_spark.datastream.window import TimeWindow, WindowAssigner

WINDOW = TimeWindow(0, 5)
KEYED, ALL = functions.WindowFunction, functions.AllWindowFunction
Context = functions.ProcessWindowFunction.Context


def recording(base, *names):
    def method(name):
        def call(self, *args):
            self.calls.append((name, *args))
            return [name]

        return call

    made = type("Recording", (base,), {name: method(name) for name in names})()
    made.calls = []
    return made


class Underlying:
    def current_processing_time(self):
        return 1

    def current_watermark(self):
        return 2

    def window_state(self):
        return "window state"

    def global_state(self):
        return "global state"


@pytest.mark.parametrize(
    ("wrapper", "base", "wrapped", "contents"),
    [
        (functions.InternalSingleValueWindowFunction, functions.WindowFunction, ("k", WINDOW), [7]),
        (functions.InternalIterableWindowFunction, functions.WindowFunction, ("k", WINDOW), 7),
        (
            functions.InternalSingleValueAllWindowFunction,
            functions.AllWindowFunction,
            (WINDOW,),
            [7],
        ),
        (functions.InternalIterableAllWindowFunction, functions.AllWindowFunction, (WINDOW,), 7),
    ],
)
def test_window_functions_have_one_shape(wrapper, base, wrapped, contents):
    inner = recording(base, "apply", "open", "close")
    outer = wrapper(inner)
    outer.open("context")
    assert outer.process("k", WINDOW, Underlying(), 7) == ["apply"]
    outer.clear(WINDOW, Underlying())
    outer.close()
    assert inner.calls == [("open", "context"), ("apply", *wrapped, contents), ("close",)]


@pytest.mark.parametrize(
    ("wrapper", "base", "keyed", "contents"),
    [
        (
            functions.InternalSingleValueProcessWindowFunction,
            functions.ProcessWindowFunction,
            True,
            [7],
        ),
        (
            functions.InternalIterableProcessWindowFunction,
            functions.ProcessWindowFunction,
            True,
            7,
        ),
        (
            functions.InternalSingleValueProcessAllWindowFunction,
            functions.ProcessAllWindowFunction,
            False,
            [7],
        ),
        (
            functions.InternalIterableProcessAllWindowFunction,
            functions.ProcessAllWindowFunction,
            False,
            7,
        ),
    ],
)
def test_process_window_functions_have_one_shape(wrapper, base, keyed, contents):
    inner = recording(base, "process", "clear", "open", "close")
    outer = wrapper(inner)
    outer.open("context")
    assert outer.process("k", WINDOW, Underlying(), 7) == ["process"]
    outer.clear(WINDOW, Underlying())
    outer.close()
    opened, (_, *processed), (_, cleared), closed = inner.calls
    assert (opened, closed) == (("open", "context"), ("close",))
    *key, context, given = processed
    assert (key, given) == (["k"] if keyed else [], contents)
    assert cleared is context
    assert (context.window(), context.window_state()) == (WINDOW, "window state")
    assert context.global_state() == "global state"
    if keyed:
        assert (context.current_processing_time(), context.current_watermark()) == (1, 2)


def test_what_must_be_written_is_abstract():
    class Incomplete(functions.AggregateFunction):
        def create_accumulator(self):
            return 0

    for cls in (Incomplete, functions.MapFunction, functions.RuntimeContext, WindowAssigner):
        with pytest.raises(TypeError, match="abstract"):
            cls()


def test_what_may_be_left_out():
    assert recording(functions.KeyedProcessFunction, "process_element").on_timer(1, None) is None
    assert recording(functions.ProcessWindowFunction, "process").clear(None) is None
    assert functions.NullByteKeySelector().get_key("x") == 0
    assert list(functions.PassThroughWindowFunction().apply("k", WINDOW, [1, 2])) == [1, 2]
    assert list(functions.PassThroughAllWindowFunction().apply(WINDOW, [1, 2])) == [1, 2]


def test_functions_may_be_subscripted():
    class Typed(functions.ProcessWindowFunction[tuple, str, str, TimeWindow]):
        def process(self, key, context: Context[TimeWindow], elements):
            yield key

    assert list(Typed().process("k", None, [])) == ["k"]


def test_source_and_sink_functions_carry_our_own_objects():
    connector = object()
    assert functions.SourceFunction(connector).get_java_function() is connector
    assert functions.SinkFunction(sink_func=connector).get_java_function() is connector
    with pytest.raises(UnsupportedFlinkFeature, match=r"SourceFunction\('com.acme.Source'\)"):
        functions.SourceFunction("com.acme.Source")


def test_output_tags():
    assert OutputTag("late").type_info == Types.PICKLED_BYTE_ARRAY()
    assert OutputTag("late", [Types.INT()]).type_info == Types.ROW([Types.INT()])
    tag = pickle.loads(pickle.dumps(OutputTag("late", Types.INT())))
    assert (tag.tag_id, tag.type_info) == ("late", Types.INT())
    for nothing in ("", None):
        with pytest.raises(ValueError, match="tag_id cannot be None or empty string"):
            OutputTag(nothing)
    with pytest.raises(TypeError, match="must be None, list or TypeInformation"):
        OutputTag("late", int)
    with pytest.raises(UnsupportedFlinkFeature, match=r"OutputTag\.get_java_output_tag"):
        tag.get_java_output_tag()


def test_conversions():
    untyped = Types.PICKLED_BYTE_ARRAY()
    assert utils.convert_to_python_obj(pickle.dumps({"a": 1}), untyped) == {"a": 1}
    with pytest.raises(UnsupportedFlinkFeature):
        utils.pickled_bytes_to_python_obj(b"", Types.INT())
    for convert in (utils.create_hadoop_configuration, utils.create_java_properties):
        with pytest.raises(UnsupportedFlinkFeature):
            convert(None)
