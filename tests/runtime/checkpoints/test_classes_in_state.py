"""State of the script's own classes: written by one process, continued by another."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = textwrap.dedent("""
    import pickle, sys
    from dataclasses import dataclass
    from pyflink_on_spark.datastream import KeyedProcessFunction
    from pyflink_on_spark.datastream.state import ValueStateDescriptor
    from pyflink_on_spark.common import Types
    from tests.runtime.rounds import CutSource, job_of

    @dataclass
    class Total:
        value: int

        def add(self, number):
            return Total(self.value + number)

    def build():
        class Count:
            def __init__(self):
                self.number = 0

        class Add(KeyedProcessFunction):
            def open(self, context):
                make = lambda name: ValueStateDescriptor(name, Types.PICKLED_BYTE_ARRAY())
                self.total = context.get_state(make("total"))
                self.count = context.get_state(make("count"))

            def process_element(self, value, ctx):
                known = self.total.value()
                assert known is None or type(known) is Total, type(known)
                total = (known or Total(0)).add(value)
                count = self.count.value() or Count()
                assert type(count) is Count, type(count)
                count.number += 1
                self.total.update(total)
                self.count.update(count)
                yield f"{value % 2} {total.value} {count.number}"

        return lambda stream: stream.key_by(lambda v: v % 2).process(Add()).uid("add")

    job = job_of(build(), CutSource(range(8), [4]))
    sys.stdout.buffer.write(pickle.dumps(pickle.dumps((job.stages, job.settings))))
""")

HOST = textwrap.dedent("""
    import pickle, sys
    plan, state, on_disk = pickle.load(sys.stdin.buffer)
    from dataclasses import replace
    from pyflink_on_spark._runtime.user_code import install_classes
    settings_first = pickle.loads(plan)[1]
    install_classes(settings_first.classes)
    stages, settings = pickle.loads(plan)
    from pyflink_on_spark._runtime.elements.time import SystemClock
    from pyflink_on_spark._runtime.elements.immutability import deserialize
    from pyflink_on_spark._runtime.state.disk import DiskSettings
    from pyflink_on_spark._runtime.state.disk import StateSettings
    from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore
    from pyflink_on_spark.testing.local_engine import LocalHosts

    collected = []
    driver = lambda channel: lambda things: collected.extend(map(deserialize, things))
    settings = replace(settings, checkpointed=True, checkpoint_elements=4)
    if on_disk:
        settings = replace(settings, state=StateSettings(DiskSettings(0)))
    restore = None if state is None else Restore(1, state)
    hosts = LocalHosts(stages, settings, SystemClock(), driver, restore=restore)
    hosts.group.open()
    while not hosts.group.paused:
        hosts.turn()
    state = hosts.snapshot(1, None)[0].state
    hosts.group.close()
    sys.stdout.buffer.write(pickle.dumps((state, collected)))
""")


def run(script, given=None):
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps(given),
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        check=True,
    )
    return pickle.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("on_disk", [False, True])
def test_classes_stay_what_they_are(on_disk):
    plan = run(SCRIPT)
    state, first = run(HOST, (plan, None, on_disk))
    _, second = run(HOST, (plan, state, on_disk))
    assert first == ["0 0 1", "1 1 1", "0 2 2", "1 4 2"]
    assert second == ["0 6 3", "1 9 3", "0 12 4", "1 16 4"]
