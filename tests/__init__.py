"""All tests but those that run on both engines."""
