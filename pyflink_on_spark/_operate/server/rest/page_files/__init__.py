"""The files of the page, as package data."""

from __future__ import annotations
