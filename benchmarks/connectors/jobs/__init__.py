"""The jobs: each a script that knows several ways of doing the same."""
