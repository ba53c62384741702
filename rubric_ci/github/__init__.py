"""GitHub: the event, the REST API, comments, checks, issues and commits."""
