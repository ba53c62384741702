"""Checked data to values: here all sugar dies; pure."""
