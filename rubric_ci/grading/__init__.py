"""Grade cases: answers, evaluators, concurrency limits and trials."""
