"""SQL's types: their coercion, and their values outside of queries."""
