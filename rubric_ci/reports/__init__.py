"""Build, merge and compare run reports, and render each format."""
