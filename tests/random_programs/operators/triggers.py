"""Triggers, those of a program's own among them."""

from __future__ import annotations

from tests.random_programs.draft import Draft
from tests.random_programs.program import Line

_RESULTS = ("CONTINUE", "FIRE", "FIRE_AND_PURGE", "PURGE")


def trigger(draft: Draft, merging: bool, paced: bool) -> tuple[str, bool]:
    """Return the source of a trigger, and whether it fires on elements."""
    rng = draft.rng
    kind = rng.random()
    if kind < 0.25 and not merging:
        return f"{_own(draft)}()", True
    made = rng.choice([
        "EventTimeTrigger.create()",
        f"CountTrigger.of({rng.randint(1, 3)})",
        f"ContinuousEventTimeTrigger.of(Time.milliseconds({rng.randint(3, 12)}))",
    ])  # fmt: skip
    on_element = "Count" in made or paced
    if rng.random() < 0.4:
        made = f"PurgingTrigger.of({made})"
    return made, on_element


def _own(draft: Draft) -> str:
    """Define a trigger that counts in its state, and fires now and then."""
    rng = draft.rng
    often = rng.randint(1, 4)
    state = "ctx.get_partitioned_state(ValueStateDescriptor('seen', Types.LONG()))"
    element: list[Line] = [
        f"seen = {state}",
        "seen.update((seen.value() or 0) + 1)",
        f"ctx.register_event_time_timer({rng.choice(['window.max_timestamp()', 'timestamp + 5'])})",
        [f"if seen.value() % {often} == 0:", f"return TriggerResult.{rng.choice(_RESULTS[1:])}"],
        "return TriggerResult.CONTINUE",
    ]
    if rng.random() < 0.3:
        element = element[2:3] + element[4:]
    timer = f"return TriggerResult.{rng.choice(_RESULTS[1:3])}"
    return draft.define(
        "Trigger",
        on_element=("element, timestamp, window, ctx", element),
        on_event_time=("time, window, ctx", [timer]),
        on_processing_time=("time, window, ctx", ["return TriggerResult.CONTINUE"]),
        on_merge=("window, ctx", ["pass"]),
        clear=("window, ctx", [f"{state}.clear()"]),
    )
