"""Queries over an auction: the Nexmark benchmark."""
