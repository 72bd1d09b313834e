"""Jobs of `jobs/` in other Python libraries for streams: numbers in, lines out.

bytewax runs with one worker; pathway computes on threads of its own. Python functions are the
job's own in both.
"""

from __future__ import annotations


def bytewax_lines(records, build):
    """Run a bytewax dataflow over the numbers 1 to ``records``; return what comes out.

    Args:
        build: takes the stream of numbers; returns the stream of lines.
    """
    import bytewax.operators as op
    from bytewax.dataflow import Dataflow
    from bytewax.testing import TestingSink, TestingSource, run_main

    lines = []
    flow = Dataflow("job")
    numbers = op.input("numbers", flow, TestingSource(range(1, records + 1), batch_size=4096))
    op.output("lines", build(numbers), TestingSink(lines))
    run_main(flow)
    return lines


def pathway_rows(records, build):
    """Run a pathway program over the numbers 1 to ``records``; return its last rows.

    Pathway emits changes of its tables for each minibatch, not for each record.

    Args:
        build: takes a table with the column ``n``; returns the table to look at.
    """
    import pathway as pw

    class Numbers(pw.io.python.ConnectorSubject):
        def run(self):
            for number in range(1, records + 1):
                self.next(n=number)

    schema = pw.schema_from_types(n=int)
    table = pw.io.python.read(Numbers(), schema=schema, autocommit_duration_ms=1000)
    rows = {}

    def note(key, row, time, is_addition):
        if is_addition:
            rows[key] = row
        elif rows.get(key) == row:
            del rows[key]

    pw.io.subscribe(build(table), on_change=note)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return list(rows.values())
