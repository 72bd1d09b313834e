"""Each row is handed over to Spark once, at whichever step a process fails."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from pyflink_on_spark._connectors.spark_rows.sink import StagedSink, StagingPlace
from pyflink_on_spark.common import Row
from tests.job.crash_points import chosen, run
from tests.job.simulated_world import LINE, World

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class FramesWorld(World):
    """One whose jobs hand rows over, to a function that knows checkpoints by their numbers."""

    def __init__(self, folder, **options):
        super().__init__(folder, **options)
        self._handed_over = {}

    def write(self, counted):
        place = StagingPlace(str(self.folder / "staging"), True)
        sink = StagedSink(lambda settings: place, self._hand_over)
        rows = counted.map(Row, LINE).uid("rows")
        rows.sink_to(SimpleNamespace(_sink=sink)).uid("frames")

    def _hand_over(self, files, checkpoint_id):
        lines = [line for file in files for line in pq.read_table(file)["line"].to_pylist()]
        assert self._handed_over.setdefault(checkpoint_id, lines) == lines

    def lines(self):
        """Return the rows that were handed over."""
        return [line for lines in self._handed_over.values() for line in lines]

    def outputs(self):
        return [self.lines()]


@pytest.mark.parametrize("cell", chosen("to_spark"), ids=str)
def test_a_step(tmp_path, cell):
    run(cell, partial(FramesWorld, tmp_path))
