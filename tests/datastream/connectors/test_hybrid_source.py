"""The arguments of hybrid sources, accepted and refused as by real PyFlink."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Duration
from pyflink_on_spark.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink_on_spark.datastream.connectors.hybrid_source import HybridSource
from pyflink_on_spark.datastream.connectors.number_seq import NumberSequenceSource


def endless(folder):
    text = StreamFormat.text_line_format()
    builder = FileSource.for_record_stream_format(text, str(folder))
    return builder.monitor_continuously(Duration.of_seconds(1)).build()


def test_only_the_last_source_may_never_end(tmp_path):
    text = StreamFormat.text_line_format()
    first = FileSource.for_record_stream_format(text, str(tmp_path)).build()
    unbounded = endless(tmp_path)
    built = HybridSource.builder(first).add_source(unbounded).build()
    assert built._source._sources == (first._source, unbounded._source)
    with pytest.raises(ValueError, match="All sources except the final source"):
        HybridSource.builder(unbounded).add_source(first)


def test_a_built_source_does_not_change():
    builder = HybridSource.builder(NumberSequenceSource(1, 2))
    built = builder.build()
    builder.add_source(NumberSequenceSource(3, 4))
    assert len(built._source._sources) == 1


def test_it_takes_sources_only():
    with pytest.raises(TypeError, match="takes Source, not list"):
        HybridSource.builder([1])


def test_the_sources_have_one_type(tmp_path):
    builder = HybridSource.builder(NumberSequenceSource(1, 2))
    with pytest.raises(ValueError, match="elements of one type, not Long and String"):
        builder.add_source(endless(tmp_path))
