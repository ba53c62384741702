"""What `rubric-ci generate` is made of: what to draft, and what becomes of the drafts."""
