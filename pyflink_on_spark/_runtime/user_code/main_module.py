"""Classes of the user's script, in processes where another program is ``__main__``.

Pickles name a class by its module. Elements of the script's own classes name ``__main__``, which in
a worker is something else: there, the script's classes are put beside what is in it.
"""

from __future__ import annotations

import sys
from typing import Any

import cloudpickle


def capture_classes() -> dict[str, bytes]:
    """Return the classes that the running script defines at its top level, pickled by value."""
    found: dict[str, bytes] = {}
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if isinstance(value, type) and value.__module__ == "__main__":
            try:
                found[name] = cloudpickle.dumps(value, protocol=5)
            except Exception:  # noqa: BLE001 - it only counts if an element is of that class
                continue
    return found


def install_classes(captured: dict[str, bytes]) -> None:
    """Make the classes of a script known to this process.

    Args:
        captured: what ``capture_classes`` returned in the process of the script.
    """
    main: Any = sys.modules["__main__"]
    for name, pickled in captured.items():
        setattr(main, name, cloudpickle.loads(pickled))
