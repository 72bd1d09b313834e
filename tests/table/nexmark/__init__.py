"""Nexmark's results on real PyFlink, and here."""
