"""Draft rubrics for cases that have none, and publish the drafts."""
