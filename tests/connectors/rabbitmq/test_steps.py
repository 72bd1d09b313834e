"""Each message of a queue counts once, at whichever step a process fails; no broker."""

from __future__ import annotations

import contextlib
from collections import Counter
from functools import partial

import pytest

from pyflink_on_spark._connectors import rabbitmq as module
from pyflink_on_spark._connectors.rabbitmq import QueueSource, RMQConnection, RMQSourceConfig
from pyflink_on_spark.common import SimpleStringSchema, Types
from tests.connectors.rabbitmq.simulated_broker import Broker
from tests.job.crash_points import chosen, run, undisturbed
from tests.job.simulated_world import KEYS, World

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class QueueWorld(World):
    """One whose jobs read a queue, whose messages come to any subtask, in any order."""

    def __init__(self, folder, **options):
        super().__init__(folder, **options)
        texts = [str(number) for number in range(self.elements)]
        self.broker = Broker(texts, self._process, lambda: self.chance.randint(0, 4))

    @contextlib.contextmanager
    def running(self):
        original, module.RabbitMqClient = module.RabbitMqClient, self.broker.connect
        try:
            with super().running():
                yield self
        finally:
            module.RabbitMqClient = original

    def _process(self):
        return partial(self.hosts.is_dead, self.host)

    def read(self, env):
        config = RMQSourceConfig(RMQConnection(host="h"), "queue", True, SimpleStringSchema())
        texts = env._from_runtime_source(QueueSource(config), "queue", None).uid("queue")
        return texts.map(int, Types.LONG())

    def over(self, driver):
        return not self.broker.left and len(self.lines()) == self.elements

    def _check(self, lines, complete):
        found = [tuple(map(int, line.split(","))) for line in lines]
        numbers = Counter(number for _, number, _ in found)
        counts = Counter((key, count) for key, _, count in found)
        assert max(numbers.values(), default=0) <= 1, f"there twice: {numbers}\n{self}"
        assert max(counts.values(), default=0) <= 1, f"counted twice: {counts}\n{self}"
        assert all(number % KEYS == key for key, number, _ in found)
        if complete:
            assert sorted(numbers) == list(range(self.elements)), f"lost\n{self}"
            last = [self.elements // KEYS] * KEYS
            assert [max(c for k, c in counts if k == key) for key in range(KEYS)] == last


def test_a_world_to_which_nothing_happens(tmp_path):
    world = QueueWorld(tmp_path)
    with world.running():
        undisturbed(world)
    world.check(complete=True)
    assert world.broker.left == []


@pytest.mark.parametrize("cell", chosen("rabbitmq"), ids=str)
def test_a_step(tmp_path, cell):
    world = run(cell, partial(QueueWorld, tmp_path))
    assert world.broker.left == [] or cell.step.startswith("early end")
