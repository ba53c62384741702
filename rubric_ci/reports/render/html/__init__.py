"""A report as one self-contained HTML page that is readable with and without its script."""
