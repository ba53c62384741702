"""Grade cases under a concurrency window; the order of the files is kept."""
