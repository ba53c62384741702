"""One module per command: open, decide, write."""
