"""Results sent elsewhere: comment, check run, issue, outputs and summary on GitHub; spans."""
