"""What leaves for GitHub: comment, check run, issue, outputs, summary."""
