"""Behaviour tests that run on real PyFlink and on this engine alike."""
