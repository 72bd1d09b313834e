"""A job with BATCH semantics, while Spark loses what its stages have written; plain PyFlink.

    python -m pyflink_on_spark -pyfs tests/faults/job.py tests/faults/batch_job.py INPUT OUTPUT

Counts the events of a folder per key, and sums the counts of each key in a further stage; both are
written to files. The last stage is slow and touches a file OUTPUT/summing when it begins.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from job import EVENT, CountPerKey, parse, sink
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import (
    KeyedProcessFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.file_system import FileSource, RollingPolicy, StreamFormat
from pyflink.datastream.state import ValueStateDescriptor

PARALLELISM = 8
SECONDS_AN_EVENT = 0.005


class Sum(KeyedProcessFunction):
    """Emits the key and the sum of its counts so far, slowly."""

    def __init__(self, begun):
        self.begun = begun

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        Path(self.begun).touch()
        time.sleep(SECONDS_AN_EVENT)
        total = (self.sum.value() or 0) + int(value.rpartition(",")[2])
        self.sum.update(total)
        yield f"{ctx.get_current_key()},{total}"


def main():
    source, output = sys.argv[1], Path(sys.argv[2])
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(PARALLELISM)
    text = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
    lines = env.from_source(text, WatermarkStrategy.no_watermarks(), "events")
    events = lines.map(parse, EVENT).key_by(lambda event: event[1], Types.LONG())
    counts = events.map(CountPerKey(), Types.STRING())
    sums = counts.key_by(lambda line: line.partition(",")[0], Types.STRING()).process(
        Sum(str(output / "summing")), Types.STRING()
    )
    for name, stream in (("counts", counts), ("sums", sums)):
        stream.sink_to(sink(output / name, RollingPolicy.default_rolling_policy()))
    env.execute("batch")


if __name__ == "__main__":
    main()
