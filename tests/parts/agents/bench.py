"""A repository with an agent program, which the tests of agents start."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import NoVerdict
from rubric_ci.grading import targets
from rubric_ci.grading.targets.workplace import Workplaces
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget
from rubric_ci.values.trace import Work
from rubric_ci.values.workspace_settings import Workspace
from tests.cases import ENVIRONMENT, build_case, build_context
from tests.parts.agents.cli_outputs import printed

PROGRAM = """\
#!{python}
import json, os, sys
from pathlib import Path
prompt = sys.stdin.read()
Path(os.environ["TMPDIR"], "seen.txt").write_text(prompt)
{body}
sys.stdout.write({stdout!r})
"""
KEYS = {
    "claude-code": ("claude", "ANTHROPIC_API_KEY"),
    "codex": ("codex", "CODEX_API_KEY"),
    "copilot": ("copilot", "COPILOT_GITHUB_TOKEN"),
    "gemini-cli": ("gemini", "GEMINI_API_KEY"),
}


class Bench:
    """A repository with an agent program."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.programs = root / "repository", root / "programs"
        self.root.mkdir()
        self.programs.mkdir()
        self._monkeypatch = monkeypatch
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        monkeypatch.setenv("PATH", path)
        self.environment = {**ENVIRONMENT, "PATH": path}

    def program(self, agent: str, stdout: str, body: str = "") -> CliTarget:
        """Write a program, and return the target that starts it."""
        name, key = KEYS[agent]
        place = self.programs / name
        place.write_text(PROGRAM.format(python=sys.executable, stdout=stdout, body=body))
        place.chmod(0o755)
        self.environment[key] = "sk-secret-of-the-agent"
        self._monkeypatch.setenv(key, self.environment[key])
        return CliTarget(name="a", agent=AgentProgram(name=agent), timeout_seconds=60)

    def files(self, **texts: str) -> None:
        """Write files of the repository; `__` in a name is a slash, `_dot_` a dot."""
        for name, text in texts.items():
            path = self.root / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def answer(
        self, target: CliTarget, case: EvalCase | None = None, context: RunContext | None = None
    ) -> Answer:
        """Let the target answer once."""
        return self.answers(target, 1, case, context)[0]

    def answers(
        self,
        target: CliTarget,
        count: int,
        case: EvalCase | None = None,
        given: RunContext | None = None,
    ) -> list[Answer]:
        """Let the target answer several trials at the same time."""

        async def all_of_them() -> list[Answer]:
            own = build_context(self.root, environment=self.environment)
            context = given or own
            workplaces = Workplaces()
            try:
                made = (
                    targets.answer(case or build_case(), target, context, n, workplaces=workplaces)
                    for n in range(count)
                )
                return await asyncio.gather(*made)
            finally:
                workplaces.close()

        return asyncio.run(all_of_them())

    def claude(self, body: str = "") -> CliTarget:
        """Return a program of Claude Code that answers `ok`."""
        return self.program("claude-code", printed("claude", "ok"), body)

    def work(
        self, target: CliTarget, case: EvalCase | None = None, context: RunContext | None = None
    ) -> Work:
        """Let the target answer once, and return what it did to its folder."""
        found = self.answer(target, case, context).work
        assert found is not None
        return found

    def error(self, target: CliTarget) -> NoVerdict:
        """Return the error of a target that gives no answer."""
        with pytest.raises(NoVerdict) as caught:
            self.answer(target)
        return caught.value

    def refusal(self, target: CliTarget) -> str:
        return str(self.error(target))


def worked(target: CliTarget, **settings: Any) -> CliTarget:
    return replace(target, workspace=Workspace(**settings))
