"""``check``: the names of PyFlink that a script uses, and which of them work. Nothing is run."""

from __future__ import annotations
