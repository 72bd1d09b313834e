"""Counts the words of a text file.

    python -m pyflink_on_spark examples/word_count.py [--input FILE] [--output FOLDER]

Writes a line `word count` for every word to part files in FOLDER, or prints them without --output.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, FileSource, StreamFormat

DEFAULT_INPUT = Path(__file__).resolve().parent / "data" / "american_documents.txt"
WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


def words(line):
    return WORD.findall(line.lower())


def count_words(input_path, output_path=None):
    env = StreamExecutionEnvironment.get_execution_environment()
    # One final count per word; STREAMING would emit every intermediate one, too.
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)

    text = FileSource.for_record_stream_format(StreamFormat.text_line_format(), input_path).build()
    counts = (
        env.from_source(text, WatermarkStrategy.no_watermarks(), "text file")
        .flat_map(words, Types.STRING())
        .map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.LONG()]))
        .key_by(lambda pair: pair[0], Types.STRING())
        .sum(1)
        .map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING())
    )
    if output_path is None:
        counts.print()
    else:
        counts.sink_to(
            FileSink.for_row_format(output_path, Encoder.simple_string_encoder()).build()
        )
    env.execute("word count")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Counts the words of a text file.")
    parser.add_argument("--input", type=Path, default=DEFAULT_INPUT)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    count_words(
        str(arguments.input.resolve()),
        str(arguments.output.resolve()) if arguments.output else None,
    )
