"""What becomes of a keyed stream's elements in windows: which fire, when, and with what."""
