"""A rolling sum for each of 1,000 keys over a stream of Rows."""

from __future__ import annotations

from benchmarks.command import main

KEYS = 1_000


def flink(env, numbers, records, typed=True):
    from pyflink.common import Row, Types

    last = records // KEYS
    kind = Types.ROW_NAMED(["key", "count", "total"], [Types.LONG()] * 3) if typed else None

    def entry(number):
        return Row(key=number % KEYS, count=1, total=number)

    def add(total, row):
        return Row(key=row.key, count=total.count + 1, total=total.total + row.total)

    return (
        numbers.map(entry, kind)
        .key_by(lambda row: row.key, Types.LONG())
        .reduce(add)
        .filter(lambda row: row.count == last)
        .map(lambda row: f"{row.key} {row.total}", Types.STRING())
    )


def loop(records):
    """The same functions with the same class of rows."""
    from pyflink_on_spark.common import Row

    totals, last = {}, records // KEYS

    def entry(number):
        return Row(key=number % KEYS, count=1, total=number)

    def add(total, row):
        return Row(key=row.key, count=total.count + 1, total=total.total + row.total)

    for number in range(1, records + 1):
        row = entry(number)
        key = row.key
        total = totals.get(key)
        total = totals[key] = row if total is None else add(total, row)
        if total.count == last:
            yield f"{total.key} {total.total}"


class _Row:
    """As much of a Row as a loop by hand needs."""

    __slots__ = ("count", "key", "total")

    def __init__(self, key, count, total):
        self.key, self.count, self.total = key, count, total


def inlined(records):
    totals, last = {}, records // KEYS
    for number in range(1, records + 1):
        row = _Row(number % KEYS, 1, number)
        total = totals.get(row.key)
        if total is not None:
            row = _Row(row.key, total.count + 1, total.total + row.total)
        totals[row.key] = row
        if row.count == last:
            yield f"{row.key} {row.total}"


if __name__ == "__main__":
    main(flink=flink, loop=loop, inlined=inlined)
