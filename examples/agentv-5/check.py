"""A script grader as AgentV 5 calls it: JSON in, assertions out."""

import json
import sys

given = json.load(sys.stdin)
words = len(given["output"].split())
most = given["config"]["most_words"]
check = {"text": f"at most {most} words", "passed": words <= most, "evidence": f"{words} words"}
print(json.dumps({"assertions": [check]}))
