"""The registry of options: every key that this package knows, declared exactly once.

Each module holds the options of one family. An option has a key, a type, a default, the former keys
that are still read, and its effect on Spark. To add one, declare it in the module of its family and
regenerate ``docs/reference/options.md`` with ``python docs/generate_options.py``.
"""
