"""Counts the requests of access logs by minute and status, as the logs come.

    python -m pyflink_on_spark examples/watch_folder.py --input FOLDER [--output FOLDER]
        [--checkpoints FOLDER] [--restore CHECKPOINT]

Watches the input folder without end and reads each new file once. Move files there when they are
complete. Writes a line `minute,status,count` for each status in each minute of event time, once a
later request shows that the minute is over. End it with Ctrl-C.

With --checkpoints the job keeps its state there, and resumes by itself when a part of it fails.
When the whole job was ended, --restore resumes it from a checkpoint, a folder such as
CHECKPOINTS/<job id>/chk-42: no request is counted twice, and none is lost.
"""

from __future__ import annotations

import argparse
import datetime
import re
from pathlib import Path

from pyflink.common import Configuration, Duration, Encoder, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)
from pyflink.datastream.window import TumblingEventTimeWindows

LINE = re.compile(r'\[([^\]]+)\] "[^"]*" (\d{3}) ')
REQUEST = Types.TUPLE([Types.LONG(), Types.STRING()])


def requests(line):
    """Yield the time in ms and the status of a request; nothing for a malformed line."""
    found = LINE.search(line)
    if found:
        time = datetime.datetime.strptime(found.group(1), "%d/%b/%Y:%H:%M:%S %z")
        yield int(time.timestamp() * 1000), found.group(2)


class RequestTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


class CountRequests(ProcessWindowFunction):
    def process(self, key, context, elements):
        seconds = context.window().start / 1000
        start = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        yield f"{start:%Y-%m-%dT%H:%M},{key},{len(list(elements))}"


def environment(checkpoints, restore):
    configuration = Configuration()
    if checkpoints is not None:
        configuration.set_string("execution.checkpointing.interval", "10 s")
        configuration.set_string("execution.checkpointing.dir", checkpoints.resolve().as_uri())
        retention = "execution.checkpointing.externalized-checkpoint-retention"
        configuration.set_string(retention, "RETAIN_ON_CANCELLATION")
    if restore is not None:
        configuration.set_string("execution.state-recovery.path", restore)
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def count_by_minute(env, input_path):
    logs = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(input_path))
        .monitor_continuously(Duration.of_seconds(1))
        .build()
    )
    times = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(30))
    return (
        env.from_source(logs, WatermarkStrategy.no_watermarks(), "access logs")
        .uid("logs")
        .flat_map(requests, REQUEST)
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(RequestTime()))
        .key_by(lambda request: request[1], Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.minutes(1)))
        .process(CountRequests(), Types.STRING())
        .uid("minutes")
    )


def files(folder):
    return (
        FileSink.for_row_format(str(folder), Encoder.simple_string_encoder())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".csv").build())
        .build()
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--input", type=Path, required=True, help="the folder to watch")
    parser.add_argument("--output", type=Path, help="a folder; without it, lines are printed")
    parser.add_argument("--checkpoints", type=Path, help="a folder")
    parser.add_argument("--restore", help="the checkpoint to resume from")
    options = parser.parse_args()
    if options.output is not None and options.checkpoints is None:
        parser.error("files are finished with checkpoints: --output needs --checkpoints")
    env = environment(options.checkpoints, options.restore)
    counts = count_by_minute(env, options.input)
    if options.output is None:
        counts.print()
    else:
        counts.sink_to(files(options.output)).uid("files")
    env.execute("requests by minute")


if __name__ == "__main__":
    main()
