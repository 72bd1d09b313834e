"""Async functions."""

from __future__ import annotations

from dataclasses import replace

from tests.random_programs.draft import Draft, Stream
from tests.random_programs.expressions import condition
from tests.random_programs.operators.stateless import target
from tests.random_programs.program import ANY, Line


def awaited(draft: Draft, stream: Stream) -> Stream | None:
    """An async function, in order or not."""
    if stream.key is not None or draft.batch:
        return None
    rng = draft.rng
    shape, made, keeps = target(draft, stream.shape, "value")
    body: list[Line] = rng.choice([
        [f"return [{made}]"],
        ["await asyncio.sleep(len(str(value)) % 3 / 100)", f"return [{made}]"],
        [[f"if {condition(rng, stream.shape, 'value')}:", "return []"], f"return [{made}] * 2"],
    ])  # fmt: skip
    function = draft.define("AsyncFunction", **{"async async_invoke": ("value", body)})
    method = rng.choice(["ordered_wait", "ordered_wait", "unordered_wait"])
    typed = draft.declared(shape)
    name = draft.call(
        "AsyncDataStream", method, stream.name, f"{function}()", "Time.seconds(20)",
        str(rng.choice([1, 3, 100])), output_type=typed,
    )  # fmt: skip
    order = ANY if method == "unordered_wait" else draft.through(stream, keeps)
    return draft.add(
        replace(stream, name=name, shape=shape, typed=typed, order=order, width=draft.parallelism)
    )
