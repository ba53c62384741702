"""Pure text functions: escaping, numbers, globs, suggestions."""
