"""Tests, intervals and power on numbers alone."""
