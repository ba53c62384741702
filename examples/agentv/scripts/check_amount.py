"""A code judge: the answer must contain the amounts of the reference answer."""

import json
import re
import sys

given = json.load(sys.stdin)
currency = given["config"]["currency"]
amount = re.compile(rf"\d+\.\d\d {currency}")
expected = amount.findall(given["reference_answer"])
found = amount.findall(given["candidate_answer"])
hits = [each for each in expected if each in found]
misses = [each for each in expected if each not in found]
score = len(hits) / len(expected)
print(json.dumps({"score": score, "hits": hits, "misses": misses}))
