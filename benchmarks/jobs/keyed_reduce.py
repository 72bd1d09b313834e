"""A rolling sum for each of 1,000 keys: a shuffle, and state read and written for every record."""

from __future__ import annotations

import tempfile

from benchmarks.command import last_lines, main
from benchmarks.peers import bytewax_lines, pathway_rows

KEYS = 1_000


def entry(number):
    return number % KEYS, 1, number


def key(item):
    return item[0]


def add(total, item):
    return total[0], total[1] + item[1], total[2] + item[2]


def describe(item):
    return f"{item[0]} {item[2]}"


def is_last(records):
    """Make the filter that keeps one line per key: its final sum."""
    return lambda item: item[1] == records // KEYS


def flink(env, numbers, records, typed=False):
    from pyflink.common import Types

    element = Types.TUPLE([Types.LONG()] * 3) if typed else None
    return (
        numbers.map(entry, element)
        .key_by(key, Types.LONG())
        .reduce(add)
        .filter(is_last(records))
        .map(describe, Types.STRING())
    )


def spark(session, records):
    """A streaming query over files, in one micro-batch: the most favourable case for PySpark."""
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    class RollingSum(StatefulProcessor):
        def init(self, handle):
            self.state = handle.getValueState("total", "key long, count long, total long")

        def handleInputRows(self, key, rows, timer_values):  # noqa: N802 - PySpark's name
            total = tuple(self.state.get()) if self.state.exists() else None
            for row in rows:
                total = tuple(row) if total is None else add(total, row)
                yield Row(key=total[0], count=total[1], total=total[2])
            self.state.update(total)

        def close(self):
            pass

    schema = "key long, count long, total long"
    with tempfile.TemporaryDirectory() as folder:
        totals = (
            _entries(session, records, folder)
            .groupBy("key")
            .transformWithState(RollingSum(), schema, "Append", "None")
        )
        return _last_totals(totals, records, folder)


def spark_pandas(session, records):
    """The same with applyInPandasWithState: pandas adds, and no function runs for a record."""
    import pandas

    def sums(key, frames, state):
        count, total = state.get if state.exists else (0, 0)
        for frame in frames:
            totals = frame["total"].cumsum() + total
            counts = range(count + 1, count + len(frame) + 1)
            yield pandas.DataFrame({"key": key[0], "count": counts, "total": totals})
            count, total = count + len(frame), int(totals.iloc[-1])
        state.update((count, total))

    schema = "key long, count long, total long"
    with tempfile.TemporaryDirectory() as folder:
        totals = (
            _entries(session, records, folder)
            .groupBy("key")
            .applyInPandasWithState(sums, schema, "count long, total long", "append", "NoTimeout")
        )
        return _last_totals(totals, records, folder)


def _entries(session, records, folder):
    """Return a stream of the entries, which are files then."""
    entries = session.range(1, records + 1).selectExpr(
        f"id % {KEYS} AS key", "1L AS count", "id AS total"
    )
    entries.write.parquet(f"{folder}/numbers")
    return session.readStream.schema(entries.schema).parquet(f"{folder}/numbers")


def _last_totals(totals, records, folder):
    last = totals.where(f"count = {records // KEYS}")
    return last_lines(last, folder, lambda row: f"{row.key} {row.total}")


def bytewax(records):
    import bytewax.operators as op

    def rolling(total, item):
        total = item if total is None else add(total, item)
        return total, total

    def build(numbers):
        keyed = op.key_on("key", op.map("entry", numbers, entry), lambda item: str(key(item)))
        totals = op.key_rm("total", op.stateful_map("sum", keyed, rolling))
        return op.map("line", op.filter("last", totals, is_last(records)), describe)

    return bytewax_lines(records, build)


def pathway(records):
    """Sums of its own, without a Python function for each addition."""
    import pathway as pw

    def build(numbers):
        items = numbers.select(item=pw.apply_with_type(entry, tuple[int, int, int], pw.this.n))
        parts = items.select(key=pw.this.item[0], one=pw.this.item[1], number=pw.this.item[2])
        return parts.groupby(pw.this.key).reduce(
            pw.this.key, count=pw.reducers.sum(pw.this.one), total=pw.reducers.sum(pw.this.number)
        )

    rows = pathway_rows(records, build)
    return [describe((row["key"], row["count"], row["total"])) for row in rows]


def loop(records):
    totals = {}
    keeps = is_last(records)
    for number in range(1, records + 1):
        item = entry(number)
        group = key(item)
        total = totals[group] = add(totals[group], item) if group in totals else item
        if keeps(total):
            yield describe(total)


def inlined(records):
    totals = {}
    last = records // KEYS
    for number in range(1, records + 1):
        key = number % KEYS
        total = totals.get(key)
        total = (key, 1, number) if total is None else (key, total[1] + 1, total[2] + number)
        totals[key] = total
        if total[1] == last:
            yield f"{key} {total[2]}"


if __name__ == "__main__":
    main(
        flink=flink,
        spark=spark,
        spark_pandas=spark_pandas,
        bytewax=bytewax,
        pathway=pathway,
        loop=loop,
        inlined=inlined,
    )
