"""The real tools, run on their suites in `tests/peers/suites`; `make peers` installs them."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.captured import captured

ROOT: Final = Path(__file__).parents[2] / ".tools" / "peers"
SUITES: Final = Path(__file__).parent / "suites"
PROMPTFOO: Final = ROOT / "node_modules" / ".bin" / "promptfoo"
AGENTV: Final = ROOT / "node_modules" / ".bin" / "agentv"
PYTHON: Final = ROOT / "venv" / "bin" / "python"
SECONDS: Final = 240


def environment(url: str, home: Path) -> dict[str, str]:
    """Return the environment in which a tool asks the model server and tells no one."""
    return {
        **os.environ,
        "MODEL_URL": url,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true",
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "DEEPEVAL_RESULTS_FOLDER": str(home / "deepeval"),
        "INSPECT_LOG_DIR": str(home / "logs"),
        "PATH": f"{PROMPTFOO.parent}{os.pathsep}{PYTHON.parent}{os.pathsep}{os.environ['PATH']}",
    }


def results(tool: str, folder: Path, url: str) -> str:
    """Run a tool on its suite in a folder, and return the text of its results."""
    shutil.copytree(SUITES, folder, dirs_exist_ok=True)
    variables = environment(url, folder)
    match tool:
        case "promptfoo":
            _run(folder, variables, "promptfoo", "eval", "--no-cache", "-o", "results.json")
            return (folder / "results.json").read_text()
        case "inspect":
            command = ("inspect", "eval", "inspect_suite.py", "--model", "openai/local")
            rest = ("-M", "responses_api=false", "--no-fail-on-error", "--max-retries", "0")
            _run(folder, variables, *command, *rest, "--display", "none", "--epochs", "2")
            (log,) = (folder / "logs").iterdir()
            return _run(folder, variables, "inspect", "log", "dump", str(log))
        case "deepeval":
            _run(folder, variables, "python", "deepeval_suite.py")
            return next((folder / "deepeval").glob("test_run_*.json")).read_text()
        case "pydantic-evals":
            return _run(folder, variables, "python", "pydantic_suite.py")
        case _:
            quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:deepeval", "--junitxml=results.xml")
            _run(folder, variables, "python", "-m", "pytest", "junit_suite.py", *quiet)
            return (folder / "results.xml").read_text()


def _run(folder: Path, variables: Mapping[str, str], *command: str) -> str:
    program = shutil.which(command[0], path=variables["PATH"])
    assert program, f"{command[0]} is not installed: run `make peers`"
    done = captured([program, *command[1:]], cwd=folder, env=variables, timeout=SECONDS)
    assert done.returncode in {0, 1, 100}, done.stderr  # 1 and 100: some tests fail
    return done.stdout


DROPPED: Final = frozenset(
    (
        *("events", "events_data", "attachments", "store", "messages", "traceback"),
        *("traceback_ansi", "error_stacktrace", "http", "renderedGradingPrompt", "headers"),
        *("packages", "revision", "config", "plan", "stats", "uuid", "model_roles", "grading"),
        *("model_usage", "role_usage"),
    )
)
"""What no reader reads: large, or of the machine."""


def slimmed(value: Any) -> Any:
    """Return JSON data without what no reader reads."""
    if isinstance(value, dict):
        return {key: slimmed(each) for key, each in value.items() if key not in DROPPED}
    return [slimmed(each) for each in value] if isinstance(value, list) else value


def stored(tool: str, text: str) -> str:
    """Return results as the fixtures hold them."""
    return text if tool == "junit" else json.dumps(slimmed(json.loads(text)), indent=1) + "\n"
