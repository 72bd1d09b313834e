"""Classes of a script as elements in another process."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap

from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize

SCRIPT = textwrap.dedent("""
    import pickle, sys
    from dataclasses import dataclass
    from enum import Enum
    from pyflink_on_spark._runtime.user_code import capture_classes

    class Colour(Enum):
        RED = 1

    @dataclass
    class Point:
        x: int

    class Unpicklable:
        import threading
        lock = threading.Lock()

    things = [Point(3), Colour.RED]
    sys.stdout.buffer.write(pickle.dumps((capture_classes(), pickle.dumps(things))))
""")
READER = textwrap.dedent("""
    import pickle, sys
    from pyflink_on_spark._runtime.user_code import install_classes
    captured, things = pickle.load(sys.stdin.buffer)
    install_classes(captured)
    point, colour = pickle.loads(things)
    again = pickle.loads(pickle.dumps(point))
    print(point.x, colour.name, type(again) is type(point), sorted(captured))
""")


def run(script, given=b""):
    done = subprocess.run(
        [sys.executable, "-c", script], input=given, stdout=subprocess.PIPE, check=True
    )
    return done.stdout


def test_classes_of_a_script_are_known_elsewhere():
    sent = run(SCRIPT)
    assert run(READER, sent).decode() == "3 RED True ['Colour', 'Point']\n"


def test_classes_of_a_function_travel_by_value():
    class Local:
        def __init__(self):
            self.number = 3

    sealed = serialize(Local())
    assert deserialize(sealed).number == 3
    assert serialize(1) == pickle.dumps(1, 5)
