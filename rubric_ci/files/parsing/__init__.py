"""Validated data becomes typed values; aliases and short forms are normalised."""
