"""Texts to data, and where in the text each value stands; pure."""
