"""The stacks of functions and the elements of subtasks, as another thread sees them."""

from __future__ import annotations

import threading

import pytest

from pyflink_on_spark._runtime.task.stacks import sample
from tests.runtime.rounds import CutSource, RunningJob, job_of


class Held:
    """A function that stays with an element until it is released."""

    entered, released = threading.Event(), threading.Event()

    def __call__(self, value):
        if value == "b":
            self.inside()
        return value

    def inside(self):
        Held.entered.set()
        assert Held.released.wait(20)


def test_an_element_that_is_stuck():
    job = job_of(
        lambda stream: stream.map(str.lower).name("lower").map(Held()).name("held"),
        CutSource(["A", "B"]),
    )
    running = RunningJob(job)

    def work():
        while running.round():
            continue

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert Held.entered.wait(20)
        found = sample(3, 0.0)
    finally:
        Held.released.set()
        worker.join()
    (current,) = [each for each in found.current if each.stack.operator == "held"]
    assert (current.element, current.key, current.unchanged) == ("'b'", "", True)
    assert current.stack.subtask == 0
    assert "held" in current.stack.task
    names = [frame.partition(" ")[0] for frame in current.stack.frames]
    assert names[:2] == ["Held.__call__", "Held.inside"]
    assert found.stacks[current.stack] == 3
    assert sample(1, 0.0).current == ()


def test_nothing_works():
    assert sample(2, 0.0).stacks == {}


@pytest.mark.parametrize("samples", [1, 4])
def test_samples_wait_in_between(samples):
    waited = []
    assert sample(samples, 0.5, dict, waited.append).count == samples
    assert waited == [0.5] * (samples - 1)
