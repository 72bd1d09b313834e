"""The errors that this package raises on its own account, for ``except`` clauses.

What a program does wrong with a plain value, a wrong argument for one, raises Python's own errors.
What goes wrong while a job runs is a ``JobExecutionError``, whatever it was; its text begins with
the traceback of the script's own function. In PyFlink that is a ``py4j.protocol.Py4JJavaError``,
which ``JobExecutionError`` is as well in a script that imports py4j.
"""

from __future__ import annotations

from pyflink_on_spark._compat.errors import (
    CheckpointError,
    EnvironmentSetupError,
    JobCancelledError,
    JobExecutionError,
    JobTranslationError,
    PyFlinkOnSparkError,
    UnsupportedFlinkFeature,
)
from pyflink_on_spark._connectors.formats.file_format import CorruptRecordError
from pyflink_on_spark._runtime.types.codec import (
    ConversionAttributeError,
    ConversionError,
    ConversionOverflowError,
    ConversionTypeError,
    ConversionValueError,
    NullValueError,
)

__all__ = [
    "PyFlinkOnSparkError",
    "JobExecutionError",
    "JobCancelledError",
    "JobTranslationError",
    "EnvironmentSetupError",
    "CheckpointError",
    "UnsupportedFlinkFeature",
    "CorruptRecordError",
    "ConversionError",
    "ConversionTypeError",
    "ConversionAttributeError",
    "ConversionOverflowError",
    "ConversionValueError",
    "NullValueError",
]
