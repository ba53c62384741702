"""Model requests: retry, rate limit, budget, cache and recordings."""
