"""CSV, a line a row."""
