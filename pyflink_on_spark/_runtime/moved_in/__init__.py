"""State in PyFlink's format: bytes, until the owner of the state interprets them."""
