"""Record the judge of examples/screenshots again: `python -m tests.screenshots_example.record`.

A prompt or a picture that changed asks for another recording. The replies are ours.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.answer_judge import AnswerJudge, judging

ROOT = Path(__file__).parents[2]
EXAMPLE = "examples/screenshots"
MARKS = {
    "tallest": {
        "evidence": "The blue bar, on the right, is the tallest",
        "reasoning": "The blue bar is the tallest of the three in the picture.",
        "satisfied": True,
    },
    "covers": {
        "evidence": "the page looks fine",
        "reasoning": "In the picture the red button covers the form; the answer sees no problem.",
        "satisfied": False,
    },
}


class Written(AnswerJudge):
    """A judge with written replies, which is to be shown one picture."""

    def reply(self, request: dict[str, Any]) -> str:
        content = request["messages"][1]["content"]
        assert [part["type"] for part in content] == ["text", "image_url", "text"]
        criteria = content[-1]["text"].partition("Criteria:")[2]
        return json.dumps({"c1": next(MARKS[word] for word in MARKS if word in criteria)})


def main() -> None:
    """Run the example, whose gate fails, against the written replies."""
    with judging(Written()) as judge:
        words = ("run", "--config", f"{EXAMPLE}/rubric-ci.yaml", "--concurrency", "1")
        environment = {
            **os.environ,
            "OPENAI_API_KEY": "none",
            "OPENAI_API_BASE": judge.url,
            "RUBRIC_CI_CACHE": "false",
        }
        recording = ("--record", f"{EXAMPLE}/judge.replay.jsonl")
        line = [sys.executable, "-m", "rubric_ci", *words, *recording]
        done = subprocess.run(line, cwd=ROOT, env=environment, timeout=120, check=False)
        assert done.returncode == 1


if __name__ == "__main__":
    main()
