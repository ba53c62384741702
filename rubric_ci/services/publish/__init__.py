"""Texts sent to GitHub: comment, check run, issue, outputs, summary."""
