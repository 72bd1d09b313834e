"""The sink that stages rows for Spark."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

HandOver = Callable[[list[str], int], None]


class StagedSink(Sink):
    """Writes Parquet files, and hands those of a checkpoint over as one.

    Args:
        folder: where to; on a cluster one that all workers and the driver reach.
        hand_over: takes the files and the checkpoint's number; 0 without checkpoints. For the
            driver only: it does not travel.
    """

    def __init__(self, folder: str, hand_over: HandOver) -> None:
        self._folder = folder
        self._hand_over: HandOver | None = hand_over
        self._type: TypeInformation | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_hand_over": None}

    def with_input_type(self, type_info: Any) -> Sink:
        """Return this sink for a stream of a type.

        Raises:
            TypeError: if a DataFrame cannot have such values.
        """
        from pyflink_on_spark._runtime.connectors.staged_rows.arrow_types import arrow_schema

        arrow_schema(type_info)
        typed = copy.copy(self)
        typed._hand_over, typed._type = self._hand_over, type_info
        return typed

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return a writer with a file of its own for each checkpoint."""
        return _StagedWriter(self._folder, self._type)

    def commit(self, committables: list[Any]) -> None:
        """Hand the files over, then remove them; those that are gone were handed over before."""
        files = [file for file, _ in committables if Path(file).exists()]
        if files:
            assert self._hand_over is not None
            self._hand_over(sorted(files), max(number for _, number in committables))
        self.abort(committables)

    def abort(self, committables: list[Any]) -> None:
        """Remove the files."""
        for file, _ in committables:
            Path(file).unlink(missing_ok=True)


class _StagedWriter(SinkWriter):
    def __init__(self, folder: str, type_info: Any) -> None:
        from pyflink_on_spark._runtime.connectors.staged_rows.arrow_types import (
            arrow_schema,
            is_composite,
            to_arrow,
        )

        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._schema = arrow_schema(type_info)
        self._convert = to_arrow(type_info)
        self._single = self._schema.names == ["value"] and not is_composite(type_info)
        self._file: Path | None = None
        self._open: Any = None
        self._number = 0

    def write(self, elements: Iterator[Any]) -> None:
        """Append rows to the file."""
        import pyarrow as pa

        while values := list(islice(elements, BUNDLE_SIZE)):
            converted = list(map(self._convert, values))
            if self._single:
                batch = pa.RecordBatch.from_pydict({"value": converted}, self._schema)
            else:
                batch = pa.RecordBatch.from_pylist(converted, self._schema)
            self._writer().write_batch(batch)

    def prepare_commit(self) -> list[Any]:
        """End the file."""
        if self._file is None:
            return []
        self._open.close()
        file, self._file, self._open = self._file, None, None
        return [(str(file), self._number)]

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        """End the file, for a checkpoint."""
        self._number = checkpoint_id
        return self.prepare_commit()

    def close(self) -> None:
        """Give up what is not prepared."""
        if self._file is not None:
            self._open.close()
            self._file.unlink(missing_ok=True)
            self._file = None

    def _writer(self) -> Any:
        from pyarrow import parquet

        if self._file is None:
            self._file = self._folder / f"{uuid.uuid4().hex}.parquet"
            self._open = parquet.ParquetWriter(self._file, self._schema)
        return self._open
