"""Which changes there are, and who has to know rows before updates."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._sql.errors import QuerySettings, TableError
from pyflink_on_spark._sql.plan.expressions import Constant
from pyflink_on_spark._sql.plan.nodes import ChangeKinds, Schema
from pyflink_on_spark._sql.planner.calc import Calc
from pyflink_on_spark._sql.planner.physical import PhysicalNode
from pyflink_on_spark._sql.planner.physical_planner import infer_changes
from pyflink_on_spark._sql.planner.tables import ExternalSink
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark.util.exceptions import TableException

COLUMNS = Schema(("a",), (logical.INT,))
TRUE = Constant(logical.BOOLEAN, True)


class Source(PhysicalNode):
    name = "Source"

    def __init__(self, changes, gives_before=True):
        super().__init__(COLUMNS)
        self._made, self._gives_before = changes, gives_before

    def produces(self, inputs):
        return self._made

    def can_emit_update_before(self):
        return self._gives_before

    def translate(self, inputs, builder):
        raise NotImplementedError


def sink(source, taken, before=True):
    return ExternalSink(source, "s", taken, before)


def infer(root):
    infer_changes([root], QuerySettings())


def test_inserts_stay_inserts():
    source = Source(ChangeKinds.INSERT)
    calc = Calc(COLUMNS, source, TRUE, None)
    infer(sink(calc, ChangeKinds.INSERT))
    assert not calc.changelog
    assert not source.emits_update_before


def test_a_sink_refuses_what_it_does_not_take():
    source = Source(ChangeKinds.ALL)
    with pytest.raises(
        TableException,
        match=r"Table sink 's' doesn't support consuming update and delete changes which is "
        r"produced by node Source\(\)",
    ) as caught:
        infer(sink(Calc(COLUMNS, source, TRUE, None), ChangeKinds.INSERT))
    assert isinstance(caught.value, TableError)


def test_rows_before_updates_are_made_only_where_they_are_needed():
    source = Source(ChangeKinds.INSERT | ChangeKinds.UPDATE)
    infer(sink(source, ChangeKinds.ALL, before=False))
    assert not source.emits_update_before
    infer(sink(source, ChangeKinds.ALL, before=True))
    assert source.emits_update_before


def test_a_filter_over_updates_needs_rows_before_them():
    source = Source(ChangeKinds.INSERT | ChangeKinds.UPDATE)
    infer(sink(Calc(COLUMNS, source, TRUE, None), ChangeKinds.ALL, before=False))
    assert source.emits_update_before


def test_what_cannot_give_rows_before_updates_is_refused():
    source = Source(ChangeKinds.ALL, gives_before=False)
    with pytest.raises(UnsupportedFlinkFeature, match="do not say what a row was before"):
        infer(sink(source, ChangeKinds.ALL, before=True))
