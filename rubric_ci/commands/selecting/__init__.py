"""What `--changed-since` is made of: the cases of two states of a repository."""
