"""Record the judge of examples/agentv again: `python -m tests.agentv_example.record`.

A prompt that changed needs another recording. The replies are in judge.json.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.quickstart.record import ROOT, serving

EXAMPLE = "examples/agentv"
RECORDING = f"{EXAMPLE}/judge.replay.jsonl"
RUN = ("run", f"{EXAMPLE}/evals", "--target", "kept")


def main() -> None:
    """Serve the replies and run the example against them."""
    with serving(Path(__file__).with_name("judge.json")) as url:
        record(url)


def record(url: str) -> None:
    """Run the example one case at a time, so that the same replies make the same file."""
    line = [sys.executable, "-m", "rubric_ci", *RUN, "--concurrency", "1", "--record", RECORDING]
    environment = {**os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    subprocess.run(line, cwd=ROOT, env=environment, timeout=120, check=True)


if __name__ == "__main__":
    main()
