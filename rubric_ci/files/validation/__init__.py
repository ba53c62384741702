"""Check eval files, targets files and configuration; report diagnostics."""
