"""Predefined predicates that select the outcomes to retry."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name


def empty_result_predicate(result: list):
    """True for an empty result, or None."""
    return result is None or len(result) == 0


def has_exception_predicate(error):
    """True for an exception."""
    return error is not None


def exception_type_predicate(error, expected_error_type):
    """True for an exception of a certain type.

    Args:
        error: the exception.
        expected_error_type: a class, or a tuple of classes.
    """
    return isinstance(error, expected_error_type)


__getattr__ = missing_name(__name__)
