"""Write the results of the real tools to `tests/parts/bring/results`; `make peers` checks them."""

import tempfile
from pathlib import Path
from typing import Final

from tests.peers.model import model_server
from tests.peers.tools import results, stored

RESULTS: Final = Path(__file__).parents[1] / "parts/bring/results"
FILES: Final = {
    "promptfoo": "promptfoo.json",
    "inspect": "inspect.json",
    "deepeval": "deepeval.json",
    "pydantic-evals": "pydantic-evals.json",
    "junit": "junit.xml",
}


def record() -> None:
    """Run every tool, and write what it says."""
    RESULTS.mkdir(exist_ok=True)
    with model_server() as server:
        for tool, name in FILES.items():
            with tempfile.TemporaryDirectory() as folder:
                text = stored(tool, results(tool, Path(folder).resolve(), server.url))
                text = text.replace(folder, ".").replace(server.url, "http://model")
            (RESULTS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record()
