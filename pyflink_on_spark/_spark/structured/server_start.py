"""Code that a Spark Connect server can unpickle without this package.

Spark gives the Python processes that it starts beside its own driver, for each query, none of the
files of a session. What they get is defined inside functions, since such code travels by value.
"""

from __future__ import annotations

import glob
import os
import pickle
import sys
from collections.abc import Callable, Iterator

from pyspark import SparkFiles
from pyspark.sql.streaming.stateful_processor import StatefulProcessor


def starting_function(package: str, function: bytes) -> Callable[[object, int], None]:
    """Return a function for ``foreachBatch`` that calls a pickled one.

    Args:
        package: where this package is on the server.
        function: the pickled one.
    """
    loaded: list[Callable[[object, int], None]] = []

    def start(frame: object, batch: int) -> None:
        if not loaded:
            if package not in sys.path:
                sys.path.insert(0, package)
            loaded.append(pickle.loads(function))
        loaded[0](frame, batch)

    return start


def starting_processor(package: str, processor: bytes) -> StatefulProcessor:
    """Return a processor that does what a pickled one does.

    Args:
        package: where this package is on the server; on other machines it is somewhere below
            Spark's folder for files.
        processor: the pickled one.
    """

    class Start(StatefulProcessor):
        def init(self, handle: object) -> None:
            places = [package]
            if not os.path.exists(package):
                above = glob.escape(SparkFiles.getRootDirectory())
                places = glob.glob(os.path.join(above, "*", os.path.basename(package)))
            if places and places[0] not in sys.path:
                sys.path.insert(0, places[0])
            self._processor = pickle.loads(processor)
            self._processor.init(handle)

        def handleInputRows(  # noqa: N802 - as Spark has it
            self,
            key: object,
            rows: object,
            timerValues: object,  # noqa: N803 - as Spark has it
        ) -> Iterator[object]:
            found: Iterator[object] = self._processor.handleInputRows(key, rows, timerValues)
            return found

        def close(self) -> None:
            self._processor.close()

    return Start()
