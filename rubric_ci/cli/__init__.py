"""The command line: words from outside become Settings."""
