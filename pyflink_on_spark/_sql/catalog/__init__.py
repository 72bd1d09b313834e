"""The tables, views, databases and catalogs of a session."""
