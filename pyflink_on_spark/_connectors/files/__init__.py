"""Files as sources and sinks: finding, cutting, reading, writing, rolling, committing."""
