"""One model call through litellm, with our own retries; effects."""
