"""Map, filter, map over numbers: no key, no state, no shuffle."""

from __future__ import annotations

from benchmarks.command import main
from benchmarks.peers import bytewax_lines

MODULUS = 1_000_003


def pair(number):
    return number, number * 7919 % MODULUS


def is_even(item):
    return item[1] % 2 == 0


def mix(item):
    return item[0] ^ item[1]


def is_rare(value):
    return value % 1_000 == 0


def flink(env, numbers, records, typed=False):
    from pyflink.common import Types

    of_pairs, of_numbers = None, None
    if typed:
        of_pairs, of_numbers = Types.TUPLE([Types.LONG(), Types.LONG()]), Types.LONG()
    mixed = numbers.map(pair, of_pairs).filter(is_even).map(mix, of_numbers)
    return mixed.filter(is_rare).map(str, Types.STRING())


def spark(session, records):
    import pyarrow

    def chain(batches):
        for batch in batches:
            values = map(mix, filter(is_even, map(pair, batch.column(0).to_pylist())))
            rare = pyarrow.array(
                [str(value) for value in filter(is_rare, values)], pyarrow.string()
            )
            yield pyarrow.RecordBatch.from_arrays([rare], ["line"])

    numbers = session.range(1, records + 1)
    return [row.line for row in numbers.mapInArrow(chain, "line string").collect()]


def bytewax(records):
    import bytewax.operators as op

    def build(numbers):
        even = op.filter("even", op.map("pair", numbers, pair), is_even)
        return op.map("line", op.filter("rare", op.map("mix", even, mix), is_rare), str)

    return bytewax_lines(records, build)


def loop(records):
    for number in range(1, records + 1):
        item = pair(number)
        if is_even(item):
            value = mix(item)
            if is_rare(value):
                yield str(value)


def inlined(records):
    for number in range(1, records + 1):
        second = number * 7919 % MODULUS
        if second % 2 == 0:
            value = number ^ second
            if value % 1_000 == 0:
                yield str(value)


if __name__ == "__main__":
    main(flink=flink, spark=spark, bytewax=bytewax, loop=loop, inlined=inlined)
