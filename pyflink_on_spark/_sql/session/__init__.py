"""The session of a TableEnvironment: its statements, and the results that they print."""
