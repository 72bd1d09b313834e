"""What a TableEnvironment calls: statements of a session, and what they print."""
