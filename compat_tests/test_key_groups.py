"""Which subtask a key goes to: the one that Flink's key groups say, for keys of every type."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyflink import common
from pyflink.common import Encoder, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.connectors.file_system import FileSink

from compat_tests.key_cases import key_cases, recorded
from compat_tests.running import collect

CASES = key_cases(common)
UNREADABLE = {"SQL_TIMESTAMP": 19}
"""The place of a key that ends a job of real PyFlink: 1968-06-02 10:59:23.754."""


class Subtask(KeyedProcessFunction):
    """Says of each number in which subtask it is."""

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def process_element(self, value, ctx):
        yield value, self.subtask


def places(case):
    return [n for n in range(len(CASES[case][1])) if n != UNREADABLE.get(case)]


def subtasks(env, case):
    key_type, keys = CASES[case]
    numbers = env.from_collection(places(case), Types.INT())
    keyed = numbers.key_by(keys.__getitem__, key_type)
    return [subtask for _, subtask in sorted(collect(keyed.process(Subtask())))]


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.parametrize(
    "case",
    ["untyped str", "untyped int", "untyped tuple", "untyped Row", "untyped any",
     "untyped datetime", "STRING", "LONG", "DOUBLE", "BIG_DEC", "SQL_TIMESTAMP", "TUPLE of all",
     "ROW of all"],
)  # fmt: skip
def test_two_subtasks(env, parallelism, case):
    expected = recorded()[case][parallelism, 128]
    assert subtasks(env, case) == [expected[n] for n in places(case)]


@pytest.mark.parametrize(
    ("parallelism", "maximum"), [(3, 128), (5, 1000), (7, 7)], ids=["default", "1000", "as few"]
)
@pytest.mark.parametrize("case", ["untyped str", "LONG"])
def test_several_subtasks(env, parallelism, maximum, case):
    if maximum != 128:
        env.set_max_parallelism(maximum)
    assert subtasks(env, case) == recorded()[case][parallelism, maximum]


WORDS = [f"user-{n}" for n in range(10)]
SECOND = ["user-0", "user-2", "user-9"]
FIRST = [word for word in WORDS if word not in SECOND]


def by_word(env):
    stream = env.from_collection(WORDS, Types.STRING())
    return stream.key_by(lambda v: v).map(lambda v: v, Types.STRING())


@pytest.mark.parametrize("parallelism", [2])
def test_the_prefix_of_printed_lines(env, run_printed):
    by_word(env).print()
    lines = [f"{1 if word in FIRST else 2}> {word}" for word in WORDS]
    assert sorted(run_printed(env)) == sorted(lines)


@pytest.mark.parametrize("parallelism", [2])
@pytest.mark.whole("a checkpoint begins another file")
def test_what_each_subtask_writes(env, tmp_path):
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    by_word(env).sink_to(sink)
    env.execute()
    files = [path for path in Path(tmp_path).rglob("*") if path.is_file()]
    written = sorted(sorted(file.read_text(encoding="utf-8").split()) for file in files)
    assert written == sorted([FIRST, SECOND])
