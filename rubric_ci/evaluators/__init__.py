"""Each evaluator takes a case, an answer and its spec, and gives a result."""
