"""Reads the files of a folder, then those that come into another one.

    python -m pyflink_on_spark examples/connectors/history_then_news.py --history OLD --news NEW

Prints their lines. Runs until it is stopped.
"""

from __future__ import annotations

import argparse

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.connectors.hybrid_source import HybridSource


def lines_of(folder):
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), folder)


def print_lines(history, news):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    watched = lines_of(news).monitor_continuously(Duration.of_seconds(1)).build()
    source = HybridSource.builder(lines_of(history).build()).add_source(watched).build()
    no_watermarks = WatermarkStrategy.no_watermarks()
    env.from_source(source, no_watermarks, "history, then news", Types.STRING()).print()
    env.execute("history then news")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", required=True, help="a folder")
    parser.add_argument("--news", required=True, help="another folder")
    arguments = parser.parse_args()
    print_lines(arguments.history, arguments.news)
