"""SQL statements for the elements of a stream, over the drivers of Python's DB-API."""
