"""Analyses a web server's access log.

    python examples/generate_access_log.py /tmp/access.log
    python -m pyflink_on_spark examples/log_analysis.py --input /tmp/access.log [--output FOLDER]

Writes into these folders below FOLDER, or prints under the same names without --output:
    by_status   status, requests, bytes
    by_path     path, requests, bytes, percentage of the requests that failed
    by_minute   start of the minute, requests, percentage of the requests that failed
    top_pages   host, its three most requested paths, each with its number of requests
Malformed lines are left out; side_output.py shows how to keep them.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from pathlib import Path

from pyflink.common import Duration, Encoder, Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    FlatMapFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from pyflink.datastream.window import TumblingEventTimeWindows

LINE = re.compile(
    r'(?P<host>\S+) \S+ \S+ \S+ \[(?P<time>[^\]]+)\] "\S+ (?P<path>\S+) [^"]*" '
    r"(?P<status>\d{3}) (?P<size>\d+|-)"
)
REQUEST = Types.ROW_NAMED(
    ["host", "time", "path", "status", "size"],
    [Types.STRING(), Types.LONG(), Types.STRING(), Types.INT(), Types.LONG()],
)
PAGES_PER_HOST = 3


class ParseLine(FlatMapFunction):
    """Turns a line of the combined log format into a row, and a malformed one into nothing."""

    def flat_map(self, value):
        match = LINE.match(value)
        if match:
            time = datetime.strptime(match["time"], "%d/%b/%Y:%H:%M:%S %z")
            size = 0 if match["size"] == "-" else int(match["size"])
            yield Row(
                host=match["host"],
                time=int(time.timestamp() * 1000),
                path=match["path"],
                status=int(match["status"]),
                size=size,
            )


class RequestTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.time


class AddUp(ReduceFunction):
    """Adds (key, requests, bytes, failures) up field by field."""

    def reduce(self, value1, value2):
        return (value1[0], *(a + b for a, b in zip(value1[1:], value2[1:], strict=True)))


class CountRequests(AggregateFunction):
    """Counts (requests, failures)."""

    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + failed(value)

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class NameTheMinute(ProcessWindowFunction):
    def process(self, key, context, elements):
        start = datetime.fromtimestamp(context.window().start / 1000, UTC)
        [(requests, failures)] = elements
        yield f"{start:%Y-%m-%d %H:%M} {requests} {percentage(failures, requests)}"


def failed(request):
    return int(request.status >= 400)


def percentage(part, whole):
    return f"{100 * part / whole:.1f}%"


def top_pages(pages, other_pages):
    """Both are (host, [(requests, path), ...]); the most requested of all are kept."""
    ranked = sorted(pages[1] + other_pages[1], key=lambda page: (-page[0], page[1]))
    return pages[0], ranked[:PAGES_PER_HOST]


def describe(requests):
    """Make the four streams of text lines, by name."""
    by_status = (
        requests.map(lambda request: (request.status, 1, request.size, failed(request)))
        .key_by(lambda total: total[0], Types.INT())
        .reduce(AddUp())
        .map(lambda total: f"{total[0]} {total[1]} {total[2]}", Types.STRING())
    )
    by_path = (
        requests.map(lambda request: (request.path, 1, request.size, failed(request)))
        .key_by(lambda total: total[0], Types.STRING())
        .reduce(AddUp())
        .map(
            lambda total: f"{total[0]} {total[1]} {total[2]} {percentage(total[3], total[1])}",
            Types.STRING(),
        )
    )
    by_minute = (
        requests.key_by(lambda request: "all hosts", Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.minutes(1)))
        .aggregate(CountRequests(), NameTheMinute(), output_type=Types.STRING())
    )
    top = (
        requests.map(lambda request: ((request.host, request.path), 1))
        .key_by(lambda page: page[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .map(lambda page: (page[0][0], [(page[1], page[0][1])]))
        .key_by(lambda pages: pages[0], Types.STRING())
        .reduce(top_pages)
        .map(
            lambda pages: " ".join([pages[0], *(f"{path}={count}" for count, path in pages[1])]),
            Types.STRING(),
        )
    )
    return {"by_status": by_status, "by_path": by_path, "by_minute": by_minute, "top_pages": top}


def analyse(input_path, output_path=None):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)

    log = FileSource.for_record_stream_format(StreamFormat.text_line_format(), input_path).build()
    in_time = WatermarkStrategy.for_bounded_out_of_orderness(
        Duration.of_seconds(10)
    ).with_timestamp_assigner(RequestTime())
    requests = (
        env.from_source(log, WatermarkStrategy.no_watermarks(), "access log")
        .flat_map(ParseLine(), REQUEST)
        .assign_timestamps_and_watermarks(in_time)
    )
    for name, lines in describe(requests).items():
        if output_path is None:
            lines.print(name)
        else:
            sink = FileSink.for_row_format(
                f"{output_path}/{name}", Encoder.simple_string_encoder()
            ).build()
            lines.sink_to(sink).name(name)
    env.execute("log analysis")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Analyses a web server's access log.")
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    analyse(
        str(arguments.input.resolve()),
        str(arguments.output.resolve()) if arguments.output else None,
    )
