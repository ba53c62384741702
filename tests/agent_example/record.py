"""Record the judge of examples/agent again: `python -m tests.agent_example.record`.

A prompt that changed, or another trace of the agent, needs another recording. The replies are in
judge.json.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.quickstart.record import ROOT, serving

EXAMPLE = "examples/agent"
RECORDING = f"{EXAMPLE}/judge.replay.jsonl"
RUN = ("run", "--config", f"{EXAMPLE}/rubric-ci.yaml")


def main() -> None:
    """Serve the replies and run the example against them."""
    with serving(Path(__file__).with_name("judge.json")) as url:
        words = (*RUN, "--concurrency", "1", "--record", RECORDING)
        environment = {
            **os.environ,
            "OPENAI_API_KEY": "-",
            "OPENAI_API_BASE": url,
            "RUBRIC_CI_CACHE": "false",
        }
        line = [sys.executable, "-m", "rubric_ci", *words]
        subprocess.run(line, cwd=ROOT, env=environment, timeout=120, check=True)


if __name__ == "__main__":
    main()
