"""A source of elements that a function makes of numbers."""
