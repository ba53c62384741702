"""The LLM judge: prompt, reply schema, reply parser, votes and prompt-injection scan."""
