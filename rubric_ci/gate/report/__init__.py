"""The report of a run: built, merged, checked, read and written."""
