"""JSON, an object a row."""
