"""A run compared with a commit, a report or a pinned reference."""
