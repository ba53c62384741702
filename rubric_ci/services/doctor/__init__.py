"""Checks of a setup: each says ok, or what to do; no prompt is sent."""
