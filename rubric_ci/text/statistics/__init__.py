"""Tests and quantiles on numbers alone."""
