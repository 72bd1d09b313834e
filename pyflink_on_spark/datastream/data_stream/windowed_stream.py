"""Streams that are cut into windows."""

from __future__ import annotations


class WindowedStream:
    def __init__(self, keyed_stream, window_assigner):
        raise NotImplementedError


class AllWindowedStream:
    def __init__(self, data_stream, window_assigner):
        raise NotImplementedError
