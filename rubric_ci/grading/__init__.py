"""Grading of cases: tasks, answers, evaluators, concurrency limits and trials."""
