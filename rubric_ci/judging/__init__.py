"""What the judge is asked, what it may answer, and how it is asked again; pure."""
