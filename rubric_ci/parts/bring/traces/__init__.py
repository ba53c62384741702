"""Traces of other tools, read as cases."""
