"""Writes staged files in one subtask."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.staged_rows.staged_file import (
    StagedFile,
    file_name,
    make_durable,
)
from pyflink_on_spark._runtime.contract.connector import SinkWriter
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE

if TYPE_CHECKING:
    pass


class StagedWriter(SinkWriter):
    """Writes a file for each checkpoint.

    Args:
        folder: the folder of the run.
        type_info: the type of the stream.
        attempt: the attempt of the job.
        stays: whether the folder outlives the process.
    """

    def __init__(self, folder: str, type_info: Any, attempt: int, stays: bool) -> None:
        from pyflink_on_spark._connectors.staged_rows.arrow_types import (
            arrow_schema,
            is_composite,
            to_arrow,
        )

        self._folder, self._attempt, self._stays = Path(folder), attempt, stays
        self._schema = arrow_schema(type_info)
        self._convert = to_arrow(type_info)
        self._single = self._schema.names == ["value"] and not is_composite(type_info)
        self._file: Path | None = None
        self._open: Any = None
        self._ended: list[StagedFile] = []

    def write(self, elements: Iterator[Any]) -> None:
        import pyarrow as pa

        convert = self._convert
        while values := list(islice(elements, BUNDLE_SIZE)):
            converted = [convert(value) for value in values]
            if self._single:
                batch = pa.RecordBatch.from_pydict({"value": converted}, self._schema)
            else:
                batch = pa.RecordBatch.from_pylist(converted, self._schema)
            self._writer().write_batch(batch)

    def prepare_commit(self) -> list[Any]:
        """Close the file; a checkpoint that follows gives it its number."""
        if self._file is None:
            return []
        self._open.close()
        staged = StagedFile(str(self._file))
        self._file = self._open = None
        self._ended.append(staged)
        return [staged]

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        prepared = self.prepare_commit()
        for file in self._ended:
            file.number = checkpoint_id
            if self._stays:
                make_durable(Path(file.path))
        self._ended.clear()
        return prepared

    def close(self) -> None:
        if self._file is not None:
            self._open.close()
            self._file.unlink(missing_ok=True)
            self._file = None

    def _writer(self) -> Any:
        from pyarrow import parquet

        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._folder / file_name(self._attempt, uuid.uuid4().hex)
            self._open = parquet.ParquetWriter(self._file, self._schema)
        return self._open
