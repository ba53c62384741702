"""Data to everything that is wrong with it; pure."""
