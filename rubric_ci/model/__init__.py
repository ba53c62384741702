"""Frozen values and the arithmetic on them; standard library only."""
