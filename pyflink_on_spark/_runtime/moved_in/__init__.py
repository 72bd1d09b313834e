"""State that PyFlink has written: bytes, until whoever owns the state says what they mean."""
