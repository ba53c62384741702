"""Render diagnostics, one format per module."""
