"""Assertions: criteria that no judge is asked about; one file per family, one row per key."""
