"""Input formats for ``StreamExecutionEnvironment.create_input``."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.utils import JavaObjectWrapper

__all__ = ["InputFormat"]


class InputFormat(JavaObjectWrapper):
    """A way to read files into a stream; made by the formats' own functions.

    Args:
        j_input_format: this package's description of the format.
    """

    def __init__(self, j_input_format: object) -> None:
        super().__init__(j_input_format)


__getattr__ = missing_name(__name__)
