"""The history of runs: one compact record per run, trends, a page and a badge."""
