"""The table of made-up rows."""
