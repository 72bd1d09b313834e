"""Copies of this process that read state on disk when a test lets them."""

from __future__ import annotations

import io
import mmap
import pickle
import time
from typing import Any

from pyflink_on_spark._runtime.checkpoints.forked_records import ForkedRecords
from pyflink_on_spark._runtime.checkpoints.state_file import (
    KEYED,
    RecordHead,
    StoredFile,
    stored_records,
)
from pyflink_on_spark._runtime.state.disk import DiskStore
from pyflink_on_spark._runtime.state.keyed_state import StateTable


class WaitingCopy:
    """A copy that reads a table only when its entries are asked for."""

    def __init__(self, table: StateTable, store: DiskStore) -> None:
        self._gate = mmap.mmap(-1, 1)
        self._copy = ForkedRecords(self._records(table), [store])

    def entries(self) -> dict[Any, dict[Any, Any]]:
        """Return the entries in the copy, by namespace."""
        self._gate[0] = 1
        stream = io.BytesIO()
        self._copy.copy_to(stream)
        content = stream.getvalue()
        records = stored_records(StoredFile("a copy", len(content), lambda: io.BytesIO(content)))
        return {
            namespace: entries
            for _, stored in records
            for namespace, entries in pickle.loads(stored.read()).items()
        }

    def kill(self) -> None:
        """Kill the copy."""
        self._copy.discard()

    def _records(self, table: StateTable):
        while not self._gate[0]:
            time.sleep(0.0005)
        for namespace in list(table.namespaces):
            entries = dict(table.namespaces[namespace].items())
            yield RecordHead(KEYED, "o", 0, 0), pickle.dumps({namespace: entries})
