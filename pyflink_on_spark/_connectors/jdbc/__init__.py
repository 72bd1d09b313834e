"""Tables of databases as sinks, with the drivers of Python's DB-API."""
