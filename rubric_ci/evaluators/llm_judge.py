"""The `llm_judge` evaluator: a score on a prompt, a file or the output of a script; or rubrics."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rubric_ci.evaluators import code_judge
from rubric_ci.evaluators.kind import Evaluator, Prompt, Script, UsedFiles, Written, common
from rubric_ci.model.problems import Path

if TYPE_CHECKING:
    from rubric_ci.model.evals import LlmJudgeSpec, RubricSpec

PROMPT_VARIABLES: Final = (
    "question",
    "expected_outcome",
    "reference_answer",
    "candidate_answer",
    "answer",
    "input_messages",
    "expected_messages",
    "output_messages",
    *("input", "criteria", "expected_output", "output"),  # of AgentV
)
ANSWER_VARIABLES: Final = ("answer", "candidate_answer", "output_messages", "output")

_FILE = r"[^\s/]*/\S*|\S+\.[A-Za-z0-9]{1,6}|.+\.(?:md|txt|prompt|j2|jinja|mustache|hbs)"


def names_file(prompt: str) -> bool:
    """Return True if a prompt is the path of a file, not the text itself."""
    return "{{" not in prompt and re.fullmatch(_FILE, prompt.strip()) is not None


def read(written: Written) -> "LlmJudgeSpec | RubricSpec":
    """Return the spec: of a prompt, or of the criteria that an `llm_judge` may have instead."""
    from rubric_ci.model.evals import LlmJudgeSpec

    if "rubrics" in written.data:
        from rubric_ci.evaluators import rubric

        return rubric.read(written)
    prompt, script = written.data.get("prompt", ""), None
    if isinstance(prompt, dict):
        data = {**prompt, "name": written.data["name"]}
        script, prompt = code_judge.read(written._replace(data=data)), ""
    text, file = prompt_of(prompt, written.files)
    return LlmJudgeSpec(
        **common(written),
        prompt=text,
        prompt_path=file,
        prompt_script=script,
        model=written.data.get("model", ""),
    )


def prompt_of(written: str, files: UsedFiles) -> tuple[str, str]:
    """Return a prompt's text, and its path if it is a file."""
    if not names_file(written):
        return written, ""
    found = files.read(written)
    return found.text, found.path


def prompts(evaluator: Evaluator, path: Path) -> Iterator[Prompt]:
    """Yield the prompt; criteria have the answer in a prompt of their own."""
    prompt = evaluator.get("prompt")
    if isinstance(prompt, str):
        needed = () if "rubrics" in evaluator else ANSWER_VARIABLES
        yield Prompt((*path, "prompt"), prompt, PROMPT_VARIABLES, needed)


def scripts(evaluator: Evaluator, path: Path) -> Iterator[Script]:
    """Yield the script that prints the prompt."""
    prompt = evaluator.get("prompt")
    if isinstance(prompt, dict):
        yield Script(prompt, (*path, "prompt"), "script")
