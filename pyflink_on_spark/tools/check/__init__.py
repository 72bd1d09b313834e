"""``check``: what a script uses of PyFlink, and what of it works on Spark. Nothing is run."""

from __future__ import annotations
