"""The providers that are asked through litellm, and batches of requests."""
