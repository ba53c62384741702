"""The history of runs: one compact record per run, trends and a page."""
