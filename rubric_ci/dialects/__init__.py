"""Eval files of other tools, read in place: their data as ours, with a map of paths."""
