"""A driver that is killed, or fails, at any step hands each row over to Spark once."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from pyflink_on_spark._connectors.staged_rows.sink import StagedSink, StagingPlace
from pyflink_on_spark.common import Row
from tests.job.simulated_world import LINE, World
from tests.job.test_steps import CASES, OUTLIVING, fail_step, kill_driver

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


ROWS_IN_FILES = "state: the frames of committables are stored"
"""A step of sinks whose rows are in the checkpoint; these rows are in the staging folder."""


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


@pytest.mark.parametrize("name", [n for n in OUTLIVING if n != ROWS_IN_FILES])
def test_a_driver_that_is_killed(tmp_path, name):
    kill_driver(FramesWorld(tmp_path, settings=CASES[name][1]), name, 1)


@pytest.mark.parametrize(
    "name", [n for n in CASES if n != ROWS_IN_FILES and not n.startswith("early end")]
)
def test_a_step_that_fails(tmp_path, name):
    fail_step(FramesWorld(tmp_path, settings=CASES[name][1]), name)
