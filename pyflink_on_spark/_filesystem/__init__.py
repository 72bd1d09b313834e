"""Files on this machine, or on a file system that fsspec reaches."""
