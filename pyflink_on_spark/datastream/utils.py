"""Conversions between Python and Java that PyFlink's own modules use."""

from __future__ import annotations

import pickle
from abc import abstractmethod

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    TypeInformation,
    Types,
    wrapped_type_of,
)
from pyflink_on_spark.datastream._java_gaps import without_java_object


class ResultTypeQueryable:
    """Something that knows the type of what it produces, such as a format."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """Return the type."""


@without_java_object("Set Hadoop's options as spark.hadoop.* of the Spark session.")
def create_hadoop_configuration(config: Configuration):
    """Make a Hadoop configuration of options."""


@without_java_object("Use config.to_dict().")
def create_java_properties(config: Configuration):
    """Make Java properties of options."""


def convert_to_python_obj(data, type_info):
    """Return the Python object of an element of a stream.

    Args:
        data: the element, pickled.
        type_info: the type of the stream.

    Raises:
        UnsupportedFlinkFeature: the stream is typed, so that its elements are Java objects.
    """
    while isinstance(type_info, ExternalTypeInfo):
        type_info = wrapped_type_of(type_info)
    return pickled_bytes_to_python_obj(data, type_info)


def pickled_bytes_to_python_obj(data, type_info):
    """Return the Python object that was pickled for a stream.

    Args:
        data: the pickled object.
        type_info: the type of the stream.

    Raises:
        UnsupportedFlinkFeature: the stream is typed, so that Flink's JVM would have pickled it.
    """
    if type_info != Types.PICKLED_BYTE_ARRAY():
        raise_unsupported(
            f"a conversion from Flink's own form of {type_info}",
            kind=Gap.NEVER,
            reason="it is made by Flink's JVM",
            instead="Use execute_and_collect(), which yields Python objects.",
        )
    return pickle.loads(data)


__getattr__ = missing_name(__name__)
