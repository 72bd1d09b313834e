"""Keyed state that may be larger than memory: in a database on disk, with the recent in memory."""
