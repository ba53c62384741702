"""Criteria that may be missed until a date: the file, its matches, the report."""
