"""Numbers and names with a meaning of their own."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name

MAX_LONG_VALUE = 2**63 - 1
"""The largest timestamp, and the watermark at the end of a bounded input."""

MIN_LONG_VALUE = -(2**63)
"""The timestamp of an element without one, and the watermark before the first one."""

DEFAULT_OUTPUT_TAG = ""
"""The tag of the main output."""

__getattr__ = missing_name(__name__)
