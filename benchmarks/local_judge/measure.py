"""Calibrate a real small judge on forty labelled answers, and ask the gate whether it may judge.

    make local-model && .venv/bin/python benchmarks/local_judge/measure.py

The cases and labels next to this file were written for it and are in the public domain (CC0).
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PYTHON = ROOT / ".tools/local-model/bin/python"
SERVER = ROOT / "tests/local_model/server.py"
CONFIG = {
    "judge": {"model": "openai/smollm2", "max_tokens": 300, "timeout_seconds": 300},
    "targets": [{"name": "default", "provider": "mock", "response": "It is Paris."}],
    "gate": {"min_kappa": 0.6},
}


def main() -> None:
    """Print the agreement of the judge with the labels, and the exit code of the gate."""
    command = [str(PYTHON), str(SERVER)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server,
    ):
        assert server.stdout
        _measure(Path(folder), server.stdout.readline().strip())
        server.kill()


def _measure(folder: Path, url: str) -> None:
    for name in ("answers.eval.yaml", "labels.jsonl"):
        shutil.copy(HERE / name, folder)
    config = CONFIG | {"judge": {**CONFIG["judge"], "api_base": url}}
    (folder / "rubric-ci.yaml").write_text(json.dumps(config), encoding="utf-8")
    _show(folder, "judge", "calibrate", "labels.jsonl")
    _show(folder, "run", "answers.eval.yaml")


def _show(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rubric_ci", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stdout.write(f"$ rubric-ci {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    sys.stdout.write(f"exit code {done.returncode}\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
