"""File formats and message formats: what reads and writes them."""
