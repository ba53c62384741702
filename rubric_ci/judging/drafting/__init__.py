"""What a model is asked that drafts rubrics, and what it may answer; pure."""
