"""Records what real PyFlink prints: `python -m tests.tools.pyflink_examples PYTHON [NAME ...]`.

PYTHON is the interpreter of an environment that has apache-flink, and a name is a part of the name
of an example; without names all are recorded.
"""

from __future__ import annotations

import sys

from tests.tools.pyflink_examples.examples import STREAMS, TABLES
from tests.tools.pyflink_examples.running import record

if __name__ == "__main__":
    python, *names = sys.argv[1:]
    record(
        python,
        [
            example
            for example in STREAMS + TABLES
            if not names or any(name in example.name for name in names)
        ],
    )
