"""Keeps a log's malformed lines, in a side output with the reason for each.

    python examples/generate_access_log.py /tmp/access.log
    python -m pyflink_on_spark examples/side_output.py --input /tmp/access.log [--output FOLDER]

Writes the well-formed lines to FOLDER/requests and `reason: line` to FOLDER/malformed, or prints
them under these names without --output.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, FileSource, StreamFormat

MALFORMED = OutputTag("malformed", Types.STRING())


class CheckLine(ProcessFunction):
    """Lets a line pass that has a time, a request and a status, and sends others to the side."""

    def process_element(self, value, ctx):
        reason = self.what_is_wrong(value)
        if reason is None:
            yield value
        else:
            yield MALFORMED, f"{reason}: {value}"

    @staticmethod
    def what_is_wrong(line):
        if not line.strip():
            return "empty"
        if "[" not in line or "]" not in line:
            return "no time"
        quoted = line.split('"')
        if len(quoted) < 3 or len(quoted[1].split()) != 3:
            return "no request"
        status = quoted[2].split()[:1]
        if not status or not status[0].isdigit():
            return "no status"
        return None


def check(input_path, output_path=None):
    env = StreamExecutionEnvironment.get_execution_environment()
    log = FileSource.for_record_stream_format(StreamFormat.text_line_format(), input_path).build()
    requests = env.from_source(log, WatermarkStrategy.no_watermarks(), "access log").process(
        CheckLine(), Types.STRING()
    )
    malformed = requests.get_side_output(MALFORMED)
    for name, lines in (("requests", requests), ("malformed", malformed)):
        if output_path is None:
            lines.print(name)
        else:
            sink = FileSink.for_row_format(
                f"{output_path}/{name}", Encoder.simple_string_encoder()
            ).build()
            lines.sink_to(sink).name(name)
    env.execute("side output")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sorts a log's malformed lines out.")
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    check(
        str(arguments.input.resolve()),
        str(arguments.output.resolve()) if arguments.output else None,
    )
