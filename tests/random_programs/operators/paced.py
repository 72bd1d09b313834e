"""Sources held back before each element, so that a watermark comes between any two."""

from __future__ import annotations

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.shapes import FLOAT, INT, STR, tuple_of
from tests.random_programs.values import literal

SETTINGS = {
    "pipeline.auto-watermark-interval": "20 ms",
    "python.fn-execution.bundle.size": "1",
    "pyflink-on-spark.watermark-interval-elements": "1",
}
"""Ask for watermarks often, and let nothing hold elements back."""


def events(draft: Draft) -> Stream:
    """Tuples of a key, a time that may be late, and numbers; not in parallel."""
    rng = draft.rng
    shape = tuple_of(rng.choice([STR, INT]), INT, INT, *rng.choice([(), (FLOAT,)]))
    keys = [literal(rng, shape.parts[0], 0.0) for _ in range(rng.randint(1, 2))]
    now, elements = 0, []
    for _ in range(rng.randint(3, 6)):
        now += rng.choice([1, 3, 8, 15])
        time = max(0, now - rng.choice([0, 0, 0, 5, 20]))
        rest = [literal(rng, part) for part in shape.parts[3:]]
        fields = [rng.choice(keys), str(time), str(rng.randint(-3, 9)), *rest]
        elements.append(f"({', '.join(fields)})")
    source = draft.call("env", "from_collection", f"[{', '.join(elements)}]")
    held = draft.call(source, "map", "paced")
    held = draft.call(held, "rebalance")
    assigner = draft.define(
        "TimestampAssigner", extract_timestamp=("value, record_timestamp", ["return value[1]"])
    )
    strategy = "WatermarkStrategy.for_bounded_out_of_orderness("
    strategy += f"Duration.of_millis({rng.choice([0, 0, 2, 10])}))"
    strategy += f".with_timestamp_assigner({assigner}())"
    name = draft.call(held, "assign_timestamps_and_watermarks", strategy)
    return draft.add(Stream(name, shape, timed=True, paced=True))
