"""What queries are made of beside tables: groups, windows, columns by name."""
