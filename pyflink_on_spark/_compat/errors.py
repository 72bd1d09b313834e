"""The errors of this package: one root; subclasses also are the built-in that a user expects."""

from __future__ import annotations


class PyFlinkOnSparkError(Exception):
    """Root of every error that this package raises on its own account."""


class UnsupportedFlinkFeature(PyFlinkOnSparkError, NotImplementedError):
    """A PyFlink call that cannot be carried out on Spark; its text names the way out."""


class JobExecutionError(PyFlinkOnSparkError, RuntimeError):
    """A job failed: the user's own traceback, the operator and record, Spark's text last.

    ``spark_error`` is what Spark raised, with all that it says; None if it was not Spark's.
    """

    spark_error: BaseException | None = None


class JobCancelledError(PyFlinkOnSparkError, RuntimeError):
    """The result of a job was asked for, but the job was cancelled."""


class JobTranslationError(PyFlinkOnSparkError, ValueError):
    """A job graph that cannot be run as it was described."""


class EnvironmentSetupError(PyFlinkOnSparkError, RuntimeError):
    """Something outside the script is missing: Java, a Spark session, a free port, a folder."""


class CheckpointError(PyFlinkOnSparkError, RuntimeError):
    """A checkpoint or savepoint could not be written, or cannot be restored."""
