"""Part files in folders that elements name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._connectors.files.bucket_naming import ElementBuckets
from pyflink_on_spark._runtime.user_code import PlainFunction, UserFunction
from pyflink_on_spark.datastream.connectors.file_system import BucketAssigner


def bucket_assigner(bucket_of: Callable[[Any], str]) -> BucketAssigner:
    """Make a bucket assigner, for ``with_bucket_assigner`` of a FileSink or StreamingFileSink.

    Args:
        bucket_of: gets an element, returns the folder for it: a path below the sink's own, with
            slashes for sub-folders, or an empty text. Each subtask has a file open in each bucket,
            so they should not be many.

    Raises:
        TypeError: it cannot be called or pickled.
    """
    if not callable(bucket_of):
        raise TypeError(f"bucket_assigner needs a function of an element, not {bucket_of!r}")
    return BucketAssigner(ElementBuckets(UserFunction.of(PlainFunction("bucket_of", bucket_of))))
